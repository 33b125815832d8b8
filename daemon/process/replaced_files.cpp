// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/replaced_files.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace tracectl {
namespace {

constexpr uint32_t kEvents = IN_MOVED_TO | IN_CLOSE_WRITE;

std::string directory_of(const std::string& path) {
  return path.substr(0, std::max<size_t>(path.rfind('/'), 1));
}

std::string joined(const std::string& directory, const char* name) {
  return (directory == "/" ? "" : directory) + "/" + name;
}

}  // namespace

ReplacedFiles::ReplacedFiles() : inotify_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {}

void ReplacedFiles::watch(std::set<std::string> paths) {
  if (paths == paths_ || !inotify_) return;
  paths_ = std::move(paths);
  std::set<std::string> wanted;
  for (const std::string& path : paths_) wanted.insert(directory_of(path));
  std::erase_if(directories_, [&](const auto& entry) {
    if (wanted.contains(entry.first)) return false;
    ::inotify_rm_watch(inotify_.get(), entry.second);
    return true;
  });
  for (const std::string& directory : wanted) {
    if (directories_.contains(directory)) continue;
    const int watch = ::inotify_add_watch(inotify_.get(), directory.c_str(), kEvents);
    if (watch >= 0) directories_.emplace(directory, watch);
  }
}

// After the queue has overflowed it is not known what has happened.
std::set<std::string> ReplacedFiles::take() {
  std::set<std::string> replaced;
  alignas(inotify_event) std::array<char, 16384> events{};
  for (;;) {
    const ssize_t size = ::read(inotify_.get(), events.data(), events.size());
    if (size <= 0) return replaced;
    replaced.merge(named_by(events.data(), static_cast<size_t>(size)));
  }
}

std::set<std::string> ReplacedFiles::named_by(const char* events, size_t size) const {
  std::set<std::string> named;
  for (size_t at = 0; at + sizeof(inotify_event) <= size;) {
    inotify_event event;
    std::memcpy(&event, events + at, sizeof(event));
    if (event.mask & IN_Q_OVERFLOW) return paths_;
    for (const auto& [directory, watch] : directories_)
      if (watch == event.wd && event.len > 0)
        named.insert(joined(directory, events + at + sizeof(event)));
    at += sizeof(event) + event.len;
  }
  std::erase_if(named, [&](const std::string& path) { return !paths_.contains(path); });
  return named;
}

}  // namespace tracectl
