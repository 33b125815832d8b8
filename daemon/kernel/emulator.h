// SPDX-License-Identifier: BSD-2-Clause
//
// Instructions that the kernel would single-step, carried out by a BPF program instead (bpf/emulator.bpf.c). A kernel lets
// programs write a thread's registers, or refuses this one; on x86-64 only.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/object/code/emulation.h"

namespace tracectl {

class EmulatedPlaces;

// Only the control thread, and the thread of long work for it, may call it.
class Emulator {
 public:
  // Loads the program, and tries it in a child of our own; Code::unsupported with the reason where instructions are not
  // carried out, or not rightly.
  static Result<std::unique_ptr<Emulator>> open();
  ~Emulator();

  // Never Emulates::nothing. Loads are emulated where the trial saw that a program reads a word that another thread is
  // writing whole, as the processor does.
  Emulates emulates() const { return emulates_; }

  struct Place {
    uint64_t offset = 0;  // of the instruction, in the file
    Standing standing = Standing::within;
    bool is_emulated =
        true;  // if not, the kernel is to step it: nor will other links emulate it for these programs
  };
  // What carries out the instructions at some places, until it is given up. That waits for programs that run.
  using Armed = std::shared_ptr<const void>;
  // Arms those of the places whose instruction it carries out; the kernel steps the others. To be called before the
  // programs are armed there, with all instructions that the kernel would step: what was armed first runs last. `filter`
  // as in UprobeMulti. Null if the kernel refuses, and errno says why.
  Armed arm(int object_fd, pid_t filter, std::span<const Place> places);
  // Until the result is given up, the kernel steps in the whole file: programs are armed there already, at places that
  // only a former daemon knew.
  std::shared_ptr<const void> leave_to_kernel(int object_fd);

 private:
  Emulator(Fd program, std::shared_ptr<EmulatedPlaces> places);

  Fd program_;
  std::shared_ptr<EmulatedPlaces> places_;
  Emulates emulates_ = Emulates::all;  // in the trial; then what it showed
};

}  // namespace tracectl
