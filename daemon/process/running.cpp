// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/running.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>

#include "daemon/process/maps.h"
#include "daemon/process/process.h"

namespace tracectl {
namespace {

std::optional<pid_t> as_pid(const char* name) {
  pid_t pid = 0;
  const char* end = name + std::strlen(name);
  auto [rest, error] = std::from_chars(name, end, pid);
  if (error != std::errc{} || rest != end || pid <= 0) return std::nullopt;
  return pid;
}

bool is_file(const std::string& path, dev_t device, ino_t inode) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0 && found.st_dev == device && found.st_ino == inode;
}

// maps shows the device of the underlying file system if there is one (btrfs, overlayfs). The
// mapped file itself has the device that stat gives for any other name of it.
bool is_mapped_as(const Process& process, const MappedFile& file, dev_t device, ino_t inode) {
  if (file.inode != inode) return false;
  if (file.device == device) return true;
  auto fd = open_mapped(process, file);
  struct stat found {};
  return fd && fstat(fd->get(), &found) == 0 && found.st_dev == device;
}

bool maps_file(pid_t pid, dev_t device, ino_t inode) {
  auto process = Process::open(pid);
  if (!process) return false;
  auto files = executable_files(*process);
  if (!files) return false;
  return std::ranges::any_of(
      *files, [&](const MappedFile& file) { return is_mapped_as(*process, file, device, inode); });
}

}  // namespace

std::vector<pid_t> all_processes() {
  std::vector<pid_t> pids;
  std::unique_ptr<DIR, int (*)(DIR*)> proc{opendir("/proc"), closedir};
  if (!proc) return pids;
  while (const dirent* entry = readdir(proc.get()))
    if (auto pid = as_pid(entry->d_name)) pids.push_back(*pid);
  std::ranges::sort(pids);
  return pids;
}

std::vector<pid_t> processes_running(dev_t device, ino_t inode) {
  auto pids = all_processes();
  std::erase_if(pids, [&](pid_t pid) {
    return !is_file("/proc/" + std::to_string(pid) + "/exe", device, inode);
  });
  return pids;
}

// The 22nd field. The second, the name, is in parentheses and can contain any others.
std::optional<uint64_t> started_ns(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const size_t end = text.rfind(')');
  if (end == text.npos) return std::nullopt;
  std::istringstream rest(text.substr(end + 1));
  std::string field;
  for (int i = 3; i < 22; ++i) rest >> field;
  uint64_t ticks = 0;
  if (!(rest >> ticks)) return std::nullopt;
  return ticks * (1'000'000'000 / static_cast<uint64_t>(::sysconf(_SC_CLK_TCK)));
}

std::vector<pid_t> processes_mapping(dev_t device, ino_t inode) {
  auto pids = all_processes();
  std::erase_if(pids, [&](pid_t pid) { return !maps_file(pid, device, inode); });
  return pids;
}

}  // namespace tracectl
