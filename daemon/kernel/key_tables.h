// SPDX-License-Identifier: BSD-2-Clause
//
// The tables of counts, sums and times by keys (bpf/aggregate.bpf.h). To make one takes as long as to load the
// programs, so each is made when a spec first needs it. Until then programs find none, and there are no rows.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "bpf/abi.h"
#include "daemon/base/descriptor_store.h"
#include "daemon/base/fd.h"
#include "daemon/base/long_work.h"
#include "daemon/base/result.h"

struct tracer;

namespace tracectl {

struct KeyCount {
  tc_key key;
  uint64_t count = 0;
};

struct KeySum {
  tc_key key;
  tc_sum sum{};
};

struct KeyTime {
  tc_key key;
  tc_time time{};
};

class KeyTables {
 public:
  // Call it before the programs are loaded: it declares what kind of tables they will find, by tables that are made like
  // those. A declaration in the programs has types, and Linux 6.1 then takes no table of structures without types. Keep
  // the returned descriptors until the programs are loaded.
  static Result<std::vector<Fd>> declare(tracer& skeleton, unsigned cpu_count);

  // `skeleton` is loaded. `store` has the programs that a former daemon left, and their tables; null if the programs
  // are new. Both are borrowed.
  KeyTables(const tracer& skeleton, unsigned cpu_count, DescriptorStore* store);

  // Makes the tables that hits with the spec need and that do not exist yet. If one fails, the others stay.
  Status make_for(const tc_spec& spec, LongWork& work);

  // Summed over the CPUs. Reading may run beside programs that add to them.
  Result<std::vector<KeyCount>> counts() const;
  Result<std::vector<KeySum>> sums() const;
  Result<std::vector<KeyTime>> times() const;

  std::vector<tc_key> keys_of(tc_table table, const std::unordered_set<uint32_t>& stats) const;
  // Returns whether the key was there.
  bool take_out(tc_table table, const tc_key& key);

  // Keeps the tables that exist, and from then on each table when it is made.
  Status save_in(DescriptorStore& store);

 private:
  Status save(tc_table table, const Fd& made, DescriptorStore& store) const;
  int fd_of(tc_table table) const { return tables_[table].get(); }

  const tracer& skeleton_;
  unsigned cpu_count_;
  std::array<Fd, 3> tables_;          // by tc_table
  DescriptorStore* store_ = nullptr;  // keeps them
};

}  // namespace tracectl
