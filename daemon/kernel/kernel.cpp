// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/kernel.h"

#include <bpf/libbpf.h>

#include "bpf/tracer.skel.h"
#include "daemon/kernel/saved_tables.h"

namespace tracectl {
namespace {

Switching::Shared for_switching(tracer& skeleton, const SharedArrays& arrays) {
  return {.slots = skeleton.bss->slots,
          .hooks = arrays.hooks,
          .layouts = arrays.layouts,
          .first_hits = arrays.first_hits,
          .in_force = skeleton.bss->in_force,
          .epoch = skeleton.bss->epoch,
          .attention = skeleton.bss->attention};
}

BpfSwitching::Options switching_options(const KernelOptions& options) {
  return {.first = options.for_one_command ? Way::counting : Way::entry,
          .sleeps = options.sleeps,
          .fast_nops = options.fast_nops};
}

}  // namespace

Result<std::unique_ptr<Kernel>> Kernel::open(const KernelOptions& options) {
  auto programs = load_programs(options.for_one_command, options.store);
  if (!programs) return programs.error();
  auto arrays = SharedArrays::map(*programs->skeleton);
  if (!arrays) return arrays.error();
  auto notices = Notices::open(*programs->skeleton, arrays->sessions);
  if (!notices) return notices.error();
  return std::unique_ptr<Kernel>{
      new Kernel(std::move(*programs), std::move(*arrays), std::move(*notices), options)};
}

Kernel::Kernel(LoadedPrograms programs, SharedArrays arrays, Notices notices,
               const KernelOptions& options)
    : skeleton_(std::move(programs.skeleton)),
      restored_(std::move(programs.restored)),
      arrays_(std::move(arrays)),
      cpu_count_(skeleton_->rodata->cpu_count),
      counters_(*skeleton_, long_work_, arrays_.stats, arrays_.sessions,
                is_restored() ? options.store : nullptr),
      switching_(*skeleton_, long_work_, for_switching(*skeleton_, arrays_), arrays_.specs,
                 counters_, switching_options(options)),
      rings_(bpf_map__fd(skeleton_->maps.rings), cpu_count_,
             {.losses = arrays_.losses,
              .own_tags = arrays_.own_tags,
              .reader_sleeps = skeleton_->bss->reader_sleeps}),
      proofs_(*skeleton_, arrays_.sessions),
      sessions_({.sessions = arrays_.sessions,
                 .accounts = arrays_.accounts,
                 .tags = arrays_.tags,
                 .rooms = skeleton_->bss->rooms},
                proofs_),
      sets_(*skeleton_),
      notices_(std::move(notices)) {}

Kernel::~Kernel() = default;

Status Kernel::save_in(DescriptorStore& store) {
  auto saved = save_tables(*skeleton_, restored_, store);
  if (saved) saved = counters_.save_in(store);
  if (saved) saved = switching_.save_in(store);
  if (!saved) forget_tables(*skeleton_, store);
  return saved;
}

}  // namespace tracectl
