// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace tracectl {
namespace {

std::string describe(const Process& process, const MemoryRange& range) {
  char text[96];
  std::snprintf(text, sizeof text, "read %zu bytes at 0x%lx of process %d", range.size_bytes,
                range.address, process.pid());
  return text;
}

Result<std::vector<uint8_t>> read_range(const Fd& memory, const Process& process,
                                        const MemoryRange& range) {
  if (range.size_bytes > kMaxReadBytes)
    return Error{Code::invalid, describe(process, range) + ": more than can be read at once"};
  std::vector<uint8_t> bytes(range.size_bytes);
  for (size_t done = 0; done < bytes.size();) {
    ssize_t got = pread(memory.get(), bytes.data() + done, bytes.size() - done,
                        static_cast<off_t>(range.address + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::from_errno(describe(process, range));
    if (got == 0) return Error{Code::not_found, describe(process, range) + ": its memory is gone"};
    done += static_cast<size_t>(got);
  }
  return bytes;
}

}  // namespace

Result<std::vector<Result<std::vector<uint8_t>>>> read_memory(const Process& process,
                                                              std::span<const MemoryRange> ranges) {
  std::string path = process.proc_path("mem");
  Fd memory{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  int err = errno;
  // The descriptor holds on to the address space: alive after the opening is enough.
  if (auto there = process.still_there(); !there) return there.error();
  if (!memory) return Error::from_errno("open " + path, err);
  std::vector<Result<std::vector<uint8_t>>> results;
  for (const MemoryRange& range : ranges) results.push_back(read_range(memory, process, range));
  return results;
}

Result<std::vector<uint8_t>> read_memory(const Process& process, uint64_t address,
                                         size_t size_bytes) {
  MemoryRange range{address, size_bytes};
  auto results = read_memory(process, std::span{&range, 1});
  if (!results) return results.error();
  return std::move(results->front());
}

}  // namespace tracectl
