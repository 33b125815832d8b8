// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/protocol/codec.h"
#include "daemon/protocol/messages.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "daemon/protocol/convert.h"

using namespace tracectl;
using namespace tracectl::protocol;
using nlohmann::json;

namespace {

Json text(std::string_view document) { return *parse_json(document); }
template <class T> json written(const T& value) { return to_json(value).value(); }

template <class T> Error refusal(std::string_view document) {
  auto value = from_json<T>(text(document));
  return value ? Error{Code::kernel, "accepted"} : value.error();
}

}  // namespace

TEST(Codec, AbsentFieldsWithADefaultKeepIt) {
  auto request =
      from_json<StageSet>(text(R"({"session":"s","patterns":["u::f"],"target":{"pids":[7]}})"));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->scope, "local");
  EXPECT_EQ(request->action, "event");
  EXPECT_FALSE(request->when.has_value());
  EXPECT_EQ(request->target.pids, std::vector<int64_t>{7});
  EXPECT_FALSE(from_json<SessionCreate>(text("{}"))->name.has_value());
}

TEST(Codec, MissingFieldIsRefusedByName) {
  Error error = refusal<StageSet>(R"({"patterns":[],"target":{}})");
  EXPECT_EQ(error.code, Code::invalid);
  EXPECT_EQ(error.field, "session");
  EXPECT_EQ(error.message, "session: this field is required");
}

TEST(Codec, IllTypedFieldIsRefusedByPathWithTheTypeExpected) {
  Error error = refusal<StageSet>(R"({"session":"s","patterns":[],"target":{"pids":[1,2,"3"]}})");
  EXPECT_EQ(error.field, "target.pids[2]");
  EXPECT_EQ(error.message, "target.pids[2]: expected an integer, got a string");
  EXPECT_EQ(refusal<StageSet>(R"({"session":null,"patterns":[],"target":{}})").message,
            "session: expected a string, got null");
  EXPECT_EQ(refusal<SessionRead>(R"({"session":"s","clear":1})").message,
            "clear: expected a boolean, got an integer");
  EXPECT_EQ(refusal<StageSet>(R"({"session":"s","patterns":{},"target":{}})").field, "patterns");
  EXPECT_EQ(refusal<Hello>("[]").message, "the message: expected an object, got an array");
}

TEST(Codec, UnknownFieldIsRefusedByName) {
  EXPECT_EQ(refusal<SessionRead>(R"({"session":"s","cler":true})").message,
            "cler: unknown field; did you mean \"clear\"?");
  Error nested = refusal<ProbeList>(R"({"patterns":[],"target":{"pid":[1]}})");
  EXPECT_EQ(nested.field, "target.pid");
  EXPECT_EQ(nested.message, "target.pid: unknown field; did you mean \"pids\"?");
  EXPECT_EQ(refusal<Hello>(R"({"x":1})").field, "x");
}

TEST(Codec, IntegersOutOfRangeAreRefused) {
  EXPECT_TRUE(from_json<FlushReply>(text(R"({"ts":18446744073709551615})")));
  EXPECT_EQ(refusal<FlushReply>(R"({"ts":-1})").message,
            "ts: out of range: 0 to 18446744073709551615");
  EXPECT_EQ(refusal<FlushReply>(R"({"ts":18446744073709551616})").field, "ts");
  EXPECT_EQ(refusal<FlushReply>(R"({"ts":1.0})").field, "ts");
  EXPECT_EQ(from_json<TargetPart>(text(R"({"pids":[-9223372036854775808]})"))->pids[0], INT64_MIN);
  EXPECT_EQ(refusal<TargetPart>(R"({"pids":[9223372036854775808]})").field, "pids[0]");
}

TEST(Codec, WhatIsWrittenReadsBackAsTheSame) {
  SessionPart session;
  session.name = "s";
  session.settings = {{"u::f", "local", {{1, 2}, {"/x"}, true, {}}, "event", "arg0 > 1"}};
  session.hits = UINT64_MAX;
  const json first = written(session);
  EXPECT_FALSE(first.contains("draft"));
  EXPECT_EQ(first["settings"][0]["do"], "event");
  EXPECT_EQ(first["settings"][0]["when"], "arg0 > 1");
  EXPECT_EQ(written(*from_json<SessionPart>(first)), first);
  session.draft.emplace();
  EXPECT_EQ(written(*from_json<SessionPart>(written(session)))["draft"], json::array());
}

