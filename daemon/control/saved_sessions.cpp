// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/saved_sessions.h"

#include <poll.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "daemon/control/text_file.h"
#include "daemon/protocol/saved_session.h"

namespace tracectl {
namespace {

namespace fs = std::filesystem;
using protocol::SavedSession;

constexpr size_t kMostBytes = 1 << 20;  // of a file
constexpr auto kEnding = ".json";

// In the order of their names.
std::vector<fs::path> files_in(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == kEnding) files.push_back(at->path());
  if (error && error != std::errc::no_such_file_or_directory)
    spdlog::error("sessions in {} do not begin: {}", folder, error.message());
  std::sort(files.begin(), files.end());
  return files;
}

Result<SavedSession> read(const fs::path& file) {
  const auto text = read_text_file(file, kMostBytes);
  if (!text) return text.error();
  return protocol::saved_session(*text);
}

class Beginning {
 public:
  Beginning(Engine& engine, Commands& commands) : engine_(engine), commands_(commands) {
    self_.uid = ::geteuid();
    self_.pid = ::getpid();
  }

  void make(const fs::path& file) {
    const std::string name = file.stem();
    auto saved = read(file);
    if (!saved) return tell(file, saved.error());
    auto made = commands_.handle(protocol::creation_of(*saved, name), self_);
    if (!made) return tell(file, made.error());
    made_.push_back({name, file, std::move(*saved)});
  }

  void commit_all() {
    for (const Made& one : made_)
      if (auto committed = commit(one); !committed) tell(one.file, committed.error());
  }

 private:
  struct Made {
    std::string name;
    fs::path file;
    SavedSession saved;
  };

  static void tell(const fs::path& file, const Error& error) {
    spdlog::error("{}: {}", file.string(), error.message);
  }

  Status commit(const Made& one) {
    for (const protocol::SettingPart& setting : one.saved.settings)
      if (auto staged = finish(protocol::staging_of(setting, one.name)); !staged)
        return staged.error();
    if (one.saved.settings.empty()) return ok();
    auto committed = finish(protocol::StageCommit{.session = one.name});
    if (!committed) return committed.error();
    return ok();
  }

  // Nobody else is served yet, so it waits for what is read of files.
  template <class Request> Result<typename Request::Reply> finish(const Request& request) {
    Reading& reading = engine_.reading();
    for (const auto learned = std::make_shared<Learned>();;) {
      engine_.begin(learned);
      auto reply = commands_.handle(request, self_);
      const auto awaited = reading.awaited();
      if (reply || !awaited) return reply;
      while (!reading.is_answered(*awaited)) {
        pollfd readable{reading.fd(), POLLIN, 0};
        (void)::poll(&readable, 1, -1);
        reading.take_answers();
      }
    }
  }

  Engine& engine_;
  Commands& commands_;
  Peer self_;
  std::vector<Made> made_;
};

}  // namespace

void begin_saved_sessions(const std::string& folder, Engine& engine, Commands& commands) {
  Beginning beginning(engine, commands);
  for (const fs::path& file : files_in(folder)) beginning.make(file);
  beginning.commit_all();
}

}  // namespace tracectl
