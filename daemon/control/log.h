// SPDX-License-Identifier: BSD-2-Clause
//
// The daemon's log: lines on standard error, or entries with fields if that is the journal. Any thread may log. spdlog
// is behind it and is compiled in one source, because it takes seconds. A line for which memory is short is lost.
#pragma once

#include <fmt/core.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spdlog {
class logger;
namespace details {
class thread_pool;
}
}  // namespace spdlog

namespace tracectl {

enum class LogLevel { info, warning, error };
void write_log(LogLevel level, fmt::string_view text, fmt::format_args values);

template <class... T> void log_info(fmt::format_string<T...> text, T&&... values) {
  write_log(LogLevel::info, text, fmt::make_format_args(values...));
}
template <class... T> void log_warning(fmt::format_string<T...> text, T&&... values) {
  write_log(LogLevel::warning, text, fmt::make_format_args(values...));
}
template <class... T> void log_error(fmt::format_string<T...> text, T&&... values) {
  write_log(LogLevel::error, text, fmt::make_format_args(values...));
}

void open_log();
void set_log_verbose(bool verbose);
// For tracectl without a daemon: errors on standard error, and everything if it is to be verbose.
void open_command_log(bool verbose);

// While it exists, lines are queued for a thread that writes them, so a slow or stuck reader of standard error or
// the journal blocks no thread that logs. If the queue is full its oldest line is lost; the number of lost lines is
// logged. The destructor waits until all is written. Signals that the process handles elsewhere must be blocked
// before it is made.
class QueuedLog {
 public:
  QueuedLog();
  ~QueuedLog();
  QueuedLog(const QueuedLog&) = delete;
  QueuedLog& operator=(const QueuedLog&) = delete;

 private:
  std::shared_ptr<spdlog::logger> direct_;
  std::shared_ptr<spdlog::details::thread_pool> writing_;
};

// Logs the error that this process ends with, to standard error. The journal reads /proc to find the unit of an
// entry, and would find nothing after the process has ended; it knows the unit of standard error.
void log_last(const std::string& message);

// The journal fields of a line that begins like `commit session=s uid=0 pid=25194 epoch=1`:
// TRACECTL_ACTION=commit, TRACECTL_SESSION=s, and so on to the first word of another form. None for other
// lines.
using JournalField = std::pair<std::string, std::string>;
std::vector<JournalField> journal_fields(std::string_view line);

}  // namespace tracectl
