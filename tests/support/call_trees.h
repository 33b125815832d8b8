// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "client/render/call_tree.h"
#include "tests/support/call_events.h"

namespace tracectl {

inline void add_call(CallTree& tree, const std::string& function, uint64_t duration_ns) {
  tree.add(begin_of(function, {1, 0}, 0));
  tree.add(end_of(function, {1, 0}, duration_ns, duration_ns));
}

// main (100 ns) calls query (60), which calls parse (10) and, twice, fetch (20, 5).
inline void add_queries(CallTree& tree) {
  tree.add(begin_of("main", {1, 0}, 0));
  tree.add(begin_of("query", {2, 1}, 10));
  tree.add(begin_of("parse", {3, 2}, 10));
  tree.add(end_of("parse", {3, 2}, 20, 10));
  tree.add(begin_of("fetch", {4, 2}, 20));
  tree.add(end_of("fetch", {4, 2}, 40, 20));
  tree.add(begin_of("fetch", {5, 2}, 40));
  tree.add(unwound_of("fetch", {5, 2}, 45, 5));
  tree.add(end_of("query", {2, 1}, 70, 60));
  tree.add(end_of("main", {1, 0}, 100, 100));
}

}  // namespace tracectl
