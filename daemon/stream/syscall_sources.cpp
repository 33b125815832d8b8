// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/stream/syscall_sources.h"

#include <seccomp.h>

#include <cstdlib>

namespace tracectl {
namespace {

std::string name_of_syscall(uint64_t number) {
  if (number == UINT64_MAX) return "?";
  const std::unique_ptr<char, decltype(&std::free)> name(
      number <= INT32_MAX
          ? seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, static_cast<int>(number))
          : nullptr,
      &std::free);
  return name ? name.get() : std::to_string(number);
}

}  // namespace

std::shared_ptr<const EventSource> SyscallSources::of(const std::string& session, uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto known = known_.find({session, number});
  if (known != known_.end()) return known->second;
  if (known_.size() >= kMost) known_.clear();
  Argument result;
  result.size_bytes = 8;
  result.is_signed = true;
  result.place = Argument::Place::in_register;
  auto source =
      std::make_shared<const EventSource>(EventSource{.probe = "syscall:" + name_of_syscall(number),
                                                      .session = session,
                                                      .arguments = {},
                                                      .result = std::move(result)});
  known_.emplace(std::pair(session, number), source);
  return source;
}

}  // namespace tracectl
