// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/process.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace tracectl {
namespace {

std::string process_name(pid_t pid) { return "process " + std::to_string(pid); }

Error no_such_process(pid_t pid) {
  return Error{Code::not_found, process_name(pid) + " does not exist"};
}

// The process that a thread belongs to; 0 if there is no such thread.
pid_t thread_group(pid_t tid) {
  std::ifstream status("/proc/" + std::to_string(tid) + "/status");
  std::string word;
  while (status >> word)
    if (pid_t tgid = 0; word == "Tgid:" && status >> tgid) return tgid;
  return 0;
}

// A numeric field of /proc/PID/stat (proc(5)), from the fourth on. The name in field 2 can contain
// anything, but no field after it has a ')'. 0 if the process has ended.
uint64_t stat_field(pid_t pid, int number) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text, '\0');
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < number; ++field) fields >> skipped;
  uint64_t value = 0;
  fields >> value;
  return value;
}

uint64_t start_ticks_of(pid_t pid) { return stat_field(pid, 22); }

uint64_t birth_of(pid_t pid, const Fd& pidfd) {
  constexpr auto kPidFs = 0x50494446;  // PID_FS_MAGIC of linux/magic.h, newer than Debian 12's
  struct statfs system {};
  struct stat file {};
  if (::fstatfs(pidfd.get(), &system) == 0 && system.f_type == kPidFs &&
      ::fstat(pidfd.get(), &file) == 0)
    return file.st_ino;
  return start_ticks_of(pid);
}

}  // namespace

uint64_t Process::started_ns() const {
  const auto ticks_in_second = static_cast<uint64_t>(::sysconf(_SC_CLK_TCK));
  return start_ticks_of(pid_) * (1'000'000'000 / ticks_in_second);
}

Result<Process> Process::open(pid_t pid) {
  if (pid <= 0) return Error{Code::invalid, std::to_string(pid) + " is no process id"};
  Fd pidfd{static_cast<int>(syscall(SYS_pidfd_open, pid, 0))};
  if (pidfd) {
    const uint64_t birth = birth_of(pid, pidfd);
    return Process{pid, std::move(pidfd), birth};
  }
  int err = errno;
  // For a thread that is not a process, older kernels return EINVAL, newer ones ENOENT.
  if (err != ESRCH && err != EINVAL && err != ENOENT)
    return Error::from_errno("open " + process_name(pid), err);
  pid_t owner = thread_group(pid);
  if (owner == 0 || owner == pid) return no_such_process(pid);
  return Error{Code::invalid, std::to_string(pid) + " is a thread of process " +
                                  std::to_string(owner) + "; name the process"};
}

// Before Linux 6.5 only the PID is known; it may be another process's by now.
Result<Process> Process::at_other_end(int socket) {
  ucred credentials{};
  socklen_t bytes = sizeof(credentials);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0)
    return Error::from_errno("credentials of a peer");
  if (credentials.pid == 0)
    return Error{Code::not_found, "the peer is in a PID namespace that cannot be seen from here"};
  constexpr int kPeerPidfd = 77;  // SO_PEERPIDFD of asm-generic/socket.h, newer than Debian 12's
  int fd = -1;
  bytes = sizeof(fd);
  if (::getsockopt(socket, SOL_SOCKET, kPeerPidfd, &fd, &bytes) != 0) {
    if (errno == ENOPROTOOPT) return open(credentials.pid);
    return Error::from_errno("process of a peer");
  }
  Fd pidfd{fd};
  const uint64_t birth = birth_of(credentials.pid, pidfd);
  return Process{credentials.pid, std::move(pidfd), birth};
}

std::optional<uint64_t> Process::image() const {
  const uint64_t start_of_stack = stat_field(pid_, 28);
  if (start_of_stack == 0 || !still_there()) return std::nullopt;
  return start_of_stack;
}

Result<bool> Process::alive() const {
  pollfd ended{.fd = pidfd(), .events = POLLIN, .revents = 0};
  if (poll(&ended, 1, 0) < 0) return Error::from_errno("poll " + process_name(pid_));
  return ended.revents == 0;
}

Status Process::still_there() const {
  auto is_alive = alive();
  if (!is_alive) return is_alive.error();
  if (!*is_alive) return Error{Code::not_found, process_name(pid_) + " has ended"};
  return ok();
}

std::string Process::proc_path(const std::string& name) const {
  return "/proc/" + std::to_string(pid_) + "/" + name;
}

}  // namespace tracectl
