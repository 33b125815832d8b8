// SPDX-License-Identifier: BSD-2-Clause
//
// Loads the programs of bpf/tracer.bpf.c with their tables, or takes over the tables of a former daemon.
#pragma once

#include <memory>
#include <vector>

#include "daemon/base/descriptor_store.h"
#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/kernel/saved_tables.h"

struct tracer;

namespace tracectl {

struct SkeletonDeleter {
  void operator()(tracer* skeleton) const;
};
using Skeleton = std::unique_ptr<tracer, SkeletonDeleter>;

struct LoadedPrograms {
  Skeleton skeleton;
  SavedTables restored;  // empty if the tables are new
};

// `for_one_command`: the program that only counts is loaded in place of that of Way::entry. `store`, in which a former
// daemon may have left its tables, may be null.
Result<LoadedPrograms> load_programs(bool for_one_command, DescriptorStore* store);

}  // namespace tracectl
