// SPDX-License-Identifier: BSD-2-Clause
//
// Calls as spans of time, for formats that draw them: each is told when it is over.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "client/render/call_names.h"
#include "client/render/open_calls.h"
#include "daemon/base/result.h"
#include "daemon/model/event.h"

namespace tracectl {

struct Slice {
  enum class End : uint8_t { returned, unwound, unseen };

  pid_t pid = 0;
  pid_t tid = 0;
  std::string_view name = {};  // of the Slices
  std::string arguments = {};  // as people read them
  std::string result = {};
  uint64_t begin_ns = 0, end_ns = 0;
  // Unseen: it ended, or nothing more was recorded, at the latest then.
  End end = End::unseen;
  // Others that began within it go on behind it, as a coroutine's do.
  bool is_crossing = false;
};

class Slices {
 public:
  using Take = std::function<Status(const Slice&)>;
  // Calls that end with a seen beginning or a known duration are given to it.
  explicit Slices(Take take) : take_(std::move(take)) {}

  // False: the event is none of a call.
  Result<bool> add(const Event& event);
  // Those that are open go until then.
  Status finish(uint64_t now_ns);

 private:
  struct Open {
    bool is_seen = false;  // its beginning
    Slice slice = {};
  };
  using Calls = std::vector<Open>;  // of a thread, the outermost first

  // Of the arguments of calls that are open: behind these, calls begin without.
  static constexpr size_t kMostHeldBytes = 128 << 20;
  static constexpr const char* kNoRoom = "[no room: very many calls are open]";

  Status make(Calls& calls, const CallStep& step, const Event& event);
  void begin(Calls& calls, const Event& event);
  Status end(Calls& calls, size_t index, const Event& event);
  Status lose(Calls& calls, size_t index, uint64_t ts_ns);
  Open taken_off(Calls& calls, size_t index);
  Status lose_all(Calls& calls, uint64_t ts_ns);
  Status forget(pid_t tid, uint64_t ts_ns);
  Status take_ended(const Event& event, bool is_crossing);
  Status take_until(Slice& slice, uint64_t ts_ns, bool is_crossing);

  Take take_;
  CallNames names_;
  OpenCalls open_;
  std::unordered_map<pid_t, Calls> threads_;  // by tid
  size_t held_bytes_ = 0;
};

}  // namespace tracectl
