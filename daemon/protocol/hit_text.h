// SPDX-License-Identifier: BSD-2-Clause
//
// The JSON of hits, for floods of them. What the hits of one thread at one probe have in common is kept as text, so that
// a hit costs a copy of that text, its time and its numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/model/plain_hit.h"
#include "daemon/protocol/events.h"

namespace tracectl::protocol {

class HitText {
 public:
  // Gives the demangled name of a probe's function, or an empty text.
  using Demangle = std::function<std::string_view(const std::string& probe)>;
  explicit HitText(Demangle demangle = {}) : demangle_(std::move(demangle)) {}

  // Appends what append_event() would for the hit's event.
  void append(std::string& out, const PlainHit& hit, WallClock& wall);
  // As append_event_line().
  void append_line(std::string& out, const PlainHit& hit, WallClock& wall);

 private:
  struct Common {
    bool is_of(const PlainHit& hit) const;

    std::shared_ptr<const EventSource> source;  // kept, so that no other one gets its address
    uint64_t epoch = 0;
    unsigned cpu = 0;
    pid_t pid = 0, tid = 0;
    RawComm comm;
    bool all_unsigned = false;  // all arguments, and of 64 bits
    std::string text;           // from the end of the time to the arguments
  };

  const Common& common_of(const PlainHit& hit);
  void render(Common& common, const PlainHit& hit) const;

  Demangle demangle_;
  std::array<Common, 64> recent_;  // by thread and probe
};

}  // namespace tracectl::protocol
