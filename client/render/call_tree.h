// SPDX-License-Identifier: BSD-2-Clause
//
// What calls came to, by the calls they were made from.
//
// A call's own time is its duration less that of the calls made from it. Where events were lost it
// has the time of those too that nobody has seen. A call that ended unseen is counted, but has no
// time; one that began unseen is known by its end.
//
// Calls may be nested thousands deep, so nothing here calls itself or looks at a call again for each
// call around it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "client/render/call_names.h"
#include "client/render/open_calls.h"
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
  uint64_t without_end() const { return calls - timed; }
  double average_ns() const;
};

class CallTree {
 public:
  // Of all calls of one function.
  struct Function {
    std::string name = {};
    CallFigures figures = {};
    // But for calls within others of the function, which have been counted with those. Where those
    // have no end it is what is known: the time of its own.
    uint64_t total_ns = 0;
  };

  // The calls of one function that were made in one way. It refers to the tree.
  struct Place {
    const std::string* name;
    const CallFigures* figures;
    size_t depth;  // how many calls are around
    uint64_t
        known_ns;  // what they took at least: calls without end took what those within them did
  };
  enum class Order : uint8_t { name, time };

  CallTree() : nodes_(1) {}
  // Its nodes know one another.
  CallTree(const CallTree&) = delete;
  CallTree& operator=(const CallTree&) = delete;

  void add(const Event& event);
  // What the kernel has summed up `by path`. Calls that have not ended yet are no part of it.
  void add(const std::vector<protocol::PathPart>& paths,
           const std::vector<protocol::RowPart>& rows);

  // How often calls that were open in a thread were taken for some without end, since very many
  // threads had open calls. If their ends are seen after all they are counted once more.
  uint64_t forgotten_threads() const { return forgotten_threads_; }
  // Those with the most time of their own first.
  std::vector<Function> functions() const;
  // Each in front of those within it; those within one in this order.
  std::vector<Place> places(Order order) const;

 private:
  // Calls that nest in all kinds of ways could make any number of them.
  static constexpr size_t kMostNodes = 1 << 20;

  struct Node {
    size_t number = 0;                  // among nodes_
    const std::string* name = nullptr;  // among names_; the outermost has none
    CallFigures figures = {};
    std::map<std::string_view, Node*> children = {};  // by function: its name
  };

  struct Frame {
    Node* parent = nullptr;
    Node* node = nullptr;  // null: it began unseen
    uint64_t began_ns = 0;
    uint64_t inner_ns = 0;   // of the calls made from it that have ended
    bool is_orphan = false;  // the call it was made from has ended
  };
  using Frames = std::vector<Frame>;

  void make(Frames& frames, const CallStep& step, const Event& event);
  void begin(Frames& frames, const Event& event);
  void end(Frames& frames, size_t index, const Event& event);
  void close(Frames& frames, size_t index, uint64_t took_ns);
  using Nodes = std::unordered_map<uint64_t, Node*>;  // by the number of the path to them
  Nodes nodes_of(const std::vector<protocol::PathPart>& paths);
  Node& root() { return nodes_.front(); }
  Node& child(Node& parent, const std::string& name);  // which stays where it is
  Node& innermost(const Frames& frames);

  std::vector<uint64_t> known_times() const;

  CallNames names_;
  OpenCalls calls_;
  std::deque<Node> nodes_;  // each behind the one around it; the first is around all
  Node others_;             // where there was no room for more
  std::unordered_map<pid_t, Frames> threads_;  // by tid
  uint64_t forgotten_threads_ = 0;
};

}  // namespace tracectl
