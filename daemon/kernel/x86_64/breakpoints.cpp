// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/breakpoints.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "daemon/kernel/confine.h"
#include "daemon/kernel/own_child.h"
#include "daemon/kernel/uprobe_multi.h"

namespace tracectl {
namespace {

constexpr size_t kReach = size_t{2} << 30;  // of a call, forwards and backwards
constexpr size_t kNopBytes = 5;
constexpr uint8_t kReturn = 0xc3;
constexpr uint8_t kBreakpoint = 0xcc;
constexpr int kAnswerLimitMs = 5'000;  // ten thousand hits take some 30 ms

// ---- in the child: only what is safe after a fork in a program with threads ----

// A private mapping of part of a file, in which some 5-byte nops are each followed by a return, with no
// free page within reach. It stays until the process ends.
class Ground {
 public:
  // Returns 0, or an errno: there is no room, or the file ends right after a nop.
  int lay(int object_fd, std::span<const uint64_t> offsets) {
    const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    const auto [first, last] = std::minmax_element(offsets.begin(), offsets.end());
    const uint64_t end = *last + kNopBytes + 1;
    struct stat file {};
    if (::fstat(object_fd, &file) != 0) return errno;
    if (end > static_cast<uint64_t>(file.st_size)) return EINVAL;
    start_ = *first / page * page;
    const size_t size = (end - start_ + page - 1) / page * page;
    void* space = ::mmap(nullptr, 2 * (kReach + page) + size, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED) return errno;
    code_ = static_cast<uint8_t*>(space) + kReach + page;
    return map(object_fd, size, offsets);
  }

  // Hits the probe there, and returns whether it is still a breakpoint.
  bool hit(uint64_t offset) const {
    uint8_t* site = code_ + (offset - start_);
    reinterpret_cast<void (*)()>(site)();
    return *const_cast<volatile uint8_t*>(site) == kBreakpoint;
  }

 private:
  int map(int object_fd, size_t size, std::span<const uint64_t> offsets) {
    if (::mmap(code_, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, object_fd,
               static_cast<off_t>(start_)) == MAP_FAILED)
      return errno;
    for (const uint64_t offset : offsets) code_[offset - start_ + kNopBytes] = kReturn;
    if (::mprotect(code_, size, PROT_READ | PROT_EXEC) == 0) return 0;
    return map_as_code(object_fd, size, offsets);
  }

  // For sandboxes in which written memory cannot become executable (MemoryDenyWriteExecute= of systemd):
  // the file is mapped as code at once, and written to as a debugger does.
  int map_as_code(int object_fd, size_t size, std::span<const uint64_t> offsets) {
    if (::mmap(code_, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, object_fd,
               static_cast<off_t>(start_)) == MAP_FAILED)
      return errno;
    const int memory = ::open("/proc/self/mem", O_WRONLY | O_CLOEXEC);
    if (memory < 0) return errno;
    int err = 0;
    for (const uint64_t offset : offsets) {
      const auto end = reinterpret_cast<off_t>(code_ + (offset - start_) + kNopBytes);
      if (::pwrite(memory, &kReturn, 1, end) != 1) err = errno;
    }
    ::close(memory);
    return err;
  }

  uint8_t* code_ = nullptr;
  uint64_t start_ = 0;  // its offset in the file
};

// In the child the socket is descriptor 0.
bool report(int err) { return ::write(0, &err, sizeof(err)) == sizeof(err); }
bool may_go() {
  char go = 0;
  return ::read(0, &go, 1) == 1;
}

// All that the child does: it reports whether the mapping is made, and then whether all breakpoints stayed.
[[noreturn]] void live(pid_t parent, int socket, int object_fd, std::span<const uint64_t> offsets) {
  Ground ground;
  int err = ground.lay(object_fd, offsets);
  if (confine(socket, parent) != 0 && err == 0) err = kCannotConfine;
  if (report(err) && err == 0 && may_go()) {
    const bool kept = std::all_of(offsets.begin(), offsets.end(),
                                  [&](uint64_t offset) { return ground.hit(offset); });
    report(kept ? 0 : EOPNOTSUPP);
  }
  for (;;) ::syscall(SYS_exit, 0);  // _exit() would end all threads, which is another system call
}

// ---- in this process ----

// After its first hit everything it sends may come from whoever wrote the file.
class HittingChild {
 public:
  // Returns when the child has mapped the file and waits. On failure returns none and sets errno.
  static std::optional<HittingChild> start(int object_fd, std::span<const uint64_t> offsets) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return std::nullopt;
    Fd ours{ends[0]};
    const Fd its{ends[1]};
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) return std::nullopt;
    if (pid == 0) live(parent, its.get(), object_fd, offsets);
    HittingChild child(pid, std::move(ours));
    errno = child.answer();
    if (errno != 0) return std::nullopt;
    return child;
  }

  pid_t pid() const { return child_.pid(); }

  // Returns 0, EOPNOTSUPP or ENOEXEC.
  int hit_all() {
    if (::send(socket_.get(), "", 1, MSG_NOSIGNAL) != 1) return ENOEXEC;
    const int said = answer();
    return said == 0 || said == EOPNOTSUPP ? said : ENOEXEC;
  }

 private:
  HittingChild(pid_t pid, Fd socket) : socket_(std::move(socket)), child_(pid) {}

  int answer() {
    pollfd said{socket_.get(), POLLIN, 0};
    int ready = 0;
    while ((ready = ::poll(&said, 1, kAnswerLimitMs)) < 0 && errno == EINTR) {}
    int err = 0;
    if (ready != 1 || ::recv(socket_.get(), &err, sizeof(err), 0) != sizeof(err)) return ENOEXEC;
    return err;
  }

  Fd socket_;
  OwnChild child_;
};

}  // namespace

std::vector<Fd> keep_breakpoints(int program_fd, int object_fd, std::span<const uint64_t> offsets,
                                 std::span<const uint64_t> semaphores, const IgnoreHits& ignore) {
  std::vector<Fd>
      links;  // closed after the child has ended: no breakpoints have to be removed from it then
  auto child = HittingChild::start(object_fd, offsets);
  if (!child) return {};
  // A link without cookies is for no slot, so the program ends at once.
  links = arm_uprobes({.program_fd = program_fd,
                       .object_fd = object_fd,
                       .filter = child->pid(),
                       .offsets = offsets,
                       .semaphores = semaphores});
  if (links.empty()) return {};
  ignore(child->pid());
  const int err = child->hit_all();
  child.reset();  // one that did not answer may still be hitting probes
  ignore(0);
  if (err != 0) links.clear();
  errno = err;
  return links;
}

}  // namespace tracectl
