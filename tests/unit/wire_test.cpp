// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sandbox/wire.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/object/own_reading.h"
#include "tests/support/must.h"
#include "tests/support/program.h"

namespace tracectl {
namespace {

using on_kernel::must;
using testing::HasSubstr;

const std::string kPath = "/usr/bin/f";
constexpr uint64_t kFileBytes = 0x1000;

Question question_of(const std::string& pattern) { return {must(parse_pattern(pattern))}; }

// One probe at one site, with arguments that the test may change.
ProbeMatch match_with(Arguments arguments, Site site = {}) {
  site.offset = site.offset ? site.offset : 0x100;
  site.args = std::make_shared<const Arguments>(std::move(arguments));
  ProbeMatch match;
  match.probes.push_back({.name = "uprobe:/usr/bin/f:g", .demangled = {}, .sites = {site}});
  return match;
}

Argument in_rax() {
  return {.place = Argument::Place::in_register, .base = Register::rax, .text = "8@%rax"};
}

Result<ProbeMatch> heard(const ProbeMatch& match) {
  return wire::decode_match(wire::encode(Result<ProbeMatch>(match)),
                            {kPath, kFileBytes, ProbeKind::function});
}

void expect_untrue(const ProbeMatch& match) {
  const auto answer = heard(match);
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("cannot be true"));
}

// ---- answers arrive unchanged ----

// Compares shared parts by value, not by pointer.
void expect_same(Argument one, Argument other);

void expect_same_members(const Argument& one, const Argument& other) {
  ASSERT_EQ(!one.members, !other.members);
  if (!one.members) return;
  ASSERT_EQ(one.members->size(), other.members->size());
  for (size_t i = 0; i < one.members->size(); ++i) {
    const Member &mine = (*one.members)[i], &theirs = (*other.members)[i];
    EXPECT_EQ(mine.name, theirs.name);
    EXPECT_EQ(mine.first_bit, theirs.first_bit);
    EXPECT_EQ(mine.bit_count, theirs.bit_count);
    expect_same(mine.type, theirs.type);
  }
}

void expect_same(Argument one, Argument other) {
  ASSERT_EQ(!one.enumerators, !other.enumerators);
  if (one.enumerators) {
    EXPECT_EQ(*one.enumerators, *other.enumerators);
  }
  one.enumerators = other.enumerators = nullptr;
  expect_same_members(one, other);
  one.members = other.members = nullptr;
  EXPECT_EQ(one, other) << one.text;
}

void expect_same(const ReturnPlan& one, const ReturnPlan& other) {
  EXPECT_EQ(one.way, other.way);
  EXPECT_EQ(one.reason, other.reason);
  EXPECT_EQ(one.pushed_bytes, other.pushed_bytes);
  EXPECT_EQ(one.moved_bytes, other.moved_bytes);
  EXPECT_EQ(one.exits, other.exits);
  ASSERT_EQ(!one.result, !other.result);
  if (one.result) expect_same(*one.result, *other.result);
}

void expect_same(const Site& one, const Site& other) {
  EXPECT_EQ(one.offset, other.offset);
  EXPECT_EQ(one.moved_bytes, other.moved_bytes);
  EXPECT_EQ(one.semaphore, other.semaphore);
  EXPECT_EQ(one.cost, other.cost);
  EXPECT_EQ(one.words_below_caller, other.words_below_caller);
  ASSERT_EQ(one.args->size(), other.args->size());
  for (size_t i = 0; i < one.args->size(); ++i) expect_same((*one.args)[i], (*other.args)[i]);
  ASSERT_EQ(!one.returns, !other.returns);
  if (one.returns) expect_same(*one.returns, *other.returns);
}

class Programs : public testing::TestWithParam<std::pair<const char*, const char*>> {};

// Real programs, with all their types, exits, semaphores and refusals.
TEST_P(Programs, SayTheSameByWireAsWhenReadHere) {
  const auto& [program, pattern] = GetParam();
  const std::string path = on_kernel::target_path(program);
  const Fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  const auto file = must(OpenFile::open(fd.get(), path, std::nullopt));
  for (const auto returns : {std::optional<Returns>{}, std::optional(Returns::automatic)}) {
    Question question = question_of(pattern);
    if (question.pattern.kind == ProbeKind::function) question.returns = returns;
    const auto found = file->find(question);
    const std::string said = wire::encode(found);
    const auto answer =
        must(wire::decode_match(said, {path, uint64_t{1} << 40, question.pattern.kind}));
    ASSERT_EQ(answer.probes.size(), found->probes.size());
    ASSERT_FALSE(answer.probes.empty());
    for (size_t i = 0; i < answer.probes.size(); ++i) {
      const Probe &one = answer.probes[i], &other = found->probes[i];
      EXPECT_EQ(one.name, other.name);
      EXPECT_EQ(one.demangled, other.demangled);
      ASSERT_EQ(one.sites.size(), other.sites.size());
      for (size_t j = 0; j < one.sites.size(); ++j) expect_same(one.sites[j], other.sites[j]);
    }
    ASSERT_EQ(answer.refused.size(), found->refused.size());
    for (size_t i = 0; i < answer.refused.size(); ++i) {
      EXPECT_EQ(answer.refused[i].probe, found->refused[i].probe);
      EXPECT_EQ(answer.refused[i].offset, found->refused[i].offset);
      EXPECT_EQ(answer.refused[i].reason, found->refused[i].reason);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Wire, Programs,
    testing::Values(std::pair{"usdt_all", "usdt:/x:*:*"}, std::pair{"returned", "uprobe:/x:*"},
                    std::pair{"parameters", "uprobe:/x:*"}, std::pair{"typed_cxx", "usdt:/x:*:*"},
                    std::pair{"refused", "uprobe:/x:*"}, std::pair{"throws", "uprobe:/x:*"}));

TEST(Wire, ArgumentsThatSitesShareAreShared) {
  ProbeMatch match = match_with({in_rax()});
  match.probes[0].sites.push_back(match.probes[0].sites[0]);
  const auto answer = must(heard(match));
  EXPECT_EQ(answer.probes[0].sites[0].args, answer.probes[0].sites[1].args);
}

TEST(Wire, AQuestionIsUnderstoodAsItWasAsked) {
  Question question = question_of("uprobe:/usr/bin/f:g*");
  EXPECT_EQ(wire::decode_question(wire::encode(question)), question);
  question.returns = Returns::exits;
  question.below = Below{.reached = true,
                         .skip = {"a*", "b"},
                         .most_calls = 3,
                         .grown = {question.pattern},
                         .most = 17,
                         .unknown_calls = true,
                         .with_imports = true,
                         .named = {"malloc"}};
  question.symbols = {"a::b"};
  question.field_paths = {"*arg.p", "arg0->a[3].b"};
  EXPECT_EQ(wire::decode_question(wire::encode(question)), question);
}

// A field of the first argument, an integer of 4 bytes at 16 bytes from where it points.
ReachedField some_field() {
  ReachedField field{.path = "arg0->a", .offsets = {16}};
  field.type.size_bytes = 4;
  field.type.enumerators = std::make_shared<const Enumerators>(Enumerators{{"ONE", 1}});
  return field;
}

TextPlace some_text() {
  return {8, 16, ShortText{{.at = 23, .first_bit = 7, .bit_count = 1}, {23, 1, 7}, 1}};
}

ProbeMatch match_with_field(ReachedField field) {
  Argument pointer = in_rax();
  pointer.asked_fields = std::make_shared<const ReachedFields>(ReachedFields{std::move(field)});
  return match_with({pointer});
}

TEST(Wire, FieldsArriveAsTheyWereFound) {
  for (const char* why : {"", "struct s has no field \"a\""}) {
    ReachedField field = some_field();
    field.why_not = why;
    field.column = 6;
    field.text = some_text();
    const ProbeMatch answer = must(heard(match_with_field(field)));
    const auto& heard_fields = answer.probes[0].sites[0].args->at(0).asked_fields;
    ASSERT_TRUE(heard_fields && heard_fields->size() == 1);
    ReachedField one = heard_fields->at(0);
    EXPECT_EQ(*one.type.enumerators, *field.type.enumerators);
    one.type.enumerators = field.type.enumerators;
    EXPECT_EQ(one, field);
  }
}

TEST(Wire, ResultsArriveWithTheirFields) {
  const auto with_result = [](ReachedField field) {
    ProbeMatch match = match_with_field(std::move(field));
    Site& site = match.probes[0].sites[0];
    site.result = std::make_shared<const Argument>(site.args->at(0));
    site.args = std::make_shared<const Arguments>();
    return match;
  };
  const ProbeMatch answer = must(heard(with_result(some_field())));
  const auto& result = answer.probes[0].sites[0].result;
  ASSERT_TRUE(result && result->asked_fields);
  EXPECT_EQ(result->asked_fields->at(0).path, "arg0->a");
  ReachedField wrong = some_field();
  wrong.bit_count = 33;
  expect_untrue(with_result(wrong));
}

TEST(Wire, ImpossibleFieldsAreNotBelieved) {
  const auto expect_untrue_with = [](auto change) {
    ReachedField field = some_field();
    change(field);
    expect_untrue(match_with_field(field));
  };
  expect_untrue_with([](ReachedField& field) { field.offsets.assign(129, 0); });
  expect_untrue_with([](ReachedField& field) { field.type.size_bytes = 3; });
  expect_untrue_with([](ReachedField& field) { field.bit_count = 33; });
  expect_untrue_with([](ReachedField& field) { field.first_bit = field.bit_count = 17; });
  expect_untrue_with([](ReachedField& field) { field.first_bit = 32; });
  expect_untrue_with([](ReachedField& field) { field.column = field.path.size() + 1; });
  expect_untrue_with([](ReachedField& field) { field.path.assign(17 << 10, 'a'); });
  expect_untrue_with([](ReachedField& field) {
    field.type.asked_fields = std::make_shared<const ReachedFields>();
  });
  const auto expect_untrue_text_with = [&](auto change) {
    expect_untrue_with([&](ReachedField& field) {
      field.text = some_text();
      change(*field.text);
    });
  };
  expect_untrue_text_with([](TextPlace& text) { text.pointer_at = uint64_t{1} << 40; });
  expect_untrue_text_with([](TextPlace& text) { text.length_at = uint64_t{1} << 40; });
  expect_untrue_text_with([](TextPlace& text) { text.when_short->text_at = uint64_t{1} << 40; });
  expect_untrue_text_with([](TextPlace& text) { text.when_short->is_long.first_bit = 8; });
  expect_untrue_text_with([](TextPlace& text) { text.when_short->length.bit_count = 8; });
  ReachedField bits = some_field();
  bits.first_bit = 17;
  bits.bit_count = 15;
  EXPECT_TRUE(heard(match_with_field(bits)));
}

// At a line: the place of a variable, in a register or by an address.
ProbeMatch match_with_variable(Argument place) {
  ProbeMatch match = match_with({});
  place.place = Argument::Place::symbol;
  place.asked_fields = std::make_shared<const ReachedFields>(ReachedFields{{.path = "var.n"}});
  match.probes[0].sites[0].symbols = std::make_shared<const Arguments>(Arguments{place});
  return match;
}

TEST(Wire, PlacesOfVariablesAreBelievedAtLines) {
  const ProbeMatch match = match_with_variable(in_rax());
  const auto hears = [&](ProbeKind kind) {
    return wire::decode_match(wire::encode(Result<ProbeMatch>(match)), {kPath, kFileBytes, kind})
        .has_value();
  };
  EXPECT_TRUE(hears(ProbeKind::line));
  EXPECT_FALSE(hears(ProbeKind::function));
}

// Passed by value in registers.
TEST(Wire, PlacesOfTextsAreBelievedAtFunctions) {
  Argument place = in_rax();
  ProbeMatch match = match_with_variable(place);
  place.place = Argument::Place::symbol;
  place.asked_fields = std::make_shared<const ReachedFields>(
      ReachedFields{{.path = "arg.view", .text = some_text()}});
  match.probes[0].sites[0].symbols = std::make_shared<const Arguments>(Arguments{place});
  EXPECT_TRUE(heard(match));
}

TEST(Wire, ImportsAreNamed) {
  ProbeMatch match = match_with({});
  match.imports.assign(kMostReached, "malloc");
  EXPECT_EQ(must(heard(match)).imports, match.imports);
  match.imports.emplace_back("one_more");
  expect_untrue(match);
}

TEST(Wire, AnErrorIsToldAsItIs) {
  const Error error{Code::unsupported, "it is of another architecture", "patterns"};
  const auto answer = wire::decode_facts(wire::encode(error));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, error.code);
  EXPECT_EQ(answer.error().message, error.message);
  EXPECT_EQ(answer.error().field, error.field);
}

// ---- impossible answers are refused ----

TEST(Wire, ASiteBehindTheFileIsNotBelieved) {
  Site site;
  site.offset = kFileBytes - 1;
  EXPECT_TRUE(heard(match_with({}, site)));
  site.offset = kFileBytes;
  expect_untrue(match_with({}, site));
  site.offset = 0x100;
  site.semaphore = kFileBytes;
  expect_untrue(match_with({}, site));
}

TEST(Wire, AProbeOfAnotherFileIsNotBelieved) {
  ProbeMatch match = match_with({});
  match.probes[0].name = "uprobe:/usr/bin/other:g";
  expect_untrue(match);
  match.probes[0].name = "usdt:/usr/bin/f:p:n";
  expect_untrue(match);
}

TEST(Wire, ALineIsBelievedOnlyIfLinesWereAskedFor) {
  ProbeMatch match = match_with({});
  match.probes[0].name = "uprobe:/usr/bin/f@a.c:3";
  expect_untrue(match);
  EXPECT_TRUE(wire::decode_match(wire::encode(Result<ProbeMatch>(match)),
                                 {kPath, kFileBytes, ProbeKind::line}));
}

TEST(Wire, ProbesOutOfOrderAreNotBelieved) {
  ProbeMatch match = match_with({});
  match.probes.push_back(match.probes[0]);
  expect_untrue(match);
}

TEST(Wire, AProbeWithoutASiteIsNotBelieved) {
  ProbeMatch match = match_with({});
  match.probes[0].sites.clear();
  expect_untrue(match);
}

TEST(Wire, ASiteWithoutArgumentsIsNotBelieved) {
  ProbeMatch match = match_with({});
  match.probes[0].sites[0].args = nullptr;
  expect_untrue(match);
}

TEST(Wire, AnArgumentThatNoProgramCouldReadIsNotBelieved) {
  EXPECT_TRUE(heard(match_with({in_rax()})));
  Argument argument = in_rax();
  argument.base = static_cast<Register>(17);
  expect_untrue(match_with({argument}));
  argument = in_rax();
  argument.base = Register::none;
  expect_untrue(match_with({argument}));
  argument = in_rax();
  argument.size_bytes = 3;
  expect_untrue(match_with({argument}));
  argument = in_rax();
  argument.scale = 16;
  expect_untrue(match_with({argument}));
  argument = in_rax();
  argument.index = Register::rip;
  expect_untrue(match_with({argument}));
  expect_untrue(match_with(Arguments(65, in_rax())));
}

TEST(Wire, MembersOfAStructThatCannotBeAreUntrue) {
  const auto with = [](const Member& member, size_t count = 1) {
    Argument result = in_rax();
    result.kind = Argument::Kind::aggregate;
    result.members = std::make_shared<const Members>(count, member);
    return match_with({result});
  };
  const Member good{.name = "a", .type = in_rax(), .first_bit = 64, .bit_count = 32};
  EXPECT_TRUE(heard(with(good, 128)));
  expect_untrue(with(good, 129));
  Member nested = good;
  nested.type.members = std::make_shared<const Members>(1, good);
  expect_untrue(with(nested));
  Member nowhere = good;
  nowhere.type.base = Register{200};
  expect_untrue(with(nowhere));
}

TEST(Wire, AReasonThatIsNoneOfOursIsNotBelieved) {
  Site site;
  site.returns =
      std::make_shared<const ReturnPlan>(ReturnPlan{.reason = static_cast<WayReason>(4)});
  expect_untrue(match_with({}, site));
}

TEST(Wire, AnAnswerThatIsCutShortIsNotBelieved) {
  Site site;
  site.returns = std::make_shared<const ReturnPlan>(
      ReturnPlan{.exits = {{.offset = 0x110}}, .result = in_rax()});
  const std::string said = wire::encode(Result<ProbeMatch>(match_with({in_rax()}, site)));
  const wire::Asked asked{kPath, kFileBytes, ProbeKind::function};
  EXPECT_TRUE(wire::decode_match(said, asked));
  for (size_t size = 0; size < said.size(); ++size)
    EXPECT_FALSE(wire::decode_match(said.substr(0, size), asked)) << size;
  EXPECT_FALSE(wire::decode_match(said + '\0', asked));
}

TEST(Wire, AnAnswerIsReadNoFurtherThanItsAskerWants) {
  ProbeMatch match = match_with({in_rax()});
  match.refused.push_back({"uprobe:/usr/bin/f:h", 0x200, {}, "why"});
  const std::string said = wire::encode(Result<ProbeMatch>(match));
  const auto heard_with = [&](const MatchBounds& most) {
    return wire::decode_match(said, {kPath, kFileBytes, ProbeKind::function, most});
  };
  EXPECT_TRUE(heard_with({.matches = 2}));
  for (const MatchBounds& most : {MatchBounds{.matches = 1}, MatchBounds{.bytes = 20}}) {
    const auto answer = heard_with(most);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::exhausted);
  }
}

TEST(Wire, AFrameLongerThanAnAnswerCanBeIsRefusedByItsHeader) {
  std::string frame = wire::frame_of(wire::Kind::answer, "");
  EXPECT_TRUE(wire::first_frame(frame));
  frame[3] = '\x7f';
  EXPECT_FALSE(wire::first_frame(frame));
  frame = wire::frame_of(static_cast<wire::Kind>(99), "");
  EXPECT_FALSE(wire::first_frame(frame));
}

}  // namespace
}  // namespace tracectl
