// SPDX-License-Identifier: BSD-2-Clause
//
// The tables of counts, sums and times by keys (bpf/aggregate.bpf.h). To make one takes as long as to load the
// programs, so each is made when a spec first needs it. Until then programs find none, and there are no rows.
#pragma once

#include <array>
#include <unordered_set>
#include <vector>

#include "bpf/abi.h"
#include "daemon/base/descriptor_store.h"
#include "daemon/base/fd.h"
#include "daemon/base/long_work.h"
#include "daemon/base/result.h"
#include "daemon/kernel/kernel.h"

struct tracer;

namespace tracectl {

class KeyTables {
 public:
  // Before the programs are loaded: tells what kind of tables they will find. What it returns is to live until
  // they are.
  static Result<Fd> declare(tracer& skeleton, unsigned cpu_count);

  // `skeleton` is loaded, and outlives this, as does `store`: where a former daemon has left the programs and the
  // tables that they have. None where they are new.
  KeyTables(const tracer& skeleton, unsigned cpu_count, DescriptorStore* store);

  // Makes those that hits with the spec need and that are not there yet. Where one fails the others stay.
  Status make_for(const tc_spec& spec, LongWork& work);

  // Summed over the CPUs. Reading may run beside programs that add to them.
  Result<std::vector<KeyCount>> counts() const;
  Result<std::vector<KeySum>> sums() const;
  Result<std::vector<KeyTime>> times() const;

  std::vector<tc_key> keys_of(tc_table table, const std::unordered_set<uint32_t>& stats) const;
  // Whether it was there.
  bool take_out(tc_table table, const tc_key& key);

  // Those that are there, and from then on each when it is made.
  Status keep_in(DescriptorStore& store);

 private:
  Status keep(tc_table table, const Fd& made, DescriptorStore& store) const;
  int fd_of(tc_table table) const { return tables_[table].get(); }

  const tracer& skeleton_;
  unsigned cpu_count_;
  std::array<Fd, 3> tables_;          // by tc_table
  DescriptorStore* store_ = nullptr;  // that they are kept in
};

}  // namespace tracectl
