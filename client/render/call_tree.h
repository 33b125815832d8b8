// SPDX-License-Identifier: BSD-2-Clause
//
// What calls came to, by the calls they were made from.
//
// A call's own time is its duration less that of the calls made from it. Where events were lost it
// has the time of those too that nobody has seen. A call that ended unseen is counted, but has no
// time; one that began unseen is known by its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "client/render/call_names.h"
#include "client/render/open_calls.h"
#include "client/render/table.h"
#include "daemon/model/event.h"
#include "daemon/protocol/messages/results.h"

namespace tracectl {

// Of the calls of one function, at one place in the tree or at all of them.
struct CallFigures {
  uint64_t calls = 0;
  uint64_t timed = 0;    // those whose end was seen
  uint64_t unwound = 0;  // of them
  uint64_t total_ns = 0;
  uint64_t self_ns = 0;
  uint64_t min_ns = UINT64_MAX;
  uint64_t max_ns = 0;

  void add(uint64_t duration_ns, uint64_t own_ns);
  void add(const CallFigures& other);
  double average_ns() const;
};

class CallTree {
 public:
  void add(const Event& event);
  // What the kernel has summed up `by path`. Calls that have not ended yet are no part of it.
  void add(const std::vector<protocol::PathPart>& paths,
           const std::vector<protocol::RowPart>& rows);

  // By function, those with the most time of their own first. A call within another of the same
  // function is no part of the total.
  std::string function_table() const;
  // The tree; shares are of what all outermost calls took.
  std::string tree_text() const;
  // `main;query;parse 1234`: nanoseconds of its own, as programs that draw flame graphs read them.
  std::string folded_text() const;
  // By function: `before`, this one and what has changed, the greatest growth first.
  std::string comparison_text(const CallTree& before) const;

 private:
  // Calls that nest in all kinds of ways could make any number of them.
  static constexpr size_t kMostNodes = 1 << 20;

  struct Node {
    CallFigures figures = {};
    std::map<std::string, std::unique_ptr<Node>> children = {};  // by function
  };

  struct Child {
    const std::string* name;
    const Node* node;
    uint64_t known_ns;
  };

  struct Frame {
    Node* parent = nullptr;
    Node* node = nullptr;  // null: it began unseen
    uint64_t began_ns = 0;
    uint64_t inner_ns = 0;   // of the calls made from it that have ended
    bool is_orphan = false;  // the call it was made from has ended
  };
  using Frames = std::vector<Frame>;

  // Of all calls of one function.
  struct Function {
    CallFigures figures = {};
    uint64_t total_ns = 0;  // but for those within others
    size_t around = 0;      // while the tree is walked: how many of it are on the way
  };
  using Functions = std::map<std::string, Function>;

  void make(Frames& frames, const CallStep& step, const Event& event);
  void begin(Frames& frames, const Event& event);
  void end(Frames& frames, size_t index, const Event& event);
  void close(Frames& frames, size_t index, uint64_t took_ns);
  using Places = std::unordered_map<uint64_t, Node*>;  // by the number of their path
  Places places_of(const std::vector<protocol::PathPart>& paths);
  Node& child(Node& parent, const std::string& name);
  Node& innermost(const Frames& frames);

  Functions functions() const;
  static void gather(Functions& functions, const Node& node);
  static uint64_t known_ns(const Node& node);
  static std::vector<Child> by_time(const Node& node);
  static void add_rows(Table& table, const Node& node, uint64_t whole_ns, size_t depth);
  static void add_folded(std::string& out, const Node& node, const std::string& way);

  CallNames names_;
  OpenCalls calls_;
  Node root_;
  Node others_;  // where there was no room for more
  size_t nodes_ = 0;
  std::unordered_map<pid_t, Frames> threads_;  // by tid
};

}  // namespace tracectl
