// SPDX-License-Identifier: BSD-2-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "client/render/call_sums.h"
#include "daemon/protocol/codec.h"
#include "tests/support/call_trees.h"

using namespace tracectl;
using testing::EndsWith;
using testing::StartsWith;

namespace {

template <class Part> std::string json_of(const Part& part) {
  return protocol::text_of(protocol::to_json(part));
}

}  // namespace

TEST(CallSums, ByFunctionHaveTheirTimes) {
  CallTree tree;
  add_call(tree, "f", 5);
  tree.add(begin_of("f", {2, 0}, 10));
  tree.add(unwound_of("f", {2, 0}, 20, 10));
  EXPECT_EQ(
      json_of(sums_of(tree, false)),
      R"({"functions":[{"avg_ns":7.5,"calls":2,"max_ns":10,"min_ns":5,"name":"f",)"
      R"("p50_ns":7,"p90_ns":10,"p99_ns":10,"self_ns":15,"total_ns":15,"unwound":1,"without_end":0}],"lost":0})");
}

TEST(CallSums, OfCallsWithoutEndHaveNoTimes) {
  CallTree tree;
  tree.add(begin_of("f", {1, 0}, 0));
  EXPECT_EQ(json_of(sums_of(tree, false)),
            R"({"functions":[{"calls":1,"name":"f","unwound":0,"without_end":1}],"lost":0})");
}

TEST(CallSums, OfATreeHaveTheirChildrenBehindThem) {
  CallTree tree;
  add_queries(tree);
  add_call(tree, "idle", 7);
  std::string seen;
  const protocol::CallSumsPart sums = sums_of(tree, true);
  for (const protocol::CallPlacePart& place : *sums.tree) {
    seen += place.name + " " + std::to_string(place.depth) + " " + std::to_string(*place.self_ns);
    for (const uint64_t child : place.children) seen += " " + sums.tree->at(child).name;
    seen += "\n";
  }
  EXPECT_EQ(seen,
            "main 0 40 query\n"
            "query 1 25 fetch parse\n"
            "fetch 2 25\n"
            "parse 2 10\n"
            "idle 0 7\n");
}

TEST(CallSums, ComparedHaveWhatThereWasAndIs) {
  CallTree before, after;
  add_call(before, "same", 10);
  add_call(after, "same", 30);
  add_call(after, "same", 20);
  add_call(before, "gone", 7);
  add_call(after, "new", 8);
  const protocol::CallChangesPart changes = compared(before, after);
  ASSERT_EQ(changes.functions.size(), 3u);
  const auto& same = changes.functions[0];
  EXPECT_EQ(same.before->self_ns, 10u);
  EXPECT_EQ(same.after->calls, 2u);
  EXPECT_EQ(json_of(same.change), R"({"avg_ns":15.0,"self_ns":40})");
  EXPECT_THAT(json_of(changes.functions[1]), StartsWith(R"({"after":{)"));
  EXPECT_THAT(json_of(changes.functions[1]), EndsWith(R"("change":{"self_ns":8},"name":"new"})"));
  EXPECT_THAT(json_of(changes.functions[2]), StartsWith(R"({"before":{)"));
  EXPECT_EQ(changes.functions[2].change.self_ns, -7);
}
