// SPDX-License-Identifier: BSD-2-Clause
//
// The maps of a program that runs for so short a time that nobody can read /proc/PID/maps before it
// ends. The kernel writes each executable mapping that the process makes into a ring, as for perf(1),
// and the ring stays after the process.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/base/mapping.h"
#include "daemon/base/result.h"
#include "daemon/process/maps.h"
#include "daemon/process/process.h"

namespace tracectl {

class MappingRecord {
 public:
  // Of a process that has not executed its program yet, from now on. Takes one descriptor, and 68 KiB
  // of memory.
  static Result<MappingRecord> begin(const Process& process);

  // The files of the program that it has executed since, as executable_files() would have them. None
  // if it has executed none or several, or if not all was recorded.
  std::optional<std::vector<MappedFile>> files() const;

 private:
  MappingRecord(Fd event, Mapping ring) : event_(std::move(event)), ring_(std::move(ring)) {}

  Fd event_;
  Mapping ring_;
};

// The same of the ring's records. Skips those that do not concern files.
std::optional<std::vector<MappedFile>> parse_mapping_records(std::span<const std::byte> records);

}  // namespace tracectl
