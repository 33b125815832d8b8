// SPDX-License-Identifier: BSD-2-Clause
//
// Calls as spans of time, for formats that draw them. Each is delivered when it has ended.
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
  std::string_view name = {};  // valid while the Slices exists
  std::string arguments = {};  // as text for people
  std::string result = {};
  uint64_t begin_ns = 0, end_ns = 0;
  // Unseen: the call ended at `end_ns` at the latest, or that is the last time that was recorded.
  End end = End::unseen;
  // Calls that began within it end after it, as those of coroutines do.
  bool is_crossing = false;
};

class Slices {
 public:
  using Take = std::function<Status(const Slice&)>;
  // `take` gets each call that ended and whose beginning was seen, or whose duration is known.
  explicit Slices(Take take) : take_(std::move(take)) {}

  // False: the event is not about a call.
  Result<bool> add(const Event& event);
  // Calls that are still open end at `now_ns`, unseen.
  Status finish(uint64_t now_ns);

 private:
  struct Open {
    bool is_seen = false;  // its beginning was seen
    Slice slice = {};
  };
  using Calls = std::vector<Open>;  // of a thread, the outermost first

  // A bound for the arguments of open calls; beyond it, calls begin without arguments.
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
