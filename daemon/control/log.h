// SPDX-License-Identifier: BSD-2-Clause
//
// The daemon's log: lines on standard error, or entries with fields where that is the journal.
#pragma once

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

void open_log();
void set_log_verbose(bool verbose);

// While it lives, lines wait in a queue for a thread that writes them, so whoever reads standard error or the
// journal slowly, or not at all, holds up nobody who logs. Where the queue is full its oldest line is lost; how
// many were is logged. The end waits until all is written. Signals that the process takes elsewhere must be
// blocked before it is made.
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

// The error that this process ends with. The journal looks into /proc to learn of which unit an entry is, and
// finds nothing of a process that has ended; of standard error it knows.
void log_last(const std::string& message);

// What a line says that begins like `commit session=s uid=0 pid=25194 epoch=1`, as fields of the
// journal: TRACECTL_ACTION=commit, TRACECTL_SESSION=s, and so on to the first other word. None of
// any other line.
using JournalField = std::pair<std::string, std::string>;
std::vector<JournalField> journal_fields(std::string_view line);

}  // namespace tracectl
