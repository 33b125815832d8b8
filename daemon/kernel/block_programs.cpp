// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/block_programs.h"

#include <bpf/libbpf.h>

#include "bpf/abi.h"
#include "bpf/tracer.skel.h"
#include "daemon/kernel/programs.h"

namespace tracectl {

Result<std::shared_ptr<const BlockPrograms>> BlockPrograms::start(tracer& skeleton) {
  tracer* fresh = tracer::open(nullptr);
  if (!fresh) return Error::from_errno("open the BPF programs");
  const std::shared_ptr<BlockPrograms> started{new BlockPrograms(fresh)};
  const auto& programs = fresh->progs;
  if (auto loaded = load_alone(
          *fresh, {programs.on_switch, programs.on_wakeup, programs.on_watched_exec}, skeleton);
      !loaded)
    return loaded.error().in("the programs that measure how long threads are blocked");
  // What was noted of threads before is of no use: their switches since then were not seen.
  __atomic_add_fetch(&skeleton.bss->watches, 1, __ATOMIC_SEQ_CST);
  started->execs_ = bpf_program__attach(programs.on_watched_exec);
  if (!started->execs_) return Error::from_errno("follow what threads execute");
  started->wakeups_ = bpf_program__attach(programs.on_wakeup);
  if (!started->wakeups_) return Error::from_errno("follow the wakeups of threads");
  started->switches_ = bpf_program__attach(programs.on_switch);
  if (!started->switches_) return Error::from_errno("follow the switches of threads");
  return std::shared_ptr<const BlockPrograms>{started};
}

BlockPrograms::~BlockPrograms() {
  bpf_link__destroy(switches_);
  bpf_link__destroy(wakeups_);
  bpf_link__destroy(execs_);
  tracer::destroy(fresh_);
}

}  // namespace tracectl
