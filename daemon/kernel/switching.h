// SPDX-License-Identifier: BSD-2-Clause
//
// The kernel's door for settings: what hits at armed sites do, and since when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "bpf/abi.h"
#include "daemon/base/long_work.h"
#include "daemon/base/result.h"
#include "daemon/kernel/chunked_table.h"
#include "daemon/kernel/link.h"
#include "daemon/model/argument.h"

namespace tracectl {

// The time from a switch to the first hit on a CPU under the new epoch.
struct FirstHit {
  unsigned cpu = 0;
  uint64_t after_ns = 0;
};

// A wait returns when these have ended: the programs that may have loaded an earlier epoch, or whole
// hits, each of which runs the programs of all links at its site.
enum class Progress { of_programs, of_hits };

// What programs note of threads in traced calls, between hits.
enum class ThreadFacts : uint8_t { off_cpu, system_calls };

// Only the control thread may call it. It owns the loaded programs that serve sites, and borrows the memory that it
// shares with them. What the kernel refuses is an Error{Code::kernel} or that of its errno, or Code::unsupported if
// this kernel, or this instruction, cannot do it; what returns no Status cannot fail.
//
// Virtual is what asks the kernel, so that a test can refuse it; the rest is memory.
class Switching {
 public:
  // Memory shared with the programs, borrowed.
  struct Shared {
    ChunkedTable<tc_slot> slots;
    ChunkedTable<tc_hook> hooks;
    std::span<tc_layout> layouts;
    std::span<const tc_first_hit> first_hits;  // by CPU
    std::span<uint32_t, 2> in_force;
    __u64& epoch;
    __u32& attention;
  };

  virtual ~Switching() = default;
  Switching(const Switching&) = delete;
  Switching& operator=(const Switching&) = delete;

  // Whether there are descriptors for so many places; asked before the first of them is armed.
  virtual Status prepare_arm(size_t places) {
    (void)places;
    return ok();
  }
  // Arms every site of the request, or none.
  virtual std::variant<Link, ArmFailure> arm(const ArmRequest& request) = 0;
  // Until the result is given up, no instruction of the file is emulated for links that are made now: links of a former
  // daemon are there already, at places that are not known. May return null.
  virtual std::shared_ptr<const void> leave_to_kernel(int object_fd) {
    (void)object_fd;
    return nullptr;
  }
  // Whether each site takes a descriptor, and a grace period to disarm (kernel/perf_uprobes.h).
  virtual bool disarms_one_by_one() const { return false; }

  // The caller may write only what no program can read.
  const ChunkedTable<tc_slot>& slots() const { return shared_.slots; }
  const ChunkedTable<tc_hook>& hooks() const { return shared_.hooks; }
  // Makes the memory of all slots and hooks below these numbers. What was made stays.
  Status make_room(uint32_t slots_end, uint32_t hooks_end);
  // How much memory that takes.
  uint64_t bytes_to_make(uint32_t slots_end, uint32_t hooks_end) const {
    return uint64_t{shared_.slots.chunks_to_make(slots_end)} * TC_CHUNK_SLOTS * sizeof(tc_slot) +
           uint64_t{shared_.hooks.chunks_to_make(hooks_end)} * TC_CHUNK_HOOKS * sizeof(tc_hook);
  }
  // The number of hooks in force at all slots together, for each generation.
  std::span<uint32_t, 2> in_force() const { return shared_.in_force; }
  void write_layout(uint32_t index, const Arguments& arguments);
  // Makes the tables that hits with this spec need first. If one cannot be made, the spec is not written.
  virtual Status write_spec(uint32_t index, const tc_spec& spec) = 0;
  // Until the result is given up, threads in traced calls are followed, for specs that need it.
  virtual Result<std::shared_ptr<const void>> follow_threads(ThreadFacts) {
    return std::shared_ptr<const void>{};
  }
  // Deletes all strings, stacks and paths of keys. Call it when no spec in use has such keys.
  virtual void forget_numbers() = 0;

  uint64_t epoch() const { return shared_.epoch; }
  // The switch: one aligned store, which cannot fail.
  virtual void activate(uint64_t epoch);
  // Appends the first hit since the switch of each CPU that had one, and stops recording them.
  void take_first_hits(std::vector<FirstHit>& first_hits);
  size_t most_first_hits() const { return shared_.first_hits.size(); }

  // Takes what wait_for_progress() needs while a commit can still fail, so that the wait cannot.
  virtual Status prepare_wait(Progress progress) = 0;
  // Returns when all that runs now, of the kind that was prepared for, has ended.
  virtual void wait_for_progress() = 0;

  // The thread that arms, disarms and waits for progress.
  LongWork& long_work() const { return long_work_; }

 protected:
  Switching(LongWork& long_work, const Shared& shared) : long_work_(long_work), shared_(shared) {}

  // One more chunk, zeroed.
  virtual Result<std::span<tc_slot>> make_slots() = 0;
  virtual Result<std::span<tc_hook>> make_hooks() = 0;
  void add_chunk(std::span<tc_slot> chunk) { shared_.slots.add_chunk(chunk); }
  void add_chunk(std::span<tc_hook> chunk) { shared_.hooks.add_chunk(chunk); }
  void attend_to(uint32_t what);

 private:
  LongWork& long_work_;
  Shared shared_;
  uint64_t switched_ns_ = 0;
};

}  // namespace tracectl
