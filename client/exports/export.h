// SPDX-License-Identifier: BSD-2-Clause
//
// Recordings in the formats of other tools.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "daemon/base/result.h"
#include "daemon/model/event.h"

namespace tracectl {

// What is known of a recording before its events are read.
struct Recorded {
  uint64_t id = 0;
  int64_t wall_minus_boot_ns = 0;
  uint64_t first_ns = 0, last_ns = 0;  // since boot; 0: it has no events
  size_t most_arguments = 0;           // that any of its events has
};

// A recording on its way there. Nothing is left at the path without finish().
class Export {
 public:
  virtual ~Export() = default;

  // In the order of time.
  virtual Status add(const Event& event) = 0;
  virtual Status add(const Lost& lost) = 0;
  virtual Status finish() = 0;
};

struct ExportFormat {
  const char* name;  // as --to has it
  const char* tells;
  bool is_directory;
  // At that path; "-" is standard output, where it is no directory.
  Result<std::unique_ptr<Export>> (*open)(const std::string& path, const Recorded& recorded);
};

// In the order in which they are listed.
std::span<const ExportFormat> export_formats();
// nullptr: there is none of that name.
const ExportFormat* find_export_format(std::string_view name);

}  // namespace tracectl
