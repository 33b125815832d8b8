// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/process/process.h"

namespace tracectl {

struct ExecutableRange {
  uint64_t start = 0;  // addresses in the process; `end` is past the last byte
  uint64_t end = 0;
  uint64_t file_offset = 0;  // bytes; the offset of the byte at `start`

  bool operator==(const ExecutableRange&) const = default;
};

// A file of which a process has executable mappings.
struct MappedFile {
  std::string path;  // as in the process's maps and mount namespace; may be stale
  dev_t device = 0;  // as in maps; on btrfs and overlayfs stat's st_dev can differ
  ino_t inode = 0;
  bool deleted = false;  // the name was removed or is another file's by now
  std::vector<ExecutableRange> ranges;

  bool operator==(const MappedFile&) const = default;
};

// The files of executable mappings in the text of /proc/PID/maps, in order of first appearance.
// Skips lines that are not in the kernel's format.
std::vector<MappedFile> parse_maps(std::string_view text);

Result<std::vector<MappedFile>> executable_files(const Process& process);

// The executable mappings without a file, such as those of code that a program makes at run time; not those of the
// kernel ([vdso], [uprobes]). `file_offset` is 0.
std::vector<ExecutableRange> parse_executable_memory(std::string_view text);

Result<std::vector<ExecutableRange>> executable_memory(const Process& process);

// Opens the mapped file itself for reading, even if it was deleted, replaced, or is of another
// mount namespace. Refuses a file with another inode.
Result<Fd> open_mapped(const Process& process, const MappedFile& file);

Result<Fd> open_executable(const Process& process);

}  // namespace tracectl
