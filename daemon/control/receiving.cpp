// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/receiving.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "daemon/base/sent_fds.h"

namespace tracectl {
namespace {

constexpr const char* kOfFuse =
    "is on a FUSE file system, whose process decides when a read returns, if ever: copy the file "
    "to another file system";

// Both calls ask the process of a FUSE file system.
Status check(const Fd& fd) {
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return Error::from_errno("look at a descriptor that came");
  if (!S_ISREG(status.st_mode))
    return Error{Code::invalid, "a descriptor came that is not of a regular file"};
  struct statfs system {};
  if (::fstatfs(fd.get(), &system) != 0) return Error::from_errno("look at a descriptor that came");
  if (system.f_type != FUSE_SUPER_MAGIC) return ok();
  return Error{Code::invalid, std::string("a descriptor came that ") + kOfFuse};
}

std::optional<Error> error_of(const Receiving::Received& received, bool truncated) {
  if (truncated) return Error{Code::exhausted, "more descriptors came than requests that take one"};
  for (const Fd& fd : received.descriptors)
    if (auto good = check(fd); !good) return good.error();
  return std::nullopt;
}

Receiving::Received receive_from(const Fd& socket, const Receiving::Bounds& bounds) {
  Receiving::Received received;
  received.bytes.resize(bounds.bytes);
  std::vector<cmsghdr> control(CMSG_SPACE(bounds.descriptors * sizeof(int)) / sizeof(cmsghdr) + 1);
  iovec bytes{received.bytes.data(), received.bytes.size()};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(bounds.descriptors * sizeof(int));
  const ssize_t count = ::recvmsg(socket.get(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  received.bytes.resize(count > 0 ? static_cast<size_t>(count) : 0);
  received.ended = count == 0;
  if (count < 0 && errno != EAGAIN && errno != EINTR)
    received.error = Error::from_errno("receive a request");
  if (count < 0) return received;
  received.descriptors = sent_fds(message);
  received.error = error_of(received, message.msg_flags & MSG_CTRUNC);
  if (received.error) received.descriptors.clear();
  return received;
}

}  // namespace

// Shared with the threads, which may outlive the Receiving that started them.
struct Receiving::Shared {
  // Receives from the connection of this number; without a number the socket is closed.
  struct Job {
    std::optional<uint64_t> connection;
    Fd socket;
  };
  struct User {
    std::deque<Job> jobs;
    size_t closing = 0;  // sockets to close, with the one that is being closed
    bool has_thread = false;
  };

  Bounds bounds{};
  Fd wake;
  std::mutex mutex;  // of everything below
  std::map<uid_t, User> users;
  std::vector<Received> done;
  size_t threads = 0;

  static void add(const std::shared_ptr<Shared>& shared, uid_t user, Job job);
  static void run(const std::shared_ptr<Shared>& shared, uid_t user);
  std::optional<Job> next(uid_t& user);
  std::optional<uid_t> without_thread();
  void finish(uid_t user, Job job);
};

void Receiving::Shared::add(const std::shared_ptr<Shared>& shared, uid_t user, Job job) {
  const std::lock_guard lock(shared->mutex);
  User& of = shared->users[user];
  of.closing += !job.connection;
  of.jobs.push_back(std::move(job));
  if (of.has_thread || shared->threads == kMostThreads) return;
  try {
    std::thread([shared, user] { run(shared, user); }).detach();
  } catch (const std::system_error&) {
    return;  // the next thread that finishes, or is made for the user, does the job
  }
  of.has_thread = true;
  ++shared->threads;
}

void Receiving::Shared::run(const std::shared_ptr<Shared>& shared, uid_t user) {
  while (auto job = shared->next(user)) shared->finish(user, std::move(*job));
}

// The user's next job, or that of a user without a thread if it has none left; sets `user` to that one then.
std::optional<Receiving::Shared::Job> Receiving::Shared::next(uid_t& user) {
  const std::lock_guard lock(mutex);
  if (users[user].jobs.empty()) {
    users.erase(user);
    const auto other = without_thread();
    if (!other) {
      --threads;
      return std::nullopt;
    }
    user = *other;
    users[user].has_thread = true;
  }
  auto& jobs = users[user].jobs;
  Job job = std::move(jobs.front());
  jobs.pop_front();
  return job;
}

std::optional<uid_t> Receiving::Shared::without_thread() {
  for (const auto& [user, of] : users)
    if (!of.has_thread) return user;
  return std::nullopt;
}

// Everything that can block for ever is done without the lock.
void Receiving::Shared::finish(uid_t user, Job job) {
  std::optional<Received> received;
  if (job.connection) {
    received = receive_from(job.socket, bounds);
    received->connection = *job.connection;
  }
  job.socket.reset();
  const std::lock_guard lock(mutex);
  if (!received) {
    --users[user].closing;
    return;
  }
  done.push_back(std::move(*received));
  const uint64_t one = 1;
  (void)!::write(wake.get(), &one, sizeof(one));
}

Result<std::unique_ptr<Receiving>> Receiving::start(const Bounds& bounds) {
  auto shared = std::make_shared<Shared>();
  shared->bounds = bounds;
  shared->wake = Fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!shared->wake) return Error::from_errno("eventfd");
  return std::unique_ptr<Receiving>{new Receiving(std::move(shared))};
}

Receiving::~Receiving() = default;

int Receiving::fd() const { return shared_->wake.get(); }

Status Receiving::receive(uint64_t connection, uid_t user, const Fd& socket) {
  Fd copy{::fcntl(socket.get(), F_DUPFD_CLOEXEC, 0)};
  if (!copy) return Error::from_errno("receive descriptors");
  Shared::add(shared_, user, {connection, std::move(copy)});
  return ok();
}

std::vector<Receiving::Received> Receiving::take() {
  uint64_t count = 0;
  (void)!::read(fd(), &count, sizeof(count));
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->done, {});
}

void Receiving::let_go(uid_t user, Fd socket) {
  Shared::add(shared_, user, {std::nullopt, std::move(socket)});
}

size_t Receiving::let_go_of(uid_t user) const {
  const std::lock_guard lock(shared_->mutex);
  const auto found = shared_->users.find(user);
  return found == shared_->users.end() ? 0 : found->second.closing;
}

ComesNext look_ahead(const Fd& socket, char* buffer, size_t size) {
  iovec bytes{buffer, size};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  const ssize_t count = ::recvmsg(socket.get(), &message, MSG_PEEK | MSG_DONTWAIT);
  return {count, (message.msg_flags & MSG_CTRUNC) != 0};
}

}  // namespace tracectl