TEST(Codec, AReadHasFiguresOnlyWhereItWasASwitch) {
  ReadReply reply;
  EXPECT_FALSE(written(reply).contains("phases_us"));
  EXPECT_FALSE(written(reply).contains("skew_ns"));
  EXPECT_FALSE(from_json<ReadReply>(to_json(reply))->phases_us);
  reply.phases_us = {.stage = 1, .arm = 2, .wait = 3, .switch_ = 4, .disarm = 5};
  reply.skew_ns = {{.cpu = 1, .ns = 700}};
  const json once = written(reply);
  EXPECT_EQ(written(*from_json<ReadReply>(once)), once);
  SwitchReply other{.phases_us = *reply.phases_us, .skew_ns = *reply.skew_ns};
  EXPECT_EQ(once["phases_us"], written(other)["phases_us"]);
  EXPECT_EQ(once["skew_ns"], written(other)["skew_ns"]);
}

TEST(Codec, MembersOfAnyNameAreReadByTheirType) {
  auto row =
      from_json<RowPart>(text(R"({"probe":"p","count":1,"by":{"a b":-1,"":null,"comm + 1":"x"}})"));
  ASSERT_TRUE(row);
  EXPECT_EQ(row->by->at("a b"), Key{int64_t{-1}});
  EXPECT_EQ(row->by->at(""), Key{std::monostate{}});
  EXPECT_EQ(row->by->at("comm + 1"), Key{std::string{"x"}});
  EXPECT_EQ(refusal<RowPart>(R"({"probe":"p","count":1,"by":{"tid":1.5}})").message,
            "by.tid: expected an integer, a string or null, got a number with a fraction or "
            "exponent, or too big");
  EXPECT_EQ(refusal<RowPart>(R"({"probe":"p","count":1,"by":[]})").message,
            "by: expected an object, got an array");
}

TEST(Codec, MembersOfAnyNameAreNotTakenWithoutEnd) {
  json many = {{"probe", "p"}, {"count", 1}, {"by", json::object()}};
  for (int i = 0; i < 16; ++i) many["by"][std::to_string(i)] = i;
  EXPECT_TRUE(from_json<RowPart>(many));
  many["by"]["one more"] = 1;
  EXPECT_EQ(from_json<RowPart>(many).error().message, "by: at most 16 members are taken");
}

TEST(Codec, NumbersKeepTheirKind) {
  EXPECT_EQ(from_json<RowPart>(text(R"({"probe":"p","count":1,"avg":3})"))->avg, 3.0);
  EXPECT_EQ(from_json<RowPart>(text(R"({"probe":"p","count":1,"sum":18446744073709551615})"))->sum,
            Integer{UINT64_MAX});
  EXPECT_EQ(refusal<RowPart>(R"({"probe":"p","count":1,"sum":1.5})").field, "sum");
  EXPECT_EQ(refusal<RowPart>(R"({"probe":"p","count":1,"avg":"3"})").message,
            "avg: expected a number, got a string");
}

TEST(Codec, DeepNestingIsRefused) {
  EXPECT_TRUE(parse_json(std::string(32, '[') + std::string(32, ']')));
  EXPECT_FALSE(parse_json(std::string(33, '[') + std::string(33, ']')));
  EXPECT_FALSE(parse_json(std::string(1 << 20, '[')));
  EXPECT_TRUE(parse_json('"' + std::string(100, '[') + "\\\"" + std::string(100, '{') + '"'));
}

TEST(Codec, WhatIsNotJsonIsRefused) {
  for (const char* bad : {"", "{", "nul", "{\"a\":1,}", "\"\xff\"", "1 2", "{'a':1}", "NaN"}) {
    EXPECT_FALSE(parse_json(bad)) << bad;
  }
}

TEST(Codec, TextOfReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(text_of(Json(json("a\xff"))), "\"a\xef\xbf\xbd\"");
}

