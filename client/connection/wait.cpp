// SPDX-License-Identifier: BSD-2-Clause
#include "client/connection/wait.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cmath>

namespace tracectl {

Result<Waiter> Waiter::open() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGINT);
  ::sigaddset(&signals, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  Fd fd{::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK)};
  if (!fd) return Error::from_errno("signalfd");
  return Waiter{std::move(fd)};
}

Status Waiter::end_after(double seconds) {
  timer_ = Fd{::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)};
  if (!timer_) return Error::from_errno("timerfd");
  const double whole = std::floor(seconds);
  itimerspec when{};
  when.it_value.tv_sec = static_cast<time_t>(whole);
  when.it_value.tv_nsec = static_cast<long>((seconds - whole) * 1e9);
  if (when.it_value.tv_sec == 0 && when.it_value.tv_nsec == 0) when.it_value.tv_nsec = 1;
  if (::timerfd_settime(timer_.get(), 0, &when, nullptr) != 0) return Error::from_errno("timerfd");
  return ok();
}

// Consumes the signal, so that a later wait ends only at the next one.
void Waiter::take_signal() {
  signalfd_siginfo signal;
  (void)!::read(signals_.get(), &signal, sizeof(signal));
}

void Waiter::forget_ended() {
  std::erase_if(pidfds_, [](int pidfd) {
    pollfd one{pidfd, POLLIN, 0};
    return ::poll(&one, 1, 0) > 0;
  });
}

Result<Ended> Waiter::run(int events_fd, const std::function<Result<bool>()>& on_events,
                          int every_ms) {
  const bool has_targets = !pidfds_.empty();
  // Events that arrived before an answer were received with it, so nothing is readable for them: ask first.
  for (int wait_ms = events_fd < 0 ? every_ms : 0;; wait_ms = every_ms) {
    std::vector<pollfd> fds{{signals_.get(), POLLIN, 0},
                            {timer_ ? timer_.get() : -1, POLLIN, 0},
                            {events_fd, POLLIN, 0},
                            {socket_, POLLRDHUP, 0}};
    for (const int pidfd : pidfds_) fds.push_back({pidfd, POLLIN, 0});
    const int ready = ::poll(fds.data(), fds.size(), wait_ms);
    if (ready < 0 && errno != EINTR) return Error::from_errno("poll");
    if (fds[2].revents || ready == 0) {
      auto more = on_events();
      if (!more) return more.error();
      if (!*more) return Ended::output_closed;
    }
    if (fds[3].revents) return Error{Code::not_found, "the daemon has closed the connection"};
    if (fds[0].revents) return take_signal(), Ended::interrupted;
    if (fds[1].revents) return Ended::time;
    forget_ended();
    if (has_targets && pidfds_.empty()) return Ended::targets;
  }
}

Result<std::optional<Ended>> Waiter::wait(int fd, int longest_ms) {
  pollfd fds[] = {
      {signals_.get(), POLLIN, 0}, {timer_ ? timer_.get() : -1, POLLIN, 0}, {fd, POLLIN, 0}};
  if (::poll(fds, std::size(fds), longest_ms) < 0 && errno != EINTR)
    return Error::from_errno("poll");
  if (fds[0].revents) return take_signal(), std::optional(Ended::interrupted);
  if (fds[1].revents) return std::optional(Ended::time);
  return std::optional<Ended>{};
}

Result<bool> Waiter::wait_for_end(int pidfd) {
  for (;;) {
    pollfd fds[] = {{signals_.get(), POLLIN, 0}, {pidfd, POLLIN, 0}};
    if (::poll(fds, std::size(fds), -1) < 0 && errno != EINTR) return Error::from_errno("poll");
    if (fds[1].revents) return false;
    if (fds[0].revents) return take_signal(), true;
  }
}

}  // namespace tracectl
