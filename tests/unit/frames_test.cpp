// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/protocol/frames.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "daemon/protocol/codec.h"
#include "daemon/protocol/messages.h"

using namespace tracectl;
using namespace tracectl::protocol;
using nlohmann::json;

namespace {

std::vector<std::string> lines_of(LineBuffer& buffer) {
  std::vector<std::string> lines;
  for (auto line = buffer.next(); line && *line; line = buffer.next()) lines.emplace_back(**line);
  return lines;
}

RefusedCall refusal(std::string_view line) {
  auto parsed = parse_call(line);
  EXPECT_TRUE(std::holds_alternative<RefusedCall>(parsed)) << line;
  return std::holds_alternative<RefusedCall>(parsed) ? std::get<RefusedCall>(parsed)
                                                     : RefusedCall{};
}

json line_json(const std::string& line) {
  EXPECT_TRUE(line.ends_with('\n'));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  return parse_json(line)->value();
}

Answer answer_in(const std::string& line) { return std::get<Answer>(*parse_incoming(line)); }

}  // namespace

TEST(LineBuffer, LinesAreTheSameHoweverTheBytesArrive) {
  std::string stream = "one\n\ntwo\nthree";
  LineBuffer whole, bytewise;
  whole.feed(stream);
  EXPECT_EQ(lines_of(whole), (std::vector<std::string>{"one", "", "two"}));
  std::vector<std::string> lines;
  for (char c : stream) {
    bytewise.feed({&c, 1});
    for (auto& line : lines_of(bytewise)) lines.push_back(line);
  }
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "", "two"}));
  whole.feed("!\n");
  EXPECT_EQ(lines_of(whole), std::vector<std::string>{"three!"});
}

TEST(LineBuffer, ALineMayHaveOneMebibyteAndNoMore) {
  std::string longest(kMaxMessageBytes, 'x');
  LineBuffer fits;
  fits.feed(longest + "\n");
  EXPECT_EQ((*fits.next())->size(), kMaxMessageBytes);
  LineBuffer complete;
  complete.feed(longest + "x\n");
  EXPECT_EQ(complete.next().error().message, "a message may be 1 MiB at most");
  LineBuffer endless;
  endless.feed(longest);
  EXPECT_TRUE(endless.next());
  endless.feed("x");
  EXPECT_FALSE(endless.next());
}

TEST(Frames, ARequestHasIdMethodAndParams) {
  auto call =
      std::get<Call>(parse_call(R"({"jsonrpc":"2.0","id":7,"method":"hello","params":{"a":1}})"));
  EXPECT_EQ(call.id.value(), 7);
  EXPECT_EQ(call.method, "hello");
  EXPECT_EQ(call.params.value(), (json{{"a", 1}}));
}

TEST(Frames, ParamsMayBeLeftOut) {
  auto call = std::get<Call>(parse_call(R"({"jsonrpc":"2.0","id":"x","method":"hello"})"));
  EXPECT_EQ(call.id.value(), "x");
  EXPECT_EQ(call.params.value(), json::object());
}

TEST(Frames, BadRequestsAreRefusedWithJsonRpcsNumbers) {
  EXPECT_EQ(refusal("{").code, RpcCode::parse);
  EXPECT_EQ(refusal(std::string(100, '[')).code, RpcCode::parse);
  EXPECT_EQ(refusal("7").code, RpcCode::invalid_request);
  EXPECT_EQ(refusal(R"({"id":1,"method":"hello"})").error.field, "jsonrpc");
  EXPECT_EQ(refusal(R"({"jsonrpc":"1.0","id":1,"method":"hello"})").error.field, "jsonrpc");
  EXPECT_EQ(refusal(R"({"jsonrpc":"2.0","id":1})").error.field, "method");
  EXPECT_EQ(refusal(R"({"jsonrpc":"2.0","id":1,"method":5})").error.field, "method");
  EXPECT_EQ(refusal(R"({"jsonrpc":"2.0","id":null,"method":"x"})").error.field, "id");
  EXPECT_EQ(refusal(R"({"jsonrpc":"2.0","id":1.5,"method":"x"})").error.field, "id");
  EXPECT_EQ(refusal(R"({"jsonrpc":"2.0","id":1,"method":"x","params":[1]})").code,
            RpcCode::invalid_params);
}

TEST(Frames, ARefusalKeepsTheIdItCouldRead) {
  EXPECT_EQ(refusal(R"({"jsonrpc":"2.0","id":9})").id.value(), 9);
  EXPECT_TRUE(refusal("{").id.value().is_null());
  EXPECT_TRUE(refusal(R"({"jsonrpc":"2.0","id":{},"method":"x"})").id.value().is_null());
}

