// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "daemon/model/event.h"

namespace tracectl {

// A line of a graph until it is printed: the columns before it are known only then.
struct GraphLine {
  enum class Brace : uint8_t { none, opens, closes };

  uint64_t ts_ns = 0;  // of its event
  unsigned cpu = 0;
  std::string tag = {};  // of the thread; empty: none
  size_t depth = 0;
  std::string code = {};     // `query() {`
  std::string comment = {};  // without comment signs
  Brace brace = Brace::none;
  std::optional<uint64_t> duration_ns = {};
  std::optional<OffCpu> off_cpu = {};  // of the duration
  uint64_t number = 0;                 // among the lines of its thread
  // The line that opened the brace, if `comment` is only for readers who cannot see that line.
  std::optional<uint64_t> opened_at = {};
};

struct GraphColumns {
  bool colour = false;

  std::string header() const;
  std::string line(const GraphLine& line, pid_t tid, bool other_cpu) const;
  // A line that belongs to no thread.
  std::string remark(const std::string& what, std::optional<unsigned> cpu) const;
  // A line that says that lines of another thread follow.
  std::string separator(const std::string& from, const std::string& to) const;
};

}  // namespace tracectl
