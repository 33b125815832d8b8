// SPDX-License-Identifier: BSD-2-Clause
#include "client/output/pager.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "client/output/lent.h"
#include "client/output/output.h"

namespace tracectl {
namespace {

constexpr const char* kUsualPager = "less";
constexpr int kNoSuchCommand = 127;  // of the shell

bool fits(const std::string& text, size_t lines) {
  return static_cast<size_t>(std::ranges::count(text, '\n')) < lines;
}

std::string chosen_pager() {
  for (const char* variable : {"TRACECTL_PAGER", "PAGER"})
    if (const char* command = std::getenv(variable)) {
      if (!*command || std::string_view(command) == "cat") return "";
      return is_lent() ? kUsualPager : command;
    }
  return kUsualPager;
}

// While it exists, ^C and ^\ are the pager's, and writing to one that has ended is no reason to end.
class LeavesSignalsToPager {
 public:
  LeavesSignalsToPager() {
    for (Kept& one : kept_) one.before = ::signal(one.number, SIG_IGN);
  }
  ~LeavesSignalsToPager() {
    for (const Kept& one : kept_) ::signal(one.number, one.before);
  }
  LeavesSignalsToPager(const LeavesSignalsToPager&) = delete;
  LeavesSignalsToPager& operator=(const LeavesSignalsToPager&) = delete;

 private:
  struct Kept {
    int number;
    void (*before)(int) = nullptr;
  };
  Kept kept_[3]{{SIGINT}, {SIGQUIT}, {SIGPIPE}};
};

// False if there is no such pager.
bool show_in(const std::string& pager, const std::string& text) {
  std::fflush(stdout);
  ::setenv("LESS", "FRX", 0);  // as git: leaves no screen behind
  if (is_lent()) ::setenv("LESSSECURE", "1", 1);
  FILE* input = ::popen(pager.c_str(), "we");
  if (!input) return false;
  const LeavesSignalsToPager signals;
  std::fwrite(text.data(), 1, text.size(), input);
  const int status = ::pclose(input);
  return !WIFEXITED(status) || WEXITSTATUS(status) != kNoSuchCommand;
}

}  // namespace

void print_paged(const std::string& text, bool is_wanted) {
  const size_t lines = terminal_size().lines;
  const bool is_long = is_wanted && lines && !fits(text, lines);
  const std::string pager = is_long ? chosen_pager() : "";
  if (pager.empty() || !show_in(pager, text)) print(text);
}

}  // namespace tracectl
