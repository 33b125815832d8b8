// SPDX-License-Identifier: BSD-2-Clause
#include "client/ui/process_table.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "daemon/process/running.h"

namespace tracectl::ui {
namespace {

constexpr size_t kMostOfCommand = 4096;  // bytes; arguments can have megabytes

std::string directory_of(pid_t pid) { return "/proc/" + std::to_string(pid); }

// Arguments end with a 0 each. Empty: a kernel thread, or the process has ended.
std::string command_of(pid_t pid) {
  std::ifstream file(directory_of(pid) + "/cmdline");
  std::string command(kMostOfCommand, '\0');
  file.read(command.data(), kMostOfCommand);
  command.resize(static_cast<size_t>(file.gcount()));
  while (!command.empty() && command.back() == '\0') command.pop_back();
  std::ranges::replace(command, '\0', ' ');
  return command;
}

// The fields of /proc/PID/stat after the name, which is in parentheses and can have any characters.
std::vector<std::string> stat_fields(pid_t pid) {
  std::ifstream file(directory_of(pid) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::istringstream rest(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  return {std::istream_iterator<std::string>(rest), {}};
}

uint64_t number_in(const std::vector<std::string>& fields, size_t index) {
  return index < fields.size() ? std::strtoull(fields[index].c_str(), nullptr, 10) : 0;
}

}  // namespace

std::vector<ProcessRow> ProcessTable::read() {
  constexpr size_t kUserTicks = 11, kSystemTicks = 12, kStarted = 19;  // proc(5), less 3
  const auto now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - last_at_).count();
  std::vector<ProcessRow> rows;
  std::map<pid_t, Used> used;
  for (const pid_t pid : all_processes()) {
    struct stat status {};
    if (pid == ::getpid() || ::stat(directory_of(pid).c_str(), &status) != 0) continue;
    std::string command = command_of(pid);
    if (command.empty()) continue;
    const auto fields = stat_fields(pid);
    used[pid] = {number_in(fields, kStarted),
                 number_in(fields, kUserTicks) + number_in(fields, kSystemTicks)};
    rows.push_back(
        {pid, name_of(status.st_uid), std::move(command), percent_of(pid, used[pid], seconds)});
  }
  last_ = std::move(used);
  last_at_ = now;
  return rows;
}

std::string ProcessTable::name_of(uid_t user) {
  const auto [known, is_new] = users_.try_emplace(user, std::to_string(user));
  if (const passwd* entry = is_new ? ::getpwuid(user) : nullptr) known->second = entry->pw_name;
  return known->second;
}

std::optional<double> ProcessTable::percent_of(pid_t pid, const Used& now, double seconds) const {
  const auto before = last_.find(pid);
  const bool is_same = before != last_.end() && before->second.started == now.started;
  if (!is_same || now.ticks < before->second.ticks || seconds <= 0) return std::nullopt;
  const double ticks = static_cast<double>(now.ticks - before->second.ticks);
  return 100 * ticks / static_cast<double>(::sysconf(_SC_CLK_TCK)) / seconds;
}

}  // namespace tracectl::ui
