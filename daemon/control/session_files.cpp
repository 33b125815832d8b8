// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/session_files.h"

#include <unistd.h>

#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "daemon/control/log.h"
#include "daemon/control/own_request.h"
#include "daemon/control/restored_sessions.h"
#include "daemon/control/text_file.h"
#include "daemon/protocol/session_file.h"

namespace tracectl {
namespace {

namespace fs = std::filesystem;
using protocol::SessionFile;

constexpr size_t kMostBytes = 1 << 20;  // of a file
constexpr auto kEnding = ".json";

// Sorted by name.
std::vector<fs::path> files_in(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == kEnding) files.push_back(at->path());
  if (error && error != std::errc::no_such_file_or_directory)
    log_error("sessions in {} do not begin: {}", folder, error.message());
  std::sort(files.begin(), files.end());
  return files;
}

Result<SessionFile> read(const fs::path& file) {
  const auto text = read_text_file(file, kMostBytes);
  if (!text) return text.error();
  return protocol::session_file(*text);
}

struct Found {
  fs::path file;
  SessionFile saved;
  std::string text;  // as SessionFile has it
};

void report(const fs::path& file, const Error& error) {
  log_error("{}: {}", file.string(), error.message);
}

// By session name. Files with errors are logged and left out.
std::map<std::string, Found> find_in(const std::string& folder) {
  std::map<std::string, Found> all;
  for (const fs::path& file : files_in(folder)) {
    auto saved = read(file);
    if (!saved) {
      report(file, saved.error());
      continue;
    }
    std::string text = protocol::text_of(*saved);
    all[file.stem()] = {file, std::move(*saved), std::move(text)};
  }
  return all;
}

class Beginning {
 public:
  Beginning(Engine& engine, Commands& commands) : engine_(engine), commands_(commands) {
    self_.uid = ::geteuid();
    self_.pid = ::getpid();
  }

  void make(const std::string& name, const Found& found) {
    auto creation = protocol::creation_of(found.saved, name);
    creation.saved = commands_.saved().can_save();
    auto made = commands_.handle(creation, self_);
    if (!made) return report(found.file, made.error());
    commands_.saved().facts(name).began = found.text;
    made_.emplace_back(name, &found);
  }

  void commit_all() {
    for (const auto& [name, found] : made_)
      if (auto committed = commit(name, *found); !committed) report(found->file, committed.error());
  }

 private:
  Status commit(const std::string& name, const Found& found) {
    for (const protocol::SettingPart& setting : found.saved.settings)
      if (auto staged = finish(protocol::staging_of(setting, name)); !staged) return staged.error();
    if (found.saved.settings.empty()) return ok();
    auto committed = finish(protocol::StageCommit{.session = name});
    if (!committed) return committed.error();
    return ok();
  }

  template <class Request> Result<typename Request::Reply> finish(const Request& request) {
    return when_read(engine_, [&] { return commands_.handle(request, self_); });
  }

  Engine& engine_;
  Commands& commands_;
  Peer self_;
  std::vector<std::pair<std::string, const Found*>> made_;
};

}  // namespace

void begin_sessions(const std::string& folder, Engine& engine, Commands& commands) {
  const auto found = find_in(folder);
  const auto is_unchanged = [&](const std::string& name, const std::string& began) {
    const auto at = found.find(name);
    return at != found.end() && at->second.text == began;
  };
  if (auto left = commands.saved().take())
    restore_sessions(std::move(*left), is_unchanged, engine, commands);
  else
    (void)engine.restore({});  // no session owns what may still be armed
  Beginning beginning(engine, commands);
  for (const auto& [name, one] : found) {
    const auto* known = commands.saved().known_of(name);
    if (!known || !known->began) beginning.make(name, one);
  }
  beginning.commit_all();
  commands.saved().begin();
}

}  // namespace tracectl
