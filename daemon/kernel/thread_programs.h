// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/kernel/switching.h"

struct tracer;
struct bpf_link;

namespace tracectl {

// The programs in the kernel that follow threads in traced calls between hits: in its scheduler
// (bpf/blocked.bpf.h), and at system calls (bpf/syscalls.bpf.h). They run for each thread of the machine, so they exist
// only while a spec needs them.
class ThreadPrograms {
 public:
  // Loads them with the maps of `skeleton`, which is loaded.
  static Result<std::shared_ptr<const ThreadPrograms>> start(ThreadFacts what, tracer& skeleton);
  ~ThreadPrograms();
  ThreadPrograms(const ThreadPrograms&) = delete;
  ThreadPrograms& operator=(const ThreadPrograms&) = delete;

 private:
  explicit ThreadPrograms(tracer* fresh) : fresh_(fresh) {}

  tracer* fresh_;
  std::vector<bpf_link*> links_;
};

}  // namespace tracectl
