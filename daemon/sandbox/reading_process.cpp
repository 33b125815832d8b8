// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sandbox/reading_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <utility>

#include "daemon/base/bytes.h"
#include "daemon/base/clock.h"
#include "daemon/sandbox/confinement.h"
#include "daemon/sandbox/reading_main.h"
#include "daemon/sandbox/stack_wire.h"

namespace tracectl {
namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000;
constexpr size_t kTakenAtOnce = 1 << 20;
constexpr timeval kMostSendTime{0, 200'000};  // a process that does not read messages is not sane
constexpr int kMostExitTimeMs = 1000;

// Executes a process with a single descriptor, as its number 0.
class Spawned {
 public:
  static Result<pid_t> start(int socket) {
    Spawned how;
    ::posix_spawn_file_actions_adddup2(&how.files_, socket, 0);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&how.attributes_, &none);
    ::posix_spawnattr_setflags(&how.attributes_, POSIX_SPAWN_SETSIGMASK);
    std::string name = kReadingName;
    const std::array<char*, 2> arguments{name.data(), nullptr};
    const std::array<char*, 1> environment{nullptr};
    pid_t pid = -1;
    const int err = ::posix_spawn(&pid, "/proc/self/exe", &how.files_, &how.attributes_,
                                  arguments.data(), environment.data());
    if (err != 0) return Error::from_errno("start a process that reads files", err);
    return pid;
  }

  Spawned() {
    ::posix_spawn_file_actions_init(&files_);
    ::posix_spawnattr_init(&attributes_);
  }
  ~Spawned() {
    ::posix_spawn_file_actions_destroy(&files_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  Spawned(const Spawned&) = delete;
  Spawned& operator=(const Spawned&) = delete;

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

// Ended processes that could not be waited for yet: a read from a file system that hangs ends late.
// Shared by all threads.
class Ending {
 public:
  void add(pid_t pid) {
    const std::lock_guard lock(mutex_);
    processes_.push_back(pid);
  }
  void wait_for_some() {
    const std::lock_guard lock(mutex_);
    processes_.remove_if([](pid_t pid) { return ::waitpid(pid, nullptr, WNOHANG) != 0; });
  }

 private:
  std::mutex mutex_;
  std::list<pid_t> processes_;
};

Ending& ending() {
  static Ending processes;
  return processes;
}

// Its status, if it ends soon.
std::optional<int> status_of_ending(pid_t pid) {
  const Fd handle{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
  pollfd end{.fd = handle.get(), .events = POLLIN, .revents = 0};
  if (handle) (void)::poll(&end, 1, kMostExitTimeMs);
  int status = 0;
  if (::waitpid(pid, &status, WNOHANG) == pid) return status;
  ending().add(pid);
  return std::nullopt;
}

std::string numbered(uint64_t file, std::string_view rest) {
  std::string bytes;
  ByteWriter(bytes).varint(file);
  bytes += rest;
  return bytes;
}

}  // namespace

Result<std::unique_ptr<ReadingProcess>> ReadingProcess::start(const ReadingLimits& limits) {
  ending().wait_for_some();
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return Error::from_errno("socketpair");
  Fd ours{ends[0]};
  const Fd theirs{ends[1]};
  if (::setsockopt(ours.get(), SOL_SOCKET, SO_SNDTIMEO, &kMostSendTime, sizeof(kMostSendTime)) != 0)
    return Error::from_errno("SO_SNDTIMEO");
  auto pid = Spawned::start(theirs.get());
  if (!pid) return pid.error();
  return std::unique_ptr<ReadingProcess>{new ReadingProcess(*pid, std::move(ours), limits)};
}

ReadingProcess::ReadingProcess(pid_t pid, Fd socket, const ReadingLimits& limits)
    : pid_(pid), socket_(std::move(socket)), limits_(limits) {}

ReadingProcess::~ReadingProcess() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ending().add(pid_);
  ending().wait_for_some();
}

// ---- questions ----

bool ReadingProcess::has(uint64_t file) const {
  return std::find(files_.begin(), files_.end(), file) != files_.end();
}

uint64_t ReadingProcess::deadline_ns() const {
  return asked_ns_ ? asked_ns_ + limits_.time_s * kNsPerSecond : 0;
}

Status ReadingProcess::open(uint64_t file, const std::string& path, int descriptor,
                            const NamedDebugFile* named) {
  if (auto room = make_room(); !room) return room;
  const auto send = [&](wire::Kind kind, const std::string& its_path, int its_descriptor) {
    std::string with_path;
    ByteWriter(with_path).text(its_path);
    return WireSocket(fd()).send(kind, numbered(file, with_path), its_descriptor);
  };
  if (named)
    if (auto sent = send(wire::Kind::named_debug_file, named->path, named->fd.get()); !sent)
      return sent;
  auto sent = send(wire::Kind::open, path, descriptor);
  if (sent) files_.push_front(file);
  return sent;
}

Status ReadingProcess::load(uint64_t program, const std::vector<LoadedFile>& files) {
  if (auto room = make_room(); !room) return room;
  for (const LoadedFile& loaded : files) {
    const std::string place = wire::encode(wire::LoadedPlace{loaded.file->path, loaded.ranges});
    auto sent =
        WireSocket(fd()).send(wire::Kind::load, numbered(program, place), loaded.file->fd.get());
    if (!sent) return sent;
  }
  files_.push_front(program);
  return ok();
}

Status ReadingProcess::make_room() {
  return files_.size() < kMostFiles ? ok() : close(files_.back());
}

Status ReadingProcess::close(uint64_t file) {
  files_.remove(file);
  return WireSocket(fd()).send(wire::Kind::close, numbered(file, {}));
}

Status ReadingProcess::close_all() {
  while (!files_.empty())
    if (auto closed = close(files_.front()); !closed) return closed;
  return ok();
}

Status ReadingProcess::ask(wire::Kind kind, uint64_t file, std::string_view question) {
  if (auto limited = limit_cpu(); !limited) return limited;
  files_.remove(file);
  files_.push_front(file);
  auto sent = WireSocket(fd()).send(kind, numbered(file, question));
  if (sent) asked_ns_ = boot_ns();
  return sent;
}

Status ReadingProcess::give(int descriptor) {
  return WireSocket(fd()).send(wire::Kind::debug_file, {}, descriptor);
}

// The limit is on all its CPU time, so it counts from the time used so far. At the limit the kernel
// sends a signal, which the process cannot catch: it may neither install handlers nor block
// signals.
Status ReadingProcess::limit_cpu() const {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &used) != 0)
    return Error{Code::kernel, "a process that reads files has ended"};
  const rlimit limit{static_cast<rlim_t>(used.tv_sec) + 1 + limits_.cpu_s, RLIM_INFINITY};
  if (::prlimit(pid_, RLIMIT_CPU, &limit, nullptr) != 0) return Error::from_errno("prlimit");
  return ok();
}

// ---- answers ----

// Receives available data, up to a bound; the rest is left for the next call. False if no more will
// come.
bool ReadingProcess::fill() {
  std::array<char, 64 << 10> buffer;
  for (size_t taken = 0; taken < kTakenAtOnce;) {
    const ssize_t count = ::recv(fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 && errno == EAGAIN;
    received_.append(buffer.data(), static_cast<size_t>(count));
    taken += static_cast<size_t>(count);
  }
  return true;
}

std::variant<ReadingProcess::Nothing, ReadingProcess::Answer, ReadingProcess::Wish,
             ReadingProcess::Death>
ReadingProcess::receive() {
  const bool lives = fill();
  const auto frame = wire::first_frame(received_);
  if (!frame || (!lives && !*frame)) return death();
  if (!*frame) return Nothing{};
  const wire::Kind kind = (*frame)->kind;
  std::string bytes((*frame)->bytes);
  received_.erase(0, wire::size_of(**frame));
  // The process may send one message at a time, and only when asked.
  if (!is_busy() || !received_.empty()) return death();
  if (kind == wire::Kind::wish) return Wish{std::move(bytes)};
  if (kind != wire::Kind::answer) return death();
  asked_ns_ = 0;
  return Answer{std::move(bytes)};
}

// Nobody waits for its end, because releasing much memory takes a while.
ReadingProcess::Death ReadingProcess::stop() {
  ::kill(pid_, SIGKILL);
  ending().add(std::exchange(pid_, -1));
  ending().wait_for_some();
  return {"reading it took more than " + std::to_string(limits_.time_s) + " s"};
}

ReadingProcess::Death ReadingProcess::death() {
  ::kill(pid_, SIGKILL);
  const auto status = status_of_ending(std::exchange(pid_, -1));
  return {status ? reason_of(*status) : "the process that was reading it does not end"};
}

std::string ReadingProcess::reason_of(int status) const {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
    return "reading it took more than " + std::to_string(limits_.cpu_s) + " s of CPU time";
  if (WIFEXITED(status) && WEXITSTATUS(status) == kOutOfMemory)
    return "reading it took more than " + std::to_string(kMostReadingMemory >> 30) +
           " GiB of memory";
  const std::string how = WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                              : "status " + std::to_string(WEXITSTATUS(status));
  return "it is damaged in a way that ended the process that was reading it (" + how + ")";
}

}  // namespace tracectl
