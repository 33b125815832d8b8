// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/saved_sessions.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "daemon/base/clock.h"
#include "daemon/base/file_in_memory.h"
#include "daemon/control/log.h"
#include "daemon/control/parts.h"

namespace tracectl {
namespace {

using protocol::SavedSession;
using protocol::SavedSetting;
using protocol::SavedState;

constexpr std::string_view kStates = "sessions.";
constexpr auto kAlive = "sessions.alive";
constexpr std::string_view kFiles = "file.";

// systemd keeps one descriptor of an open file, whatever the names, so a file is kept once for all sessions.
std::string name_of(const FileIdentity& file) {
  return std::string(kFiles) + std::to_string(file.device) + "." + std::to_string(file.inode);
}

std::string state_name(uint64_t number) { return std::string(kStates) + std::to_string(number); }

std::optional<uint64_t> state_number(const std::string& name) {
  uint64_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [after, error] = std::from_chars(name.data() + kStates.size(), end, number);
  return error == std::errc{} && after == end ? std::optional(number) : std::nullopt;
}

SavedSetting saved(const Setting& setting) { return {part_of(setting), setting.target.births}; }

std::vector<SavedSetting> saved(const std::vector<Setting>& settings) {
  std::vector<SavedSetting> all;
  for (const Setting& setting : settings) all.push_back(saved(setting));
  return all;
}

Result<std::string> text_in(const Fd& file) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return Error::from_errno("fstat");
  if (!S_ISREG(status.st_mode) || status.st_size > static_cast<off_t>(SavedState::kMostBytes))
    return Error{Code::invalid, "it is no file, or too long"};
  std::string text(static_cast<size_t>(status.st_size), '\0');
  const ssize_t count = ::pread(file.get(), text.data(), text.size(), 0);
  if (count < 0) return Error::from_errno("pread");
  text.resize(static_cast<size_t>(count));
  return text;
}

Result<SavedState> state_in(const Fd& file) {
  const auto text = text_in(file);
  if (!text) return text.error();
  return protocol::saved_state(*text);
}

uint64_t beat_in(const Fd& alive) {
  uint64_t ns = 0;
  return ::pread(alive.get(), &ns, sizeof(ns), 0) == sizeof(ns) ? ns : 0;
}

}  // namespace

// ---- the previous daemon's state ----

std::optional<SavedSessions::Left> SavedSessions::take() {
  if (!store_) return std::nullopt;
  Left left;
  for (SavedDescriptor& one : store_->take(kFiles)) {
    files_.insert(one.name);
    left.files[one.name] = std::move(one.fd);
  }
  std::map<uint64_t, Fd> states;
  for (SavedDescriptor& one : store_->take(kStates)) {
    const auto number = state_number(one.name);
    if (one.name == kAlive) alive_ = std::move(one.fd);
    if (!number) continue;
    old_names_.insert(one.name);
    states[*number] = std::move(one.fd);
    number_ = std::max(number_, *number);
  }
  for (auto at = states.rbegin(); at != states.rend(); ++at) {
    auto state = state_in(at->second);
    if (state) {
      left.last_ns = std::max(state->written_ns, alive_ ? beat_in(alive_) : 0);
      left.state = std::move(*state);
      return left;
    }
    log_error("the sessions that the previous daemon saved cannot be read: {}",
              state.error().message);
  }
  return std::nullopt;
}

void SavedSessions::begin() {
  begun_ = true;
  if (auto saved = save(); !saved) return log_error("{}", saved.error().message);
  if (!has_any()) forget_files_but({});
  for (const std::string& name : old_names_) store_->forget(name);
  old_names_.clear();
}

// ---- the current state ----