TEST(Frames, BatchesAndNotificationsAreRefusedClearly) {
  EXPECT_NE(refusal(R"([{"jsonrpc":"2.0","id":1,"method":"hello"}])").error.message.find("batches"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"jsonrpc":"2.0","method":"hello"})").error.message.find("needs an id"),
            std::string::npos);
}

TEST(Frames, UnknownMembersOfARequestAreRefusedByName) {
  RefusedCall refused = refusal(R"({"jsonrpc":"2.0","id":1,"method":"x","parms":{}})");
  EXPECT_EQ(refused.error.message, "parms: unknown member of a request; did you mean \"params\"?");
}

TEST(Frames, UnknownMethodIsRefusedWithTheNearest) {
  auto call = std::get<Call>(parse_call(R"({"jsonrpc":"2.0","id":1,"method":"stage.comit"})"));
  json line = line_json(error_line(unknown_method(call)));
  EXPECT_EQ(line["error"]["code"], -32601);
  EXPECT_EQ(line["error"]["message"],
            "unknown method \"stage.comit\"; did you mean \"stage.commit\"?");
}

TEST(Frames, ErrorsHaveAStableNumberAndDataThatNamesTheField) {
  Error error{Code::not_found, "no such session", "session", Spot{"abc", 2}};
  EXPECT_EQ(line_json(error_line(json(3), error)),
            json::parse(R"({"jsonrpc":"2.0","id":3,"error":{"code":2,
    "message":"no such session","data":{"code":"not_found","field":"session","text":"abc","column":2}}})"));
  EXPECT_EQ(line_json(error_line(json(3), Error{Code::kernel, "x"}))["error"],
            json::parse(R"({"code":7,"message":"x","data":{"code":"kernel"}})"));
}

TEST(Frames, TheClientReadsBackWhatTheServerWrote) {
  Answer reply = answer_in(reply_line(json(4), json{{"a", 1}}));
  EXPECT_EQ(reply.id.value(), 4);
  EXPECT_EQ(reply.result->value(), (json{{"a", 1}}));
  for (Code code : {Code::invalid, Code::not_found, Code::denied, Code::busy, Code::exhausted,
                    Code::unsupported, Code::kernel}) {
    Error sent{code, "m", "f", Spot{"t", 1}};
    const Error got = answer_in(error_line(json(4), sent)).result.error();
    EXPECT_EQ(got.code, code);
    EXPECT_EQ(got.message, "m");
    EXPECT_EQ(got.field, "f");
    EXPECT_EQ(got.spot, sent.spot);
  }
  auto notification =
      std::get<Notification>(*parse_incoming(notification_line("lost", json{{"count", 2}})));
  EXPECT_EQ(notification.method, "lost");
  EXPECT_EQ(notification.params.value(), (json{{"count", 2}}));
}

TEST(Frames, TheServerReadsWhatTheClientWrote) {
  auto call = std::get<Call>(parse_call(call_line(5, "session.show", to_json(SessionShow{"s"}))));
  EXPECT_EQ(call.id.value(), 5);
  EXPECT_EQ(from_json<SessionShow>(call.params)->session, "s");
}

TEST(Frames, StrangePeersAreRefused) {
  for (const char* bad : {"", "HTTP/1.1 400 Bad Request", "{}", "[]", R"({"jsonrpc":"2.0","id":1})",
                          R"({"jsonrpc":"2.0","method":5,"params":{}})",
                          R"({"jsonrpc":"2.0","id":1,"result":1,"error":{}})"}) {
    EXPECT_FALSE(parse_incoming(bad)) << bad;
  }
  EXPECT_FALSE(answer_in(R"({"jsonrpc":"2.0","id":1,"error":{"code":"x"}})").result);
}

TEST(Frames, NoAnswerIsLongerThanItsLimit) {
  std::string huge = reply_line(json(1), json(std::string(kMaxAnswerBytes, 'x')));
  EXPECT_EQ(line_json(huge)["error"]["data"]["code"], "exhausted");
  std::string method(kMaxMessageBytes / 2, '\x01');
  EXPECT_LE(error_line(unknown_method({json(1), method, {}})).size(), kMaxMessageBytes);
  EXPECT_TRUE(refusal(text_of(Json(json{
                          {"jsonrpc", "2.0"}, {"id", std::string(300, 'i')}, {"method", "hello"}})))
                  .id.value()
                  .is_null());
}

TEST(Frames, AnswersStayOneLineOfUtf8WhateverIsInThem) {
  json line = line_json(error_line(json("a\nb"), Error{Code::invalid, "bad \xff byte\n"}));
  EXPECT_EQ(line["id"], "a\nb");
  EXPECT_EQ(line["error"]["message"], "bad \xef\xbf\xbd byte\n");
}
