// SPDX-License-Identifier: BSD-2-Clause
//
// The doctor's tools: a child of our own that calls a few functions a given number of times, and a BPF
// program that counts.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/base/mapping.h"
#include "daemon/base/result.h"
#include "daemon/kernel/own_child.h"
#include "daemon/kernel/trial_code.h"

namespace tracectl {

// The instruction; null if the machine has none such.
const void* address_of(TrialFunction function);

class TrialChild {
 public:
  static Result<TrialChild> start();

  pid_t pid() const { return child_.pid(); }

  struct Outcome {
    uint64_t took_ns = 0;
    uint64_t wrong = 0;  // calls after which its data had changed
  };
  // None if the child crashed or did not answer within some seconds.
  std::optional<Outcome> call(TrialFunction function, uint64_t times);
  // Calls it once, in a child of the child; a crash counts as wrong.
  std::optional<Outcome> call_in_fork(TrialFunction function);
  // In a process that shares the memory of the child, as one of vfork() does.
  std::optional<Outcome> call_by_sharer(TrialFunction function, uint64_t times);
  // From then on the kernel kills the child at any system call but read, write and exit. took_ns is 0, because reading
  // the clock may be a system call.
  std::optional<Outcome> call_under_filter(TrialFunction function, uint64_t times);

 private:
  TrialChild(pid_t pid, Fd orders, Fd results)
      : child_(pid), orders_(std::move(orders)), results_(std::move(results)) {}

  enum class How : uint8_t { timed, in_fork, by_sharer, under_filter };
  struct Order {
    TrialFunction function;
    How how;
    uint64_t times;
  };
  static Outcome carry_out(const Order& order);
  [[noreturn]] static void obey(int orders, int results);
  std::optional<Outcome> give(const Order& order);

  OwnChild child_;
  Fd orders_;
  Fd results_;
};

// Whether the kernel has had an instruction to step in the process: it then maps a page into it (kernel/events/uprobes.c,
// xol_add_vma).
bool has_page_for_steps(pid_t pid);

// Arms a program at instructions of the trial functions, in one process only. Closing the descriptors disarms it. None if
// the kernel refuses one of the places; errno says why.
std::vector<Fd> arm_places(int program_fd, unsigned attach_type,
                           std::span<const void* const> places, pid_t filter);

// The same at the site of one function. Closing the link disarms it. Returns none and sets errno if the kernel refuses.
Fd arm_trial(int program_fd, unsigned attach_type, TrialFunction function, pid_t filter);

// A uprobe program that returns from TrialFunction::nop at its nop, with `result`: it writes to its context, the
// registers. For links of attach_type_at_uprobes().
Result<Fd> load_returning_program(int32_t result);

// Whether a process lives whose filter of system calls knows nothing of the one that the return trampoline makes (Linux
// 6.11 to 6.13 killed it). False if it cannot be tried; tried
// again unless it was seen.
bool trampoline_passes_seccomp();

// A uprobe program that adds one to a counter.
class CountingProgram {
 public:
  // `attach_type`: attach_type_at_uprobes() or kAttachUprobeSession.
  static Result<CountingProgram> load(unsigned attach_type);

  Fd arm(TrialFunction function, pid_t filter) const {  // as arm_trial()
    return arm_trial(program_.get(), attach_type_, function, filter);
  }
  uint64_t count() const;
  int fd() const { return program_.get(); }

 private:
  CountingProgram(Fd program, Fd map, Mapping counter, unsigned attach_type)
      : program_(std::move(program)),
        map_(std::move(map)),
        counter_(std::move(counter)),
        attach_type_(attach_type) {}

  Fd program_;
  Fd map_;
  Mapping counter_;
  unsigned attach_type_;
};

// uprobe programs that measure the time from a hit of one to a hit of the other.
class CallWatch {
 public:
  // One program for a function's entry and its return: for links of kAttachUprobeSession.
  static Result<CallWatch> for_trampolines();
  // Two programs, for links of attach_type_at_uprobes().
  static Result<CallWatch> for_exits();

  int at_entry() const { return at_entry_.get(); }
  int at_exit() const { return at_exit_ ? at_exit_.get() : at_entry_.get(); }

  struct Reading {
    uint64_t started_ns = 0;  // the last start
    uint64_t total_ns = 0;
    uint64_t count = 0;
  };
  Reading read() const;

 private:
  struct Table {
    Fd map;
    Mapping memory;
  };
  static Result<Table> make_table();
  CallWatch(Table table, Fd at_entry, Fd at_exit)
      : table_(std::move(table)), at_entry_(std::move(at_entry)), at_exit_(std::move(at_exit)) {}

  Table table_;
  Fd at_entry_, at_exit_;
};

}  // namespace tracectl
