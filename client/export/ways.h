// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "client/render/call_tree.h"
#include "client/render/folded.h"
#include "daemon/base/result.h"
#include "daemon/model/event.h"

namespace tracectl {

// The chains of callers in a recording: from the calls of a graph, or else from stacks.
class Ways {
 public:
  void add(const Event& event);

  // An error if the recording has neither.
  Status check() const;
  bool has_calls() const { return has_calls_; }
  const CallTree& calls() const { return calls_; }
  // One line per chain; with its own time in ns for calls, and its count for stacks.
  std::string folded() const;

 private:
  bool has_calls_ = false, has_stacks_ = false;
  CallTree calls_;
  FoldedStacks stacks_;
};

}  // namespace tracectl
