// SPDX-License-Identifier: BSD-2-Clause
//
// Instructions that the kernel would single-step, carried out by a BPF program instead (bpf/emulator.bpf.c). A kernel lets
// programs write a thread's registers, or refuses this one: mostly since Linux 6.18 or 6.19, on x86-64 only.
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

  // Never Emulates::nothing. Loads are emulated where the trial saw that a program reads memory that another thread is
  // writing as the processor does: whole.
  Emulates emulates() const { return emulates_; }

  struct Place {
    uint64_t offset = 0;  // of the instruction, in the file
    Standing standing = Standing::within;
    bool is_emulated =
        true;  // if not, the kernel is to step it: nor will other links emulate it for these programs
  };
  // The links that carry out what stands at some places. `places` must be kept until they are closed.
  struct Armed {
    std::vector<Fd> links;
    std::shared_ptr<const void> places;
  };
  // Arms those of the places whose instruction it carries out; the kernel steps the others. To be called before the
  // programs are armed there, with all instructions that the kernel would step: what was armed first runs last. `filter` as in UprobeMulti. None if the kernel
  // refuses, and errno says why.
  std::optional<Armed> arm(int object_fd, pid_t filter, std::span<const Place> places);

 private:
  Emulator(Fd program, std::shared_ptr<EmulatedPlaces> places);

  Fd program_;
  std::shared_ptr<EmulatedPlaces> places_;
  Emulates emulates_ = Emulates::all;  // in the trial; then what it showed
};

}  // namespace tracectl
