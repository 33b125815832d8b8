// SPDX-License-Identifier: BSD-2-Clause
//
// The text of graphs, as on a terminal, without the header.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "client/render/graph.h"
#include "tests/support/call_events.h"

namespace tracectl {

inline constexpr uint64_t kMs = 1'000'000;

class Graph : public testing::Test {
 protected:
  explicit Graph(GraphOptions options = {}) : graph_(options) {}

  void add(const Event& event) { graph_.add(out_, event); }
  void show_held(uint64_t now_ns) { graph_.show_held(out_, now_ns); }
  std::string finished() {
    graph_.finish(out_);
    return text();
  }
  // The text since the last call.
  std::string text() {
    std::string text = std::exchange(out_, "");
    if (text.starts_with(kHeader)) text.erase(0, kHeader.size());
    return text;
  }

  static constexpr std::string_view kHeader = "CPU  TID             DURATION |  FUNCTION CALLS\n";

  GraphText graph_;
  std::string out_;
};

inline Event of_process(pid_t pid, const std::string& comm, Event event) {
  event.pid = event.tid = pid;
  event.comm = comm;
  return event;
}

inline Event tagged(const std::string& tag, Event event) {
  event.tag = tag;
  return event;
}

}  // namespace tracectl
