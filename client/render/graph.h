// SPDX-License-Identifier: BSD-2-Clause
//
// The nested calls of a running program, in the form of the kernel's function_graph tracer. The lines of a
// thread are held until its outermost call has ended, so that its tree stays together.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "client/render/call_names.h"
#include "client/render/graph_line.h"
#include "client/render/graph_options.h"
#include "client/render/open_calls.h"
#include "client/render/thread_graph.h"
#include "daemon/model/event.h"

namespace tracectl {

class GraphText {
 public:
  explicit GraphText(GraphOptions options)
      : options_(options), columns_{.colour = options.colour} {}
  // Its threads refer to its options.
  GraphText(const GraphText&) = delete;
  GraphText& operator=(const GraphText&) = delete;

  void add(std::string& out, const Event& event);
  void add_lost(std::string& out, const Lost& lost);
  // Prints lines that have been held for 200 ms. `now_ns` is of the clock of events.
  void show_held(std::string& out, uint64_t now_ns);
  // Prints all held lines, and the open calls, marked as open.
  void finish(std::string& out);

 private:
  static constexpr uint64_t kLongestHeldNs = 200'000'000;
  static constexpr size_t kMostHeldBytes = 64 << 10;
  static constexpr size_t kMostThreads = 2 * OpenCalls::kMostThreads;  // half of them idle

  struct Thread {
    ThreadGraph graph;
    pid_t pid = 0;
    pid_t tid = 0;
    std::string comm = {};
    // What is printed:
    size_t open_braces = 0;
    uint64_t run_start = 0;  // the number of its first line after a line of another thread
    std::optional<unsigned> cpu = {};
  };

  // The thread of the last printed line; it may be forgotten already.
  struct Printed {
    pid_t pid;
    pid_t tid;
    std::string comm;
    bool is_open;  // there are open braces
  };

  Thread& thread_of(const Event& event);
  void forget_idle_threads();
  void forget(std::string& out, pid_t tid);
  void make(std::string& out, Thread& thread, const CallStep& step, const Event& event);
  void print_held(std::string& out, Thread& thread);
  void print_header(std::string& out);
  void turn_to(std::string& out, Thread& thread, uint64_t first_line);
  void print_line(std::string& out, Thread& thread, GraphLine& line);

  GraphOptions options_;
  GraphColumns columns_;
  CallNames names_;
  OpenCalls calls_;
  std::map<pid_t, Thread> threads_;
  std::optional<Printed> printed_;
  bool has_header_ = false;
  uint64_t last_ns_ = 0;  // of the last event
};

}  // namespace tracectl
