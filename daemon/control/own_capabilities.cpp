// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/own_capabilities.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <span>
#include <string>

namespace tracectl {
namespace {

struct Needed {
  int capability;
  int in_place_of_it;
  const char* name;
};

// The kernel takes CAP_SYS_ADMIN for the first two, as it did before Linux 5.8. Without the third not even the users of
// clients are known.
constexpr std::array<Needed, 3> kNeeded{{
    {CAP_BPF, CAP_SYS_ADMIN, "CAP_BPF"},
    {CAP_PERFMON, CAP_SYS_ADMIN, "CAP_PERFMON"},
    {CAP_SYS_PTRACE, CAP_SYS_PTRACE, "CAP_SYS_PTRACE"},
}};

constexpr size_t kNeededToLoad = 2;  // programs

class Capabilities {
 public:
  static Result<Capabilities> of_this_process() {
    Capabilities all;
    if (::syscall(SYS_capget, &all.header_, all.words_.data()) != 0)
      return Error::from_errno("read the capabilities of this process");
    return all;
  }
  bool are_permitted(int capability) const {
    return words_[CAP_TO_INDEX(capability)].permitted & CAP_TO_MASK(capability);
  }
  Status make_effective() {
    for (auto& word : words_) word.effective = word.permitted;
    if (::syscall(SYS_capset, &header_, words_.data()) == 0) return ok();
    return Error::from_errno("make the capabilities of this process effective");
  }

 private:
  __user_cap_header_struct header_{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> words_{};
};

std::string missing_of(const Capabilities& own, std::span<const Needed> needed) {
  std::string missing;
  for (const Needed& one : needed)
    if (!own.are_permitted(one.capability) && !own.are_permitted(one.in_place_of_it))
      missing += (missing.empty() ? "" : ", ") + std::string(one.name);
  return missing;
}

}  // namespace

Status check_capabilities_of_command() {
  const auto own = Capabilities::of_this_process();
  if (!own) return own.error();
  const std::string missing = missing_of(*own, std::span(kNeeded).first(kNeededToLoad));
  if (missing.empty()) return ok();
  return Error{Code::denied, "without a daemon this needs root, or " + missing +
                                 "; with a tracectld that runs you can trace your own processes"};
}

Status take_capabilities() {
  auto own = Capabilities::of_this_process();
  if (!own) return own.error();
  const std::string missing = missing_of(*own, kNeeded);
  if (missing.empty()) return own->make_effective();
  return Error{Code::denied, "the daemon lacks " + missing +
                                 ": run it as root, or give its unit or container CAP_BPF, "
                                 "CAP_PERFMON and CAP_SYS_PTRACE"};
}

}  // namespace tracectl
