// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstddef>
#include <cstdint>

namespace tracectl {

// A site of a file, for one process or for all that map the file. It is armed once, however many sessions
// want it.
struct SlotKey {
  dev_t device = 0;
  ino_t inode = 0;
  pid_t filter = 0;           // the process it is armed in, or 0 for all that map the file
  uint64_t filter_birth = 0;  // of that process, because another may get its id
  uint64_t offset = 0;
  uint64_t semaphore = 0;

  auto operator<=>(const SlotKey&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("device", s.device);
    f("inode", s.inode);
    f("filter", s.filter);
    f("filter_birth", s.filter_birth);
    f("offset", s.offset);
    f("semaphore", s.semaphore);
  }
};

struct SlotKeyHash {
  // Sites of one file and process differ in their offsets only; the rest tells files apart.
  size_t operator()(const SlotKey& key) const {
    constexpr size_t kOdd = 0x9e3779b97f4a7c15;  // spreads neighbours over all bits
    return (key.offset * kOdd) ^ (key.inode * kOdd >> 7) ^ static_cast<size_t>(key.filter);
  }
};

}  // namespace tracectl
