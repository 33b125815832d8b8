// SPDX-License-Identifier: BSD-2-Clause
#include "client/verbs/joining.h"

#include "client/output/output.h"

namespace tracectl {

void Joining::go_on() {
  for (const std::string& cgroup : later_.come()) {
    const auto added = add_(cgroup);
    if (added) {
      later_.joined(cgroup);
      if (!quiet_) print_error("tracectl: traced from now on: " + cgroup + "\n");
    } else if (failed_.insert(cgroup).second) {
      print_error("tracectl: not traced yet: " + cgroup + ": " + added.error().message + "\n");
    }
  }
}

}  // namespace tracectl