struct Narrow {
  int32_t pid = 0;
  uint8_t bits = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("pid", s.pid);
    f("bits", s.bits);
  }
};

TEST(Codec, NumbersBeyondANarrowTypeAreRefused) {
  const auto read = [](const std::string& pid, const std::string& bits) {
    return from_json<Narrow>(text("{\"pid\": " + pid + ", \"bits\": " + bits + "}"));
  };
  const std::vector<std::pair<std::string, std::string>> most = {{"-2147483648", "255"},
                                                                 {"2147483647", "0"}};
  for (const auto& [pid, bits] : most) {
    const auto taken = read(pid, bits);
    ASSERT_TRUE(taken) << taken.error().message;
    EXPECT_EQ(to_json(*taken).value().dump(), "{\"bits\":" + bits + ",\"pid\":" + pid + "}");
  }
  EXPECT_EQ(read("2147483648", "0").error().message,
            "pid: out of range: -2147483648 to 2147483647");
  EXPECT_EQ(read("-2147483649", "0").error().field, "pid");
  EXPECT_EQ(read("0", "256").error().message, "bits: out of range: 0 to 255");
  EXPECT_EQ(read("0", "-1").error().field, "bits");
}

struct WithoutJson {
  std::array<bool, 1> flags{};
  template <class Self, class F> static void fields(Self& s, F&& f) { f("flags", s.flags); }
};

// Lists also have types for the binary form, which JSON would silently leave out.
TEST(Codec, TypesWithoutJsonAreABug) {
  EXPECT_THROW(to_json(WithoutJson{}), std::logic_error);
  EXPECT_THROW((void)from_json<WithoutJson>(text(R"({"flags": [true]})")), std::logic_error);
}

TEST(Convert, TargetKeepsEveryField) {
  Target target{{1, 2}, {"/bin/x"}, true, {}};
  EXPECT_EQ(*target_of(part_of(target)), target);
  Target waiting{{1}, {}, false, {"/bin/x", "/lib/y"}};
  EXPECT_EQ(*target_of(part_of(waiting)), waiting);
  Target following;
  following.cgroups = {"/a/b"};
  following.units = {"x.service"};
  EXPECT_EQ(*target_of(part_of(following)), following);
  EXPECT_FALSE(following.empty());
}

TEST(Convert, WrongTargetsAreRefusedByField) {
  EXPECT_EQ(target_of({{1, 0}, {}, false, {}}).error().field, "target.pids[1]");
  EXPECT_EQ(target_of({{int64_t{1} << 32}, {}, false, {}}).error().field, "target.pids[0]");
  EXPECT_EQ(target_of({{}, {"x"}, false, {}}).error().field, "target.executables[0]");
  EXPECT_EQ(target_of({{}, {}, false, {"/x"}}).error().field, "target.will_map");
  TargetPart following;
  for (const char* wrong : {"", "a", "/a/../b", "/a/..", "/a/"}) {
    following.cgroups = {wrong};
    EXPECT_EQ(target_of(following).error().field, "target.cgroups[0]") << wrong;
  }
  for (const char* right : {"/", "/a", "/a..b/c"}) {
    following.cgroups = {right};
    EXPECT_TRUE(target_of(following)) << right;
  }
  following.units = {"x.service", "a/b"};
  EXPECT_EQ(target_of(following).error().field, "target.units[1]");
}

TEST(Convert, ScopesAreKnownByName) {
  for (Scope scope : {Scope::local, Scope::global, Scope::inlined})
    EXPECT_EQ(*scope_of(name_of(scope)), scope);
  EXPECT_EQ(scope_of("globel").error().message,
            "scope: unknown scope \"globel\": local, global, inlined; did you mean \"global\"?");
}

TEST(Convert, ArgumentsAreListedByNumberAndType) {
  Argument argument;
  argument.size_bytes = 4;
  argument.is_signed = true;
  argument.text = "-4@%eax";
  ArgumentPart part = part_of(argument, 3);
  EXPECT_EQ(part.name, "arg3");
  EXPECT_EQ(part.type, "s32");
  EXPECT_EQ(part.place, "-4@%eax");
  EXPECT_FALSE(part.readable);
}