SavedSession SavedSessions::part_of(const Session& session) const {
  SavedSession part{.name = session.name, .paused = engine_.gates().is_paused(session)};
  part.owner = session.access.owner;
  if (session.access.owner) part.user = session.access.owner->uid;
  if (const auto user = recorders_.user_of(session.name)) part.user = *user;
  if (const Facts* facts = known_of(session.name)) {
    part.began = facts->began;
    part.account = facts->account;
  }
  if (session.budget) part.budget = session.budget->percent;
  if (const auto recorder = recorders_.part_of(session.name)) {
    part.recorder = recorder->bound;
    part.dump_on = recorder->dump_on;
  }
  for (const GivenFiles::File& file : session.access.files.all()) {
    part.files.push_back({file.path, name_of(file.identity)});
    if (!file.debug_of.empty()) part.files.back().debug_of = file.debug_of;
  }
  part.settings = saved(session.settings);
  if (session.draft) part.draft = saved(*session.draft);
  return part;
}

std::vector<SavedSession> SavedSessions::parts() const {
  std::vector<SavedSession> all;
  for (const auto& [name, session] : engine_.sessions())
    if (session.saved) all.push_back(part_of(session));
  return all;
}

const SavedSessions::Facts* SavedSessions::known_of(const std::string& session) const {
  const auto found = facts_.find(session);
  return found == facts_.end() ? nullptr : &found->second;
}

// ---- writing ----

// Files are stored before the state that names them, and removed after no state names them.
Status SavedSessions::save() {
  std::erase_if(facts_, [&](const auto& entry) { return !engine_.sessions().find(entry.first); });
  if (!begun_ || !store_) return ok();
  SavedState state{.written_ns = 0, .sessions = parts()};
  const std::string text = state.sessions.empty() ? "" : protocol::text_of(state);
  if (text == written_) return ok();
  if (auto saved = save_files(); !saved) return saved;
  state.written_ns = boot_ns();
  if (auto written = write(state); !written) return written;
  written_ = text;
  forget_strays();
  return ok();
}

Status SavedSessions::save_file(const Fd& file) {
  if (!store_) return ok();
  const auto identity = FileIdentity::of(file.get());
  if (!identity) return identity.error();
  const std::string name = name_of(*identity);
  if (files_.contains(name)) return ok();
  auto saved = store_->save(name, file.get());
  if (saved) files_.insert(name);
  return saved;
}

Status SavedSessions::save_files() {
  for (const auto& [name, session] : engine_.sessions()) {
    if (!session.saved) continue;
    for (const GivenFiles::File& file : session.access.files.all())
      if (auto saved = save_file(file.fd); !saved) return saved;
  }
  return ok();
}

std::set<std::string> SavedSessions::files_of_sessions() const {
  std::set<std::string> names;
  for (const auto& [name, session] : engine_.sessions()) {
    if (!session.saved) continue;
    for (const GivenFiles::File& file : session.access.files.all())
      names.insert(name_of(file.identity));
  }
  return names;
}

void SavedSessions::forget_files_but(const std::set<std::string>& wanted) {
  std::erase_if(files_, [&](const std::string& name) {
    if (wanted.contains(name)) return false;
    store_->forget(name);
    return true;
  });
}

Status SavedSessions::write(const SavedState& state) {
  beat();
  const auto file =
      file_in_memory("tracectld-sessions", protocol::text_of(state), "write down saved sessions");
  if (!file) return file.error();
  if (auto saved = store_->save_state(state_name(number_ + 1), file->get()); !saved) return saved;
  if (number_) store_->forget(state_name(number_));
  ++number_;
  return ok();
}

void SavedSessions::save_changes() {
  if (auto saved = save(); !saved)
    log_error("the next daemon will find saved sessions as they were: {}", saved.error().message);
}

void SavedSessions::beat() {
  if (!begun_ || !store_) return;
  if (!alive_) {
    alive_ = Fd{::memfd_create("tracectld-alive", MFD_CLOEXEC)};
    if (!alive_ || !store_->save_state(kAlive, alive_.get())) return;
  }
  const uint64_t now = boot_ns();
  (void)!::pwrite(alive_.get(), &now, sizeof(now), 0);
}

}  // namespace tracectl
