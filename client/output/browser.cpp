// SPDX-License-Identifier: BSD-2-Clause
#include "client/output/browser.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "client/output/lent.h"

namespace tracectl {
namespace {

constexpr int kShellFoundNone = 127;  // of the shell

std::string chosen_browser() {
  const char* chosen = std::getenv("BROWSER");
  return chosen && *chosen ? chosen : "xdg-open";
}

// The shell's exit status, or -1.
int run(const std::string& command, const std::string& argument) {
  const std::string script = command + " \"$1\"";
  const char* words[] = {"sh", "-c", script.c_str(), "sh", argument.c_str(), nullptr};
  pid_t shell = 0;
  if (::posix_spawn(&shell, "/bin/sh", nullptr, nullptr, const_cast<char**>(words), environ) != 0)
    return -1;
  int status = 0;
  while (::waitpid(shell, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

Status open_in_browser(const std::string& file) {
  if (is_lent())
    return Error{Code::denied,
                 "--open starts no browser as another user than you: open " + file + " yourself"};
  std::error_code none;
  const std::string path = std::filesystem::absolute(file, none).string();
  const std::string browser = chosen_browser();
  const int status = run(browser, none ? file : path);
  if (status == kShellFoundNone)
    return Error{Code::not_found, "there is no command \"" + browser +
                                      "\": set $BROWSER, or open " + file + " yourself"};
  if (status != 0)
    return Error{Code::kernel, "\"" + browser + "\" failed: open " + file + " yourself"};
  return ok();
}

}  // namespace tracectl
