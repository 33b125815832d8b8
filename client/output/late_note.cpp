// SPDX-License-Identifier: BSD-2-Clause
#include "client/output/late_note.h"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "client/output/output.h"

namespace tracectl {

LateNote::LateNote(std::string text) {
  if (::isatty(STDERR_FILENO))
    thread_ = std::thread([this, text = std::move(text)] { wait(text); });
}

LateNote::~LateNote() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  over_.notify_one();
  thread_.join();
}

void LateNote::wait(const std::string& text) {
  std::unique_lock lock(mutex_);
  if (over_.wait_for(lock, std::chrono::seconds(1), [this] { return is_over_; })) return;
  print_error("tracectl: " + text);
  over_.wait(lock, [this] { return is_over_; });
  print_error("\r\033[K");
}

}  // namespace tracectl
