// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/kernel.h"

#include <bpf/libbpf.h>

#include "bpf/tracer.skel.h"
#include "daemon/kernel/saved_tables.h"

namespace tracectl {
namespace {

Switching::Shared for_switching(tracer& skeleton, const SharedArrays& arrays) {
  return {.slots = ChunkedTable<tc_slot>(skeleton.bss->slots, TC_CHUNK_SLOTS),
          .hooks = ChunkedTable<tc_hook>({}, TC_CHUNK_HOOKS),
          .layouts = arrays.layouts,
          .first_hits = arrays.first_hits,
          .in_force = skeleton.bss->in_force,
          .epoch = skeleton.bss->epoch,
          .attention = skeleton.bss->attention};
}

BpfSwitching::Options switching_options(const KernelOptions& options, Emulator* emulator) {
  return {.first = options.for_one_command ? Way::counting : Way::entry,
          .sleeps = options.sleeps,
          .fast_nops = options.fast_nops,
          .emulator = emulator,
          .hit_costs = [find = options.hit_costs, emulator] { return find(emulator); }};
}

}  // namespace

struct KernelChunks {
  Chunks slots, stats, hooks;
};

Result<std::unique_ptr<Kernel>> Kernel::open(const KernelOptions& options) {
  auto programs = load_programs(options.for_one_command, options.store);
  if (!programs) return programs.error();
  auto arrays = SharedArrays::map(*programs->skeleton);
  if (!arrays) return arrays.error();
  auto notices = Notices::open(*programs->skeleton, arrays->sessions);
  if (!notices) return notices.error();
  SavedTables& restored = programs->restored;
  DescriptorStore* keeper = restored.links.empty() ? nullptr : options.store;
  const auto open_chunks = [&](ChunkOf of) {
    return Chunks::open(*programs->skeleton, of, std::move(restored.chunks[of]), keeper);
  };
  auto slots = open_chunks(ChunkOf::slots);
  if (!slots) return slots.error();
  auto stats = open_chunks(ChunkOf::stats);
  if (!stats) return stats.error();
  auto hooks = open_chunks(ChunkOf::hooks);
  if (!hooks) return hooks.error();
  auto emulator = options.emulates ? Emulator::open() : std::unique_ptr<Emulator>{};
  std::unique_ptr<Kernel> kernel{
      new Kernel(std::move(*programs), std::move(*arrays),
                 {std::move(*slots), std::move(*stats), std::move(*hooks)}, std::move(*notices),
                 emulator ? std::move(*emulator) : nullptr, options)};
  if (!emulator) kernel->emulation_ = emulator.error();
  return kernel;
}

Kernel::Kernel(LoadedPrograms programs, SharedArrays arrays, KernelChunks chunks, Notices notices,
               std::unique_ptr<Emulator> emulator, const KernelOptions& options)
    : skeleton_(std::move(programs.skeleton)),
      restored_(std::move(programs.restored.links)),
      arrays_(std::move(arrays)),
      emulator_(std::move(emulator)),
      hit_costs_(options.hit_costs),
      cpu_count_(skeleton_->rodata->cpu_count),
      counters_(*skeleton_, long_work_, arrays_.stats, std::move(chunks.stats), arrays_.sessions,
                is_restored() ? options.store : nullptr),
      switching_(*skeleton_, long_work_, for_switching(*skeleton_, arrays_),
                 std::move(chunks.slots), std::move(chunks.hooks), arrays_.specs, counters_,
                 switching_options(options, emulator_.get())),
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

tc_hit_costs Kernel::known_hit_costs() const { return skeleton_->bss->hit_costs; }

tc_hit_costs Kernel::hit_costs() { return skeleton_->bss->hit_costs = hit_costs_(emulator_.get()); }

Status Kernel::save_in(DescriptorStore& store) {
  auto saved = is_restored() ? ok() : save_tables(*skeleton_, store);
  if (saved) saved = counters_.save_in(store);
  if (saved) saved = switching_.save_in(store);
  if (!saved) forget_tables(*skeleton_, store);
  return saved;
}

}  // namespace tracectl
