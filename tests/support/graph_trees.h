// SPDX-License-Identifier: BSD-2-Clause
//
// Call graphs as text.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/collector.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {

// `deep(deep())`: a function's name with its calls in parentheses, `!` after a call that was unwound, `?` in
// place of the parentheses of a call whose end is not seen, `*` for a hit that is not a call. Fails if an end
// is not that of the innermost call.
class Trees {
 public:
  void add(const Event& event) {
    if (!event.call)
      text_ += '*';
    else if (event.kind == EventKind::hit)
      begin(function_of(event.source->probe), *event.call);
    else
      end(*event.call, event.kind == EventKind::unwound);
  }

  const std::string& text() const {
    EXPECT_TRUE(open_.empty());
    return text_;
  }

 private:
  void begin(const std::string& function, const CallMark& call) {
    EXPECT_EQ(call.depth, open_.size()) << function;
    text_ += function + (call.number ? "(" : "?");
    if (call.number) open_.push_back(call.number);
  }

  void end(const CallMark& call, bool unwound) {
    ASSERT_FALSE(open_.empty());
    EXPECT_EQ(open_.back(), call.number);
    open_.pop_back();
    EXPECT_EQ(call.depth, open_.size());
    text_ += unwound ? ")!" : ")";
  }

  std::vector<uint32_t> open_;
  std::string text_;
};

inline std::string nested(const std::string& function, size_t calls,
                          const std::string& ends = ")") {
  std::string text;
  for (size_t i = 0; i < calls; ++i) text += function + "(";
  for (size_t i = 0; i < calls; ++i) text += ends;
  return text;
}

class GraphTest : public KernelTest {
 protected:
  struct Wanted {
    std::string pattern;
    std::string action = "graph";
    std::string when = {};
    GraphScope scope = {};
    Returns returns = Returns::automatic;
    std::string keep_if = {};
  };

  // The calls of a run of `deep` that a session with these settings sees.
  std::string of_deep(int depth, const std::vector<Wanted>& wanted) {
    Program program("graph_deep", {std::to_string(depth)});
    return of(program, wanted);
  }

  std::string of(Program& program, const std::vector<Wanted>& wanted) {
    create("s");
    auto sink = std::make_shared<Collector>();
    must(engine->streams().subscribe("s", sink));
    for (const Wanted& one : wanted) must(engine->drafts().set("s", {setting_of(program, one)}));
    must(engine->commits().commit("s", {}));
    program.run();
    must(engine->streams().flush("s"));
    Trees trees;
    for (const Event& event : events_of(*sink)) trees.add(event);
    cut_ = read("s").totals.cut;
    return trees.text();
  }

  Setting setting_of(const Program& program, const Wanted& wanted) {
    Setting set = setting(wanted.pattern, process(program.pid()), wanted.action);
    if (!wanted.when.empty()) set.spec.when = must(parse_condition(wanted.when));
    if (!wanted.keep_if.empty()) set.spec.keep_if = must(parse_condition(wanted.keep_if));
    set.graph = wanted.scope;
    set.returns = wanted.returns;
    return set;
  }

  static GraphScope only(const std::string& pattern) {
    return {.only = {must(parse_pattern(pattern))}, .skip = {}, .beside = {}};
  }

  uint64_t cut_ = 0;
};

}  // namespace tracectl::on_kernel
