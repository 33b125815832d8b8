// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "daemon/model/event.h"

namespace tracectl {

// The name of a thread as stored by the kernel: up to the first 0, or all bytes.
struct RawComm {
  static constexpr size_t kBytes = 16;

  RawComm() = default;
  explicit RawComm(std::string_view text) {
    std::memcpy(words, text.data(), std::min(text.size(), kBytes));
  }
  std::string_view text() const {
    const auto* bytes = reinterpret_cast<const char*>(words);
    return {bytes, ::strnlen(bytes, kBytes)};
  }
  // Compares all bytes: if equal, the texts are equal. Equal texts can differ after their end.
  bool operator==(const RawComm& other) const {
    return words[0] == other.words[0] && words[1] == other.words[1];
  }

  uint64_t words[2] = {};
};

// An event that is a hit and has only numbers, for code that needs no Event of it: making one can
// take longer than its further processing.
struct PlainHit {
  static constexpr size_t kMostArguments = 12;
  uint64_t ts_ns = 0;
  uint64_t epoch = 0;
  unsigned cpu = 0;
  pid_t pid = 0;
  pid_t tid = 0;
  RawComm comm = {};
  const std::shared_ptr<const EventSource>* source = nullptr;  // borrowed
  uint64_t readable = 0;                                       // bit n: argument n could be read
  size_t arg_count = 0;
  std::array<uint64_t, kMostArguments> args{};
};

Event event_of(const PlainHit& hit);

}  // namespace tracectl
