// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "bpf/abi.h"

namespace tracectl {

// An instruction of a file, as one link arms it. Files are told apart by their number alone: in containers of one image a
// file has several devices, and uprobes of one are those of all. Files that share a number only cost single steps.
struct EmulatedPlace {
  ino_t file = 0;
  uint64_t offset = 0;
  pid_t filter = 0;  // as in UprobeMulti
};

// The table of places that the emulator's program reads.
//
// Several links may be at one place: for other processes, or because a new one is made before an old one is closed. Of
// these the newest runs first, and the programs of the older ones would see what it did. So a place does nothing while an
// older one is there that may be for the same process; if that one is not for it, the kernel steps. Nor does it while
// its whole file is left to the kernel.
//
// Any thread may call it.
class EmulatedPlaces {
 public:
  // `table` is shared with the program, and borrowed.
  explicit EmulatedPlaces(std::span<tc_instruction> table) : table_(table) {}

  struct Held {
    pid_t filter = 0;
    uint64_t order = 0;
    std::optional<uint32_t> number = {};  // in the table
  };
  // To be called before the link is made. Without `instruction`, or if the table is full, the kernel steps there.
  Held add(const EmulatedPlace& place, const std::optional<tc_instruction>& instruction);
  // To be called when the link is closed, and with it the programs that were armed after it.
  void remove(const EmulatedPlace& place, const Held& held);

  // To be called for links at unknown places of the file, which are older than those that are added now. Each call ends
  // by one of give_back().
  void leave_to_kernel(ino_t file);
  void give_back(ino_t file);

 private:
  using Key = std::pair<ino_t, uint64_t>;
  std::optional<uint32_t> free_number();
  bool is_alone(ino_t file, std::span<const Held> older, pid_t filter) const;
  void activate(const Key& key, std::span<const Held> here);
  void set_active(const Held& held, bool is_active);

  std::mutex mutex_;
  std::span<tc_instruction> table_;
  std::map<Key, std::vector<Held>> held_;  // the oldest first
  uint64_t orders_ = 0;
  std::multiset<ino_t> left_to_kernel_;
  uint32_t made_ = 0;  // numbers that were ever taken
  // The one that was given up first comes first: a program may still run for the last ones.
  std::deque<uint32_t> free_;
};

}  // namespace tracectl
