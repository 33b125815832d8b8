// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace tracectl {

// What a count is kept by, beside the probe.
enum class Key { pid, tid };

// What a hit does.
struct Spec {
  bool event = false;   // stream a record of the hit
  bool count = false;   // count in the kernel
  std::vector<Key> by;  // of the count: at most once each

  bool operator==(const Spec&) const = default;
};

// The canonical text of a spec, as --do takes it.
std::string to_string(const Spec& spec);

}  // namespace tracectl
