// SPDX-License-Identifier: BSD-2-Clause
//
// Variables at lines: how they are written, and what debug information says of those in tests/targets/variables.c.
// tests/e2e/variables_test.py compares their values with the program's.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "daemon/base/fd.h"
#include "daemon/object/probes.h"
#include "daemon/spec/check.h"
#include "daemon/spec/names.h"
#include "tests/support/fields.h"
#include "tests/support/must.h"
#include "tests/support/program.h"

namespace tracectl {
namespace {

using on_kernel::must;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The source that programs of that name are made of.
std::string source_of_variables(const std::string& program) {
  if (program == "variables_lib") return "variables_lib.c";
  return program.starts_with("variables_cxx") ? "variables_cxx.cpp" : "variables.c";
}

uint32_t line_of_variables(const std::string& source, const std::string& text) {
  std::ifstream file("tests/targets/" + source);
  std::string line;
  for (uint32_t number = 1; std::getline(file, line); ++number)
    if (line.find(text) != line.npos) return number;
  ADD_FAILURE() << source << " has no " << text;
  return 0;
}

ProbeMatch match_at(const char* program, const std::string& text,
                    const std::vector<std::string>& paths, uint32_t levels = 0) {
  const std::string path = on_kernel::target_path(program);
  const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  const auto object = must(ObjectFile::open(file.get(), path));
  const std::string source = source_of_variables(program);
  const std::string pattern =
      "u:@" + source + ":" + std::to_string(line_of_variables(source, text));
  return must(find_probes(object, must(parse_pattern(pattern)), std::nullopt, nullptr, {},
                          {.paths = paths, .levels = levels}));
}

// Of the first site.
ReachedField reached_at(const char* program, const std::string& text, const std::string& path) {
  const ProbeMatch match = match_at(program, text, {path});
  EXPECT_THAT(match.probes, SizeIs(1));
  for (const Argument& operand : *match.probes.at(0).sites.at(0).symbols)
    if (operand.asked_fields) return operand.asked_fields->at(0);
  ADD_FAILURE() << "nothing knows " << path;
  return {};
}

std::string refused_at(const char* program, const std::string& text, const std::string& value) {
  const ProbeMatch match = match_at(program, text, {value});
  const auto spec = with_numbers(must(parse_spec("event(" + value + ")")),
                                 *operands_of(match.probes.at(0).sites.at(0)));
  return spec ? "" : spec.error().message;
}

}  // namespace

TEST(Variables, AreWrittenLikeFields) {
  const FieldPath alone = must(parse_field_path("var.sum"));
  EXPECT_EQ(alone.base, "var.sum");
  EXPECT_TRUE(is_variable(alone));
  EXPECT_THAT(alone.steps, IsEmpty());
  EXPECT_EQ(must(parse_field_path("*var.p->list[3].name")).text, "*var.p->list[3].name");
  EXPECT_EQ(must(parse_field_path("((struct conn*)var.p)->fd")).base, "var.p");
  for (const char* wrong : {"var", "var.", "var.1", "arg.p"})
    EXPECT_FALSE(parse_field_path(wrong)) << wrong;
  for (const char* text : {"var.sum > 1 && var.p->next->id != 3", "str(var.text) == \"a\"",
                           "*var.p == 1", "-var.n < var.sum[2]"})
    EXPECT_EQ(to_string(must(parse_condition(text))), text);
  expect_field_refused("var > 1", 0, "a variable at a line is var.NAME");
}

TEST(Variables, AreAskedForByTheirPaths) {
  Setting setting;
  setting.spec = must(parse_spec("event(var.sum, uaddr(\"total\")), count by var.p->id"));
  EXPECT_THAT(field_paths_of(setting), ElementsAre("var.p->id", "var.sum"));
  EXPECT_THAT(symbols_of(setting), ElementsAre("total"));
}

TEST(Variables, AreNotKnownElsewhere) {
  const auto spec = with_numbers(must(parse_spec("event(var.sum)")), {Argument{}});
  ASSERT_FALSE(spec);
  EXPECT_THAT(spec.error().message, HasSubstr("variables are known at lines"));
}

// The probe has one argument. Behind it are the address of a symbol, a signed value of 4 bytes, and what leads to a field.
TEST(Variables, AreLoadedFromTheirOperands) {
  Arguments operands(4, Argument{.place = Argument::Place::symbol});
  operands[0].place = Argument::Place::in_register;
  operands[1].name = "symbol";
  operands[2].size_bytes = 4;
  operands[2].is_signed = true;
  operands[2].asked_fields =
      std::make_shared<const ReachedFields>(ReachedFields{{.path = "var.n", .offsets = {}}});
  ReachedField field{.path = "var.p->id", .offsets = {~uint64_t{7}, 4}};
  field.type.size_bytes = 2;
  operands[3].asked_fields = std::make_shared<const ReachedFields>(ReachedFields{field});
  const auto text_of = [&](const std::string& text) {
    const Spec spec = must(with_numbers(must(parse_spec("event(" + text + ")")), operands));
    return spec.values.at(0).children.at(0);
  };
  EXPECT_EQ(text_of("var.n").operand, Operand::symbol);
  EXPECT_EQ(text_of("var.n").number, 2u);
  const Expr loads = text_of("var.p->id");
  EXPECT_EQ(loads.kind, Expr::Kind::read);
  EXPECT_EQ(loads.read, Read::u16);
  EXPECT_EQ(type_of(text_of("var.n"), operands), ValueType::s64);
}

TEST(Variables, AreWhereTheDebugInformationSays) {
  // Without optimisation all are in the frame.
  for (const char* path : {"var.i", "var.sum", "var.before", "var.rounds"}) {
    const ReachedField field = reached_at("variables", "RECORD(i, sum, before", path);
    EXPECT_EQ(field.why_not, "") << path;
    EXPECT_THAT(field.offsets, SizeIs(1)) << path;
  }
  EXPECT_EQ(reached_at("variables", "RECORD(i, sum, calls, total)", "var.i").type.size_bytes, 4);
  EXPECT_EQ(reached_at("variables", "RECORD(copy.at.x", "var.text").is_address, true);
}

TEST(Variables, OfTheInnermostBlockAreMeant) {
  const ReachedField inner = reached_at("variables", "RECORD(i, sum, calls, total)", "var.sum");
  const ReachedField outer = reached_at("variables", "RECORD(i, sum, before", "var.sum");
  EXPECT_NE(inner.offsets, outer.offsets);
  // The line is before the inner one's.
  EXPECT_EQ(reached_at("variables", "if (i % 2) {", "var.sum").offsets, outer.offsets);
}

TEST(Variables, ThatDoNotExistAreRefusedWithTheNearest) {
  const std::string why = refused_at("variables", "RECORD(i, sum, before", "var.befor");
  EXPECT_THAT(why, HasSubstr("there is no variable \"befor\" at variables.c:"));
  EXPECT_THAT(why, HasSubstr("did you mean \"before\"?"));
  EXPECT_THAT(refused_at("variables", "RECORD(i, sum, before", "var.product"),
              HasSubstr("there is no variable \"product\""));
  const ReachedField field = reached_at("variables", "RECORD(i, sum, before", "*var.befor[1]");
  EXPECT_EQ(field.column, 5u);
}

TEST(Variables, ThatAreOptimisedOutAreRefusedWithLinesThatHaveThem) {
  const std::string why = refused_at("variables_o2", "RECORD(sum, calls, total, 0)", "var.sum");
  EXPECT_THAT(why, HasSubstr("\"sum\" cannot be read at variables.c:"));
  EXPECT_THAT(why, HasSubstr(": it is optimised out here; it can at lines "));
  const ReachedField there = reached_at("variables_o2", "RECORD(i, sum, before", "var.sum");
  EXPECT_EQ(there.why_not, "");
}

TEST(Variables, OfParametersAreRefusedBeforeTheyAreStored) {
  for (const char* program : {"variables", "variables_clang"}) {
    EXPECT_THAT(refused_at(program, "KEPT long loops(int rounds)", "var.rounds"),
                AnyOf(HasSubstr("may not be stored in its place yet"),
                      HasSubstr("not proven that the frame is complete")))
        << program;
    EXPECT_EQ(refused_at(program, "calls++;", "var.rounds"), "") << program;
  }
}

TEST(Variables, HaveNoValueAtSomePlacesOfALine) {
  for (const char* program : {"variables", "variables_clang"}) {
    const ProbeMatch match = match_at(program, "for (long left", {"var.left", "var.none"});
    EXPECT_THAT(match.notes, ElementsAre(HasSubstr("var.left has no value at 1 of 2 places")));
    size_t nowhere = 0, sites = 0;
    for (const Site& site : match.probes.at(0).sites) {
      ++sites;
      for (const Argument& operand : *site.symbols)
        for (const ReachedField& field : *operand.asked_fields) {
          EXPECT_EQ(field.why_not.empty(), field.path == "var.left") << field.path;
          nowhere += field.path == "var.left" && operand.base == Register::none;
        }
    }
    EXPECT_EQ(nowhere, 1u) << program;
    EXPECT_EQ(sites, 2u) << program;
  }
}

TEST(Variables, AreRefusedWhereTheFunctionBegins) {
  EXPECT_THAT(refused_at("variables", "KEPT long one_line", "var.doubled"),
              HasSubstr("it may not be stored in its place yet"));
  EXPECT_THAT(refused_at("variables_clang", "KEPT long one_line", "var.doubled"),
              HasSubstr("not proven that the frame is complete"));
}

TEST(Variables, OfTheCallerAreMeantWhereAnInlinedFunctionBegins) {
  EXPECT_EQ(reached_at("variables_o2", "sum += squared(i);", "var.rounds").why_not, "");
  EXPECT_THAT(reached_at("variables_o2", "sum += squared(i);", "var.product").why_not,
              HasSubstr("there is no variable \"product\""));
}

TEST(Variables, ThatAreMembersAreNoGlobalOnes) {
  EXPECT_THAT(reached_at("variables_cxx", "RECORD(by, before, size_, id)", "var.size_").why_not,
              HasSubstr("is a member at variables_cxx.cpp:49: write var.this->size_"));
  EXPECT_THAT(reached_at("variables_cxx", "RECORD(by, before, size_, id)", "var.id").why_not,
              HasSubstr("write var.this->id"));
}

TEST(Variables, OfWhichTheProgramMayHaveACopyAreRefused) {
  EXPECT_EQ(reached_at("variables_lib", "own += n", "var.own").why_not, "");
  EXPECT_THAT(reached_at("variables_lib", "own += n", "var.exported").why_not,
              HasSubstr("the library exports it"));
}

// Else another variable's value would be shown.
TEST(Variables, ThatAreDeclaredLaterAreNotMeant) {
  const ReachedField outer = reached_at("variables", "RECORD(i, sum, before", "var.sum");
  EXPECT_EQ(reached_at("variables", "RECORD(i, sum, calls, 0)", "var.sum").offsets, outer.offsets);
}

}  // namespace tracectl
