// SPDX-License-Identifier: BSD-2-Clause
//
// Counts and times of calls, by their chains of callers.
//
// A call's own time is its duration less that of the calls made from it. If events were lost, it includes the
// time of calls that were not seen. A call whose end was not seen is counted, but has no time; one whose
// beginning was not seen is known by its end.
//
// Calls may be nested thousands deep, so nothing here is recursive, or visits a call once for each of its
// callers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "client/render/call_names.h"
#include "client/render/open_calls.h"
#include "client/render/quantiles.h"
#include "daemon/model/event.h"
#include "daemon/protocol/messages/results.h"

namespace tracectl {

// The calls of one function, at one place in the tree or at all.
struct CallFigures {
  uint64_t calls = 0;
  uint64_t timed = 0;    // calls whose end was seen
  uint64_t unwound = 0;  // of the timed ones
  uint64_t total_ns = 0;
  uint64_t self_ns = 0;
  uint64_t probes_ns = 0;  // that probes took within the calls, in none of the others; 0: unknown
  uint64_t split = 0;      // calls whose parts are known; their sums:
  uint64_t running_ns = 0, runnable_ns = 0, blocked_ns = 0;
  uint64_t min_ns = UINT64_MAX;
  uint64_t max_ns = 0;
  TimeBuckets times = {};  // empty: unknown

  void add(uint64_t duration_ns, uint64_t own_ns);
  void add(uint64_t duration_ns, const OffCpu& parts);
  void add(const CallFigures& other);
  uint64_t without_end() const { return calls - timed; }
  double average_ns() const;
  // As quantile_bound().
  std::optional<uint64_t> bound_ns(unsigned percent) const;
};

class CallTree {
 public:
  // All calls of one function.
  struct Function {
    std::string name = {};
    CallFigures figures = {};
    // Without calls that are nested in others of the function, whose time includes theirs. If the outer calls
    // have no end, the time of the function itself.
    uint64_t total_ns = 0;
  };

  // The calls of one function by one chain of callers. Refers to the tree.
  struct Place {
    const std::string* name;
    const CallFigures* figures;
    size_t depth;       // the number of calls around it
    uint64_t known_ns;  // at least: a call without end took at least as long as the calls within it
  };
  enum class Order : uint8_t { name, time };

  CallTree() : nodes_(1) {}
  // Its nodes refer to each other.
  CallTree(const CallTree&) = delete;
  CallTree& operator=(const CallTree&) = delete;

  void add(const Event& event);
  // Adds what the kernel has summed up `by path`. Calls that have not ended yet are not included.
  void add(const std::vector<protocol::PathPart>& paths,
           const std::vector<protocol::RowPart>& rows);

  // How often the open calls of a thread were counted as calls without end, because very many threads had
  // open calls. If their ends are seen later, they are counted once more.
  uint64_t forgotten_threads() const { return forgotten_threads_; }
  // Sorted by their own time, the longest first.
  std::vector<Function> functions() const;
  // Each place is followed by those within it, which are sorted in this order.
  std::vector<Place> places(Order order) const;

 private:
  // A bound, because calls can nest in any number of ways.
  static constexpr size_t kMostNodes = 1 << 20;

  struct Node {
    size_t number = 0;                  // among nodes_
    const std::string* name = nullptr;  // among names_; the root has none
    CallFigures figures = {};
    std::map<std::string_view, Node*> children = {};  // by the name of the function
  };

  struct Frame {
    Node* parent = nullptr;
    Node* node = nullptr;  // null: its beginning was not seen
    uint64_t began_ns = 0;
    uint64_t inner_ns = 0;   // of the ended calls that were made from it
    bool is_orphan = false;  // the call that it was made from has ended
  };
  using Frames = std::vector<Frame>;

  void make(Frames& frames, const CallStep& step, const Event& event);
  void begin(Frames& frames, const Event& event);
  void end(Frames& frames, size_t index, const Event& event);
  void close(Frames& frames, size_t index, uint64_t took_ns);
  using Nodes = std::unordered_map<uint64_t, Node*>;  // by the number of their path
  Nodes nodes_of(const std::vector<protocol::PathPart>& paths);
  Node& root() { return nodes_.front(); }
  Node& child(Node& parent, const std::string& name);  // the reference stays valid
  Node& innermost(const Frames& frames);

  std::vector<uint64_t> known_times() const;

  CallNames names_;
  OpenCalls calls_;
  std::deque<Node> nodes_;                     // each after its parent; the first is the root
  Node others_;                                // those for which there was no room
  std::unordered_map<pid_t, Frames> threads_;  // by tid
  uint64_t forgotten_threads_ = 0;
};

}  // namespace tracectl
