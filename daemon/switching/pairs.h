// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "daemon/kernel/counters.h"
#include "daemon/model/setting.h"

namespace tracectl {

// The number by which the hits of a pair of probes are matched in the kernel. The starts that wait there
// are kept as long as this object: hooks hold it, and a hook that was in force is kept until no program
// can run it.
class Pair {
 public:
  // `leaves_them`: set when the engine ends and the next one takes over the starts.
  Pair(Counters& counters, uint32_t number, std::shared_ptr<const bool> leaves_them)
      : counters_(counters), number_(number), leaves_them_(std::move(leaves_them)) {}
  ~Pair() {
    if (!*leaves_them_) counters_.forget_starts(number_);
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  uint32_t number() const { return number_; }
  // Call it only when no hook of the pair is in force.
  void forget_starts() const { counters_.forget_starts(number_); }

 private:
  Counters& counters_;
  uint32_t number_;
  std::shared_ptr<const bool> leaves_them_;
};

using PairPtr = std::shared_ptr<const Pair>;

// The pairs of all sessions. If another setting with the same pair replaces one, to do something else or
// for processes that started since, the pair keeps its number.
class Pairs {
 public:
  explicit Pairs(Counters& counters) : counters_(counters) {}

  // `saved`: the number that it had in a former daemon, or 0.
  PairPtr of(uint16_t session, const std::shared_ptr<const Setting>& setting, uint32_t saved = 0);

  void restore(uint32_t last_number) { last_number_ = last_number; }
  uint32_t last_number() const { return last_number_; }
  // From now on starts outlive their pairs.
  void leave_starts() { *leaves_them_ = true; }

 private:
  struct Known {
    uint16_t session;
    std::shared_ptr<const Setting> setting;
    std::weak_ptr<const Pair> pair;
  };

  Counters& counters_;
  uint32_t last_number_ = 0;
  std::shared_ptr<bool> leaves_them_ = std::make_shared<bool>(false);
  std::vector<Known> known_;
};

}  // namespace tracectl
