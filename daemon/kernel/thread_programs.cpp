// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/thread_programs.h"

#include <bpf/libbpf.h>

#include "bpf/abi.h"
#include "bpf/tracer.skel.h"
#include "daemon/kernel/programs.h"

namespace tracectl {
namespace {

// In the order in which they are attached: the last one uses what the others write down.
std::vector<bpf_program*> programs_for(ThreadFacts what, tracer& fresh) {
  const auto& all = fresh.progs;
  if (what == ThreadFacts::system_calls)
    return {all.on_watched_exec, all.on_syscall_end, all.on_syscall};
  return {all.on_watched_exec, all.on_wakeup, all.on_switch};
}

const char* what_for(ThreadFacts what) {
  return what == ThreadFacts::system_calls
             ? "the programs that record system calls"
             : "the programs that measure how long threads are blocked";
}

}  // namespace

Result<std::shared_ptr<const ThreadPrograms>> ThreadPrograms::start(ThreadFacts what,
                                                                    tracer& skeleton) {
  tracer* fresh = tracer::open(nullptr);
  if (!fresh) return Error::from_errno("open the BPF programs");
  const std::shared_ptr<ThreadPrograms> started{new ThreadPrograms(fresh)};
  const auto programs = programs_for(what, *fresh);
  if (auto loaded = load_alone(*fresh, programs, skeleton); !loaded)
    return loaded.error().in(what_for(what));
  // What was noted of threads before is of no use: what they did since then was not seen.
  __atomic_add_fetch(&skeleton.bss->watches, 1, __ATOMIC_SEQ_CST);
  for (bpf_program* program : programs) {
    bpf_link* link = bpf_program__attach(program);
    if (!link)
      return Error::from_errno(std::string("attach ") + bpf_program__name(program))
          .in(what_for(what));
    started->links_.push_back(link);
  }
  return std::shared_ptr<const ThreadPrograms>{started};
}

ThreadPrograms::~ThreadPrograms() {
  for (auto link = links_.rbegin(); link != links_.rend(); ++link) bpf_link__destroy(*link);
  tracer::destroy(fresh_);
}

}  // namespace tracectl
