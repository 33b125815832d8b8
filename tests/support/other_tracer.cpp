// SPDX-License-Identifier: BSD-2-Clause
#include "tests/support/other_tracer.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace tracectl::on_kernel {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

uint32_t uprobe_type() {
  std::ifstream file("/sys/bus/event_source/devices/uprobe/type");
  uint32_t type = 0;
  if (!(file >> type)) throw std::runtime_error("perf has no uprobes here");
  return type;
}

// The address in a process of an offset in a file, in a writable mapping.
uint64_t address_of_data(pid_t pid, const std::string& path, uint64_t file_offset) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields(line);
    std::string range, permissions, offset, device, inode, mapped;
    fields >> range >> permissions >> offset >> device >> inode >> mapped;
    if (mapped != path || permissions[1] != 'w') continue;
    const uint64_t begin = std::stoull(range, nullptr, 16);
    const uint64_t end = std::stoull(range.substr(range.find('-') + 1), nullptr, 16);
    const uint64_t first = std::stoull(offset, nullptr, 16);
    if (file_offset >= first && file_offset - first < end - begin)
      return begin + (file_offset - first);
  }
  throw std::runtime_error("process " + std::to_string(pid) + " maps no such data of " + path);
}

}  // namespace

OtherTracer::OtherTracer(pid_t pid, const std::string& path, uint64_t offset, uint64_t semaphore,
                         At at) {
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = uprobe_type();
  attributes.config =
      semaphore << 32 |
      (at == At::returns ? 1
                         : 0);  // format/ref_ctr_offset: config:32-63, format/retprobe: config:0
  attributes.config1 = reinterpret_cast<uintptr_t>(path.c_str());
  attributes.config2 = offset;
  event_ = Fd{static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, pid, -1, -1, PERF_FLAG_FD_CLOEXEC))};
  if (!event_) fail("perf_event_open at " + path);
}

uint64_t OtherTracer::hits() const {
  uint64_t count = 0;
  if (::read(event_.get(), &count, sizeof(count)) != sizeof(count)) fail("read a perf event");
  return count;
}

uint16_t semaphore_value(pid_t pid, const std::string& path, uint64_t file_offset) {
  const std::string memory = "/proc/" + std::to_string(pid) + "/mem";
  const Fd fd{::open(memory.c_str(), O_RDONLY | O_CLOEXEC)};
  uint16_t value = 0;
  const auto address = static_cast<off_t>(address_of_data(pid, path, file_offset));
  if (!fd || ::pread(fd.get(), &value, sizeof(value), address) != sizeof(value)) fail(memory);
  return value;
}

}  // namespace tracectl::on_kernel
