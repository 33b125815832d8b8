// SPDX-License-Identifier: BSD-2-Clause
//
// The only way to BPF. It has one door for each thing that the rest of the daemon asks of the kernel; code takes the
// door it needs:
//
//   switching   what hits do, and since when       sets        which processes belong to a target
//   counters    what hits have added up            notices     what the programs report besides events
//   rings       the events                         proofs      which processes a session's user may see
//   sessions    what hits use of a session
//
// Each door's header says which threads may call it and how it fails.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "daemon/base/descriptor_store.h"
#include "daemon/base/fd.h"
#include "daemon/base/long_work.h"
#include "daemon/base/result.h"
#include "daemon/kernel/bpf_switching.h"
#include "daemon/kernel/calibration.h"
#include "daemon/kernel/chunks.h"
#include "daemon/kernel/counters.h"
#include "daemon/kernel/emulator.h"
#include "daemon/kernel/loading.h"
#include "daemon/kernel/notices.h"
#include "daemon/kernel/proofs.h"
#include "daemon/kernel/rings.h"
#include "daemon/kernel/session_rows.h"
#include "daemon/kernel/sets.h"
#include "daemon/kernel/shared_arrays.h"

namespace tracectl {

struct KernelOptions {
  // Probes on 5-byte nops become calls, even if this kernel then crashes children that a traced program
  // forks. The user guarantees that no traced program forks while it is traced.
  bool fast_nops = false;
  // Instructions that the kernel would single-step are carried out by a program, where the kernel lets it.
  bool emulates = false;
  // Finds what the kernel takes for a hit; the emulator may be null. Tests give costs to compute with.
  std::function<tc_hit_costs(Emulator*)> hit_costs = tracectl::hit_costs;
  // Hits at sites of Way::sleeping may wait for absent memory. If false, that way is served like Way::entry.
  bool sleeps = true;
  // For the sessions of one command, which load only what they need: the program that only counts is loaded
  // at once, for Way::counting, and that of Way::entry when a site needs it.
  bool for_one_command = false;
  // The store in which a former daemon may have left its tables. Borrowed: it must outlive the kernel.
  DescriptorStore* store = nullptr;
};

struct KernelChunks;

// Owns the loaded programs and the memory that they share with this process. Only the control thread may call it.
class Kernel {
 public:
  // Loads the programs. Needs CAP_BPF and CAP_PERFMON.
  static Result<std::unique_ptr<Kernel>> open(const KernelOptions& options = {});
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  Switching& switching() { return switching_; }
  Counters& counters() { return counters_; }
  const Counters& counters() const { return counters_; }
  Rings& rings() { return rings_; }
  SessionRows& sessions() { return sessions_; }
  ProcessProofs& proofs() { return proofs_; }
  Sets& sets() { return sets_; }
  Notices& notices() { return notices_; }

  // The number of possible CPUs, online or not: each has a row in memory that is kept per CPU.
  unsigned cpu_count() const { return cpu_count_; }
  // What the cost of a hit depends on. A nop is "fast" if the kernel turns the probe into a call; one of 5 bytes stays a
  // breakpoint where that call crashes children that a traced program forks (kernel/breakpoints.h).
  SiteCosts site_costs() { return switching_.site_costs(); }
  Emulates emulates() const { return emulator_ ? emulator_->emulates() : Emulates::nothing; }
  // Why nothing is emulated, if it should be.
  const Status& emulation() const { return emulation_; }
  // What the kernel takes for a hit. Programs that follow calls subtract it from now on.
  tc_hit_costs hit_costs();
  // The same as of the last measurement; zeros before the first.
  tc_hit_costs known_hit_costs() const;
  bool keeps_breakpoints() { return switching_.keeps_breakpoints(); }
  // The thread for what takes the kernel long.
  LongWork& long_work() { return long_work_; }

  // Whether its tables, and the programs that follow processes, are those of a former daemon. The tables then hold
  // the settings that were in force.
  bool is_restored() const { return !restored_.empty(); }
  // Puts these tables and programs into the store: all of them, or none.
  Status save_in(DescriptorStore& store);

 private:
  Kernel(LoadedPrograms programs, SharedArrays arrays, KernelChunks chunks, Notices notices,
         std::unique_ptr<Emulator> emulator, const KernelOptions& options);

  LongWork long_work_;
  Skeleton skeleton_;
  std::vector<Fd> restored_;  // links of a former daemon's programs that follow processes
  SharedArrays arrays_;
  std::unique_ptr<Emulator> emulator_;
  Status emulation_ = ok();
  const std::function<tc_hit_costs(Emulator*)> hit_costs_;
  const unsigned cpu_count_;
  Counters counters_;
  BpfSwitching switching_;
  Rings rings_;
  ProcessProofs proofs_;
  SessionRows sessions_;
  Sets sets_;
  Notices notices_;
};

}  // namespace tracectl
