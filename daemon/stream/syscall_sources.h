// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "daemon/model/event.h"

namespace tracectl {

// The sources of the events of system calls, syscall:read: one for each of them and session. Any thread may ask.
class SyscallSources {
 public:
  // The names are those of this machine; a number without one is shown as it is, and UINT64_MAX as "?": a system call of
  // a 32-bit program.
  std::shared_ptr<const EventSource> of(const std::string& session, uint64_t number);

 private:
  static constexpr size_t kMost = 4096;  // beyond it the known ones are forgotten

  std::mutex mutex_;
  std::map<std::pair<std::string, uint64_t>, std::shared_ptr<const EventSource>> known_;
};

}  // namespace tracectl
