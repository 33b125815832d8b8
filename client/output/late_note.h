// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace tracectl {

// Tells who waits at a terminal what takes long: prints this on standard error after a second, and takes it away at
// its end.
class LateNote {
 public:
  explicit LateNote(std::string text);
  ~LateNote();
  LateNote(const LateNote&) = delete;
  LateNote& operator=(const LateNote&) = delete;

 private:
  void wait(const std::string& text);

  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace tracectl
