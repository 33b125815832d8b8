// SPDX-License-Identifier: BSD-2-Clause
#include "client/ui/ui.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <iterator>

#include "client/output/output.h"
#include "client/ui/asker.h"
#include "client/ui/model.h"
#include "client/ui/pictures.h"
#include "client/ui/terminal.h"

namespace tracectl::ui {
namespace {

using Clock = std::chrono::steady_clock;

sigset_t signals_of_ui() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP})
    ::sigaddset(&signals, signal);
  return signals;
}

double seconds_now() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

// Moves keys, answers and the time to the model, and its requests and pictures to where they belong.
class Loop {
 public:
  Loop(Model& model, Terminal& terminal, Signals& signals, Asker& asker)
      : model_(model), terminal_(terminal), signals_(signals), asker_(asker) {}

  // Returns the exit status.
  Result<int> run();

 private:
  static constexpr double kProcessesEvery_s = 1;

  void look_at_processes();
  Result<bool> wait();
  void take_keys();
  void take_answers();
  // False: it ends the interface.
  bool take_signal();

  Model& model_;
  Terminal& terminal_;
  Signals& signals_;
  Asker& asker_;
  ProcessTable table_;
  double processes_at_s_ = 0;
};

Result<int> Loop::run() {
  while (!model_.is_over()) {
    look_at_processes();
    model_.tick(seconds_now());
    for (Request& request : model_.take_requests()) asker_.ask(std::move(request));
    terminal_.draw(picture_of(model_, terminal_.size()));
    const auto goes_on = wait();
    if (!goes_on) return goes_on.error();
    if (!*goes_on) return int{kInterrupted};
  }
  return int{kDone};
}

void Loop::look_at_processes() {
  const bool has_none = model_.processes().all() == 0;
  if (!has_none && model_.screen() != Screen::processes) return;
  if (seconds_now() < processes_at_s_) return;
  model_.set_processes(table_.read());
  processes_at_s_ = seconds_now() + kProcessesEvery_s;
}

// Until something has come, or it is time to look whether something is due.
Result<bool> Loop::wait() {
  constexpr int kLookEveryMs = 100;
  pollfd fds[] = {{STDIN_FILENO, POLLIN, 0}, {signals_.fd(), POLLIN, 0}, {asker_.fd(), POLLIN, 0}};
  if (::poll(fds, std::size(fds), kLookEveryMs) < 0 && errno != EINTR)
    return Error::from_errno("poll");
  if (fds[1].revents && !take_signal()) return false;
  if (fds[2].revents) take_answers();
  if (fds[0].revents & (POLLHUP | POLLERR)) return false;
  take_keys();
  return true;
}

void Loop::take_keys() {
  for (auto key = terminal_.key(); key && !model_.is_over(); key = terminal_.key())
    model_.take(*key);
}

void Loop::take_answers() {
  for (Answer& answer : asker_.take_answers()) model_.take(std::move(answer));
}

bool Loop::take_signal() {
  switch (signals_.take()) {
    case 0: return true;
    case SIGWINCH: return terminal_.resize(), true;
    case SIGTSTP: return terminal_.suspend(), true;
    default: return false;
  }
}

// The terminal is the user's again when this returns.
Result<int> run_screens(std::optional<int64_t> pid, Signals& signals, Asker& asker) {
  auto terminal = Terminal::open();
  if (!terminal) return terminal.error();
  Model model(pid);
  return Loop(model, *terminal, signals, asker).run();
}

}  // namespace

Result<Signals> Signals::open() {
  const sigset_t signals = signals_of_ui();
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  Fd fd{::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK)};
  if (!fd) return Error::from_errno("signalfd");
  return Signals{std::move(fd)};
}

int Signals::take() {
  signalfd_siginfo signal{};
  return ::read(fd_.get(), &signal, sizeof(signal)) == sizeof(signal)
             ? static_cast<int>(signal.ssi_signo)
             : 0;
}

void Signals::release() {
  const sigset_t signals = signals_of_ui();
  ::sigprocmask(SIG_UNBLOCK, &signals, nullptr);
}

int run_ui(const CommonOptions& common, const TracingOptions& options, std::optional<int64_t> pid,
           Signals& signals, Backend& backend) {
  auto debug_files = NamedDebugFiles::open(common.debug_paths);
  if (!debug_files) return fail(debug_files.error());
  Fd readable{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!readable) return fail(Error::from_errno("eventfd"));
  Asker asker(common, options, backend, std::move(*debug_files), std::move(readable));
  const auto status = run_screens(pid, signals, asker);
  Signals::release();  // the engine may take long for its last request: ^C ends the process then
  if (const auto recorded = asker.end().end()) print_error(*recorded);
  return status ? *status : fail(status.error());
}

}  // namespace tracectl::ui
