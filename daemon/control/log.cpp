// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/log.h"

#include <spdlog/async.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/uio.h>
#include <syslog.h>
#include <unistd.h>

#define SD_JOURNAL_SUPPRESS_LOCATION  // it would be that of the sink
#include <systemd/sd-journal.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <mutex>
#include <new>

#include "daemon/base/service.h"

namespace tracectl {
namespace {

constexpr size_t kMostQueuedLines = 4096;

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::info: return spdlog::level::info;
    case LogLevel::warning: return spdlog::level::warn;
    case LogLevel::error: break;
  }
  return spdlog::level::err;
}

int priority_of(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::trace:
    case spdlog::level::debug: return LOG_DEBUG;
    case spdlog::level::info: return LOG_INFO;
    case spdlog::level::warn: return LOG_WARNING;
    case spdlog::level::err: return LOG_ERR;
    default: return LOG_CRIT;
  }
}

class JournalSink : public spdlog::sinks::base_sink<std::mutex> {
  void sink_it_(const spdlog::details::log_msg& message) override {
    const std::string_view line{message.payload.data(), message.payload.size()};
    std::vector<std::string> entry{"MESSAGE=" + std::string(line),
                                   "PRIORITY=" + std::to_string(priority_of(message.level)),
                                   "SYSLOG_IDENTIFIER=tracectld"};
    // Lines about refused requests repeat names as a peer sent them, and these could look like fields.
    if (message.level == spdlog::level::info)
      for (const auto& [name, value] : journal_fields(line)) entry.push_back(name + "=" + value);
    std::vector<iovec> parts;
    for (std::string& field : entry) parts.push_back({field.data(), field.size()});
    sd_journal_sendv(parts.data(), static_cast<int>(parts.size()));
  }
  void flush_() override {}
};

// Writes to the sinks below it, from a queue's thread. After a loss it first writes how many lines were lost.
class QueueEnd : public spdlog::sinks::dist_sink_st {
  using Sinks = spdlog::sinks::dist_sink_st;

 public:
  // `queue`: borrowed; its destructor waits for the thread that calls this.
  QueueEnd(std::vector<spdlog::sink_ptr> below, spdlog::details::thread_pool& queue)
      : Sinks(std::move(below)), queue_(queue) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    report_lost(message.logger_name);
    Sinks::sink_it_(message);
  }

  void report_lost(spdlog::string_view_t logger) {
    const size_t lost = queue_.overrun_counter();
    if (lost == reported_) return;
    const std::string line = std::to_string(lost - reported_) +
                             " lines of this log were lost: they came faster than they are taken";
    reported_ = lost;
    Sinks::sink_it_({logger, spdlog::level::warn, line});
  }

  spdlog::details::thread_pool& queue_;
  size_t reported_ = 0;
};

std::string_view take_word(std::string_view& line) {
  const size_t end = std::min(line.find(' '), line.size());
  const auto word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::islower(c) != 0; });
}

std::string field_name(std::string_view key) {
  std::string name = "TRACECTL_";
  for (const char c : key) name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

}  // namespace

std::vector<JournalField> journal_fields(std::string_view line) {
  const auto action = take_word(line);
  if (!is_name(action) || !line.starts_with("session=")) return {};
  std::vector<JournalField> fields{{"TRACECTL_ACTION", std::string(action)}};
  while (!line.empty()) {
    const auto word = take_word(line);
    const size_t equals = word.find('=');
    if (equals == word.npos || !is_name(word.substr(0, equals))) break;
    fields.emplace_back(field_name(word.substr(0, equals)), word.substr(equals + 1));
  }
  return fields;
}

void write_log(LogLevel level, fmt::string_view text, fmt::format_args values) {
  if (!spdlog::should_log(level_of(level))) return;
  try {
    spdlog::log(level_of(level), fmt::vformat(text, values));
  } catch (const std::bad_alloc&) {}
}

void open_log() {
  if (logs_to_journal())
    spdlog::set_default_logger(
        std::make_shared<spdlog::logger>("tracectld", std::make_shared<JournalSink>()));
  else
    spdlog::set_default_logger(spdlog::stderr_logger_st("tracectld"));
  spdlog::set_pattern("%l: %v");
}

QueuedLog::QueuedLog()
    : direct_(spdlog::default_logger()),
      writing_(std::make_shared<spdlog::details::thread_pool>(kMostQueuedLines, 1)) {
  auto queued = std::make_shared<spdlog::async_logger>(
      direct_->name(), std::make_shared<QueueEnd>(direct_->sinks(), *writing_), writing_,
      spdlog::async_overflow_policy::overrun_oldest);
  queued->set_level(direct_->level());
  spdlog::set_default_logger(std::move(queued));
}

QueuedLog::~QueuedLog() {
  direct_->set_level(spdlog::get_level());
  spdlog::set_default_logger(direct_);
}

void log_last(const std::string& message) {
  if (!logs_to_journal()) return spdlog::error("{}", message);
  const std::string line = "<" + std::to_string(LOG_ERR) + ">" + message + "\n";
  (void)!::write(STDERR_FILENO, line.data(), line.size());
}

void set_log_verbose(bool verbose) {
  spdlog::set_level(verbose ? spdlog::level::debug : spdlog::level::info);
}

void open_command_log(bool verbose) {
  spdlog::set_default_logger(spdlog::stderr_logger_st("tracectl"));
  spdlog::set_pattern("%l: %v");
  spdlog::set_level(verbose ? spdlog::level::info : spdlog::level::err);
}

}  // namespace tracectl
