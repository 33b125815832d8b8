// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/memory.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
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

Error not_read(const Process& process, const MemoryRange& range) {
  const bool refused = errno == EPERM;
  Error error = Error::from_errno(describe(process, range));
  if (refused)
    error.message +=
        ": the daemon lacks CAP_SYS_PTRACE, or kernel.yama.ptrace_scope is 3, which forbids "
        "everybody "
        "to trace until the next boot";
  return error;
}

// The memory of a process. /proc/PID/mem belongs to the process's user, so a daemon without rights
// over files cannot open it, although it may trace the process. Then the memory is read by
// process_vm_readv(2), which needs only the right to trace. That call does not hold the address
// space, and reads only what the process itself can.
class Memory {
 public:
  static Result<Memory> open(const Process& process) {
    const std::string path = process.proc_path("mem");
    Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!file && errno != EACCES) return Error::from_errno("open " + path);
    return Memory{process.pid(), std::move(file)};
  }

  // Whether it stays this process's memory, even after the process has ended.
  bool holds() const { return static_cast<bool>(file_); }

  // Like pread(2).
  ssize_t read(void* into, size_t size, uint64_t address) const {
    if (file_) return ::pread(file_.get(), into, size, static_cast<off_t>(address));
    const iovec to{into, size}, from{reinterpret_cast<void*>(address), size};
    return ::process_vm_readv(pid_, &to, 1, &from, 1, 0);
  }

 private:
  Memory(pid_t pid, Fd file) : pid_(pid), file_(std::move(file)) {}

  pid_t pid_;
  Fd file_;
};

Result<std::vector<uint8_t>> read_range(const Memory& memory, const Process& process,
                                        const MemoryRange& range) {
  if (range.size_bytes > kMaxReadBytes)
    return Error{Code::invalid, describe(process, range) + ": more than can be read at once"};
  std::vector<uint8_t> bytes(range.size_bytes);
  for (size_t done = 0; done < bytes.size();) {
    ssize_t got = memory.read(bytes.data() + done, bytes.size() - done, range.address + done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return not_read(process, range);
    if (got == 0) return Error{Code::not_found, describe(process, range) + ": its memory is gone"};
    done += static_cast<size_t>(got);
  }
  return bytes;
}

// Reads more than a range at once: thousands of short ranges lie close together, like sites in
// code, and the next ones are found in what was read.
class Window {
 public:
  Window(const Memory& memory, const Process& process) : memory_(memory), process_(process) {}

  Result<std::vector<uint8_t>> read(const MemoryRange& range) {
    if (!holds(range) && !move_to(range)) return read_range(memory_, process_, range);
    const auto first = bytes_.begin() + static_cast<ptrdiff_t>(range.address - start_);
    return std::vector<uint8_t>(first, first + static_cast<ptrdiff_t>(range.size_bytes));
  }

 private:
  static constexpr size_t kBytes = 4096;

  bool holds(const MemoryRange& range) const {
    return range.address >= start_ && range.address - start_ <= size_ &&
           range.size_bytes <= size_ - (range.address - start_);
  }

  // Reads fewer bytes if the mapping ends.
  bool move_to(const MemoryRange& range) {
    if (range.size_bytes > kBytes) return false;
    const ssize_t got = memory_.read(bytes_.data(), kBytes, range.address);
    start_ = range.address;
    size_ = got < 0 ? 0 : static_cast<size_t>(got);
    return size_ > 0 && holds(range);
  }

  const Memory& memory_;
  const Process& process_;
  uint64_t start_ = 0;
  size_t size_ = 0;
  std::array<uint8_t, kBytes> bytes_;
};

}  // namespace

Result<std::vector<Result<std::vector<uint8_t>>>> read_memory(const Process& process,
                                                              std::span<const MemoryRange> ranges) {
  auto memory = Memory::open(process);
  if (auto there = process.still_there(); !there) return there.error();
  if (!memory) return memory.error();
  std::vector<Result<std::vector<uint8_t>>> results;
  results.reserve(ranges.size());
  if (ranges.size() == 1) {
    results.push_back(read_range(*memory, process, ranges.front()));
  } else {
    Window window(*memory, process);
    for (const MemoryRange& range : ranges) results.push_back(window.read(range));
  }
  // Memory that was read by PID is the process's only if it is still alive.
  if (auto there = process.still_there(); !there && !memory->holds()) return there.error();
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
