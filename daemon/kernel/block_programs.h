// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "daemon/base/result.h"

struct tracer;
struct bpf_link;

namespace tracectl {

// The programs in the kernel's scheduler that measure how long threads are blocked within calls (bpf/blocked.bpf.h).
// They run at each switch and each wakeup of the machine, so they exist only while a spec needs them.
class BlockPrograms {
 public:
  // Loads them with the maps of `skeleton`, which is loaded.
  static Result<std::shared_ptr<const BlockPrograms>> start(tracer& skeleton);
  ~BlockPrograms();
  BlockPrograms(const BlockPrograms&) = delete;
  BlockPrograms& operator=(const BlockPrograms&) = delete;

 private:
  explicit BlockPrograms(tracer* fresh) : fresh_(fresh) {}

  tracer* fresh_;
  bpf_link* execs_ = nullptr;
  bpf_link* switches_ = nullptr;
  bpf_link* wakeups_ = nullptr;
};

}  // namespace tracectl
