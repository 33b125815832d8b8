// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/mounts.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "daemon/base/fd.h"

namespace tracectl {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string_view word(std::string_view& line) {
  const auto taken = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(taken.size() + 1, line.size()));
  return taken;
}

// Files in memory (memfd) belong to a file system that is not mounted anywhere.
bool is_in_memory(dev_t device) {
  static const dev_t own = [] {
    struct stat status {};
    const Fd file{::memfd_create("device", MFD_CLOEXEC)};
    return file && ::fstat(file.get(), &status) == 0 ? status.st_dev : 0;
  }();
  return device == own;
}

}  // namespace

// 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
Served served_by_process(std::string_view mountinfo, dev_t device) {
  const std::string wanted = std::to_string(major(device)) + ":" + std::to_string(minor(device));
  while (!mountinfo.empty()) {
    std::string_view line = mountinfo.substr(0, mountinfo.find('\n'));
    mountinfo.remove_prefix(std::min(line.size() + 1, mountinfo.size()));
    word(line);
    word(line);
    if (word(line) != wanted) continue;
    const size_t separator = line.find(" - ");
    if (separator == std::string_view::npos) continue;
    line.remove_prefix(separator + 3);
    const auto type = word(line);
    return type == "fuse" || type.starts_with("fuse.") ? Served::yes : Served::no;
  }
  return Served::unknown;
}

// File systems on disks have a major number. Looks in both mount namespaces, because a process can
// map a file that another one has opened.
bool may_wait_for_others(const Process& process, dev_t device) {
  if (major(device) != 0 || is_in_memory(device)) return false;
  for (const std::string& path :
       {process.proc_path("mountinfo"), std::string("/proc/self/mountinfo")})
    if (const auto served = served_by_process(content_of(path), device); served != Served::unknown)
      return served == Served::yes;
  return true;
}

}  // namespace tracectl
