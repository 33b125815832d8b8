// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/log.h"

#include <spdlog/sinks/base_sink.h>
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

#include "daemon/base/service.h"

namespace tracectl {
namespace {

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
    // A line of something that was refused repeats names as a peer has sent them, which may read
    // like fields.
    if (message.level == spdlog::level::info)
      for (const auto& [name, value] : journal_fields(line)) entry.push_back(name + "=" + value);
    std::vector<iovec> parts;
    for (std::string& field : entry) parts.push_back({field.data(), field.size()});
    sd_journal_sendv(parts.data(), static_cast<int>(parts.size()));
  }
  void flush_() override {}
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

void open_log() {
  if (logs_to_journal())
    spdlog::set_default_logger(
        std::make_shared<spdlog::logger>("tracectld", std::make_shared<JournalSink>()));
  else
    spdlog::set_default_logger(spdlog::stderr_logger_st("tracectld"));
  spdlog::set_pattern("%l: %v");
}

void log_last(const std::string& message) {
  if (!logs_to_journal()) return spdlog::error("{}", message);
  const std::string line = "<" + std::to_string(LOG_ERR) + ">" + message + "\n";
  (void)!::write(STDERR_FILENO, line.data(), line.size());
}

void set_log_verbose(bool verbose) {
  spdlog::set_level(verbose ? spdlog::level::debug : spdlog::level::info);
}

}  // namespace tracectl
