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

// Facts about a recording that are known before its events are read.
struct Recorded {
  uint64_t id = 0;
  int64_t wall_minus_boot_ns = 0;
  uint64_t first_ns = 0, last_ns = 0;  // since boot; 0: it has no events
  size_t most_arguments = 0;           // the most that any event has
};

// Writes a recording in some format. Without finish(), nothing remains at the path.
class Export {
 public:
  virtual ~Export() = default;

  // In time order.
  virtual Status add(const Event& event) = 0;
  virtual Status add(const Lost& lost) = 0;
  virtual Status finish() = 0;
};

struct ExportFormat {
  const char* name;  // the value of --to
  const char* tells;
  bool is_directory;
  // Creates the file or directory at `path`; "-" is standard output, for files.
  Result<std::unique_ptr<Export>> (*open)(const std::string& path, const Recorded& recorded);
};

// In the order of listings.
std::span<const ExportFormat> export_formats();
// nullptr: there is no such format.
const ExportFormat* find_export_format(std::string_view name);

}  // namespace tracectl
