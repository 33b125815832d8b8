// SPDX-License-Identifier: BSD-2-Clause
//
// The narrow door to the kernel: everything the engine asks of BPF goes through this class, so
// that tests can stand a kernel behind it that refuses at the right moment.
//
// Writers (everything that is not const or marked otherwise) are one at a time: the engine's
// writer lock is held. Readers of counters may run beside them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "bpf/abi.h"
#include "daemon/base/descriptor_store.h"
#include "daemon/base/fd.h"
#include "daemon/base/long_work.h"
#include "daemon/base/result.h"
#include "daemon/model/argument.h"
#include "daemon/model/owner.h"
#include "daemon/model/probe.h"
#include "daemon/model/target.h"

namespace tracectl {

using SlotId = uint32_t;

// One uprobe_multi link, with what belongs to it; closing it disarms its sites, and returns when no program runs for them.
class Link {
 public:
  // `closing`: borrowed; does the closing. `beside`: what is to be closed after it.
  Link(LongWork& closing, Fd fd, uint32_t incarnation, std::vector<Fd> beside = {})
      : closing_(&closing),
        beside_(std::move(beside)),
        fd_(std::move(fd)),
        incarnation_(incarnation) {}
  Link(Link&&) = default;
  Link& operator=(Link&&) = default;
  ~Link() {
    if (!fd_) return;
    closing_->run([&] {
      fd_.reset();
      beside_.clear();
    });
  }

  uint32_t incarnation() const { return incarnation_; }
  int fd() const { return fd_.get(); }
  const std::vector<Fd>& beside() const { return beside_; }

 private:
  LongWork* closing_;
  std::vector<Fd> beside_;
  Fd fd_;
  uint32_t incarnation_;
};

struct ArmedSite {
  SlotId slot = 0;
  uint64_t offset = 0;                   // in the file
  uint64_t semaphore = 0;                // in the file, 0 if the probe has none
  bool nop5 = false;                     // a 5-byte nop
  std::span<const ExitSite> exits = {};  // where the way is by exits; the bytes stay the caller's
};

// All sites of one link: one file, one filter.
struct ArmRequest {
  int object_fd = -1;
  std::string object_path;  // for messages
  pid_t filter = 0;         // the only process it traps, or 0 for all that map the file
  bool unmapped = false;    // that process does not map the file yet
  uint32_t incarnation = 0;
  Way way = Way::entry;
  std::vector<ArmedSite> sites;
};

// A link is all or nothing; `refused_sites` names what stood in the way.
struct ArmFailure {
  struct Site {
    size_t index = 0;  // in the request
    std::string reason;
  };
  Error error;
  std::vector<Site> refused_sites;
};

struct KeyCount {
  tc_key key;
  uint64_t count = 0;
};

struct KeySum {
  tc_key key;
  tc_sum sum{};
};

struct KeyTime {
  tc_key key;
  tc_time time{};
};

// A descriptor that is /proc/PID/mem, opened for reading, of the program that the process executes now.
struct ProvenMemory {
  int descriptor = -1;
  pid_t pid = 0;
};

struct NumberedPath {
  uint64_t number = 0;
  tc_path path{};
};

inline tc_record head_of(const tc_key_stack& stack) {
  tc_record head;
  std::memcpy(&head, stack.head, sizeof(head));
  return head;
}

// The rings of one session, one a CPU; closing them frees their memory.
struct Rings {
  std::vector<Fd> by_cpu;
  size_t size_bytes = 0;  // of each
};

// How long after a switch a CPU's first hit under the new epoch came.
struct FirstHit {
  unsigned cpu = 0;
  uint64_t after_ns = 0;
};

// What has to be over before a wait returns: programs that may have loaded an earlier epoch, or
// whole hits, each of which runs the programs of all links at its site.
enum class Progress { of_programs, of_hits };

class Kernel {
 public:
  virtual ~Kernel() = default;

  // Rows of per-CPU memory: every possible CPU has one, online or not.
  virtual unsigned cpu_count() const = 0;

  // Whether a link with a filter is hit by threads of its process only.
  virtual bool link_filter_is_exact() const = 0;

  // Whether a probe on a 5-byte nop is left to the kernel, which turns it into a call. Else arm()
  // keeps it a breakpoint: on this kernel a child that a traced program forks would die of the call
  // (kernel/breakpoints.h).
  virtual bool nop5_becomes_call() = 0;

  // By which it arms, disarms and waits for progress.
  virtual LongWork& long_work() = 0;

  // ---- settings ----
  // Arms every site of the request, or none.
  virtual std::variant<Link, ArmFailure> arm(const ArmRequest& request) = 0;
  // Memory shared with the programs. The caller keeps the rule: write only what no program reads.
  virtual std::span<tc_slot> slots() = 0;
  virtual std::span<tc_hook> hooks() = 0;
  // By generation: how many hooks are in force at all slots together.
  virtual std::span<uint32_t, 2> in_force() = 0;
  virtual void write_layout(uint32_t index, const Arguments& arguments) = 0;
  // What hits with the spec need is made before.
  virtual Status write_spec(uint32_t index, const tc_spec& spec) = 0;
  virtual uint64_t epoch() const = 0;
  // The switch: one aligned store. Cannot fail.
  virtual void activate(uint64_t epoch) = 0;
  // Of the CPUs on which a probe was hit since the switch; ends what notes them. Appends, at most
  // cpu_count() of them.
  virtual void take_first_hits(std::vector<FirstHit>& first_hits) = 0;
  // Makes sure, while a commit can still fail, that wait_for_progress() cannot.
  virtual Status prepare_wait(Progress progress) = 0;
  // Returns when all that was prepared for and runs now has ended.
  virtual void wait_for_progress() = 0;

  // ---- results; may run beside a writer ----
  virtual tc_stat read_stat(uint32_t stat) const = 0;  // summed over the CPUs
  // Zeroes it. The session's user is charged for what hits put into tables under its number.
  virtual void begin_stat(uint32_t stat, uint32_t session) = 0;
  virtual Result<std::vector<KeyCount>> read_counts() const = 0;
  virtual Result<std::vector<KeySum>> read_sums() const = 0;
  virtual Result<std::vector<KeyTime>> read_times() const = 0;
  virtual void delete_counts(std::span<const tc_key> keys) = 0;
  virtual void delete_sums(std::span<const tc_key> keys) = 0;
  virtual void delete_times(std::span<const tc_key> keys) = 0;
  // All keys of these counters, which no hook has any more.
  virtual void forget_keys(const std::unordered_set<uint32_t>& stats) = 0;
  // Strings of keys, by their numbers; what is behind their ends may be 0.
  virtual Result<std::unordered_map<uint64_t, std::string>> read_texts() const = 0;
  // A stack of keys, by its number; none if there is none.
  virtual std::optional<tc_key_stack> read_key_stack(uint64_t number) const = 0;
  // Paths of calls that keys have.
  virtual Result<std::vector<NumberedPath>> read_paths() const = 0;
  // All these, when no hook has such keys.
  virtual void forget_numbers() = 0;
  // What a hook that samples or limits keeps beside these counters.
  virtual Status add_rate(uint32_t stat) = 0;
  virtual void remove_rate(uint32_t stat) = 0;

  // What a hook that is a side of a pair keeps beside these counters, with so many of the slowest.
  virtual Status add_pair_stat(uint32_t stat, uint32_t slowest) = 0;
  virtual void remove_pair_stat(uint32_t stat) = 0;
  virtual tc_pair_stat read_pair_stat(uint32_t stat) const = 0;
  // Takes no memory. When no hook of the pair is in force.
  virtual void forget_starts(uint32_t pair) = 0;

  // Calls of threads that the session has followed, and strings, stacks and paths of its keys; when it has no hook
  // any more.
  virtual void forget_session(uint32_t session) = 0;

  // ---- rings ----
  virtual Result<Rings> open_rings(uint32_t session, size_t size_bytes) = 0;
  // Takes them from the programs; whoever reads them may still hold their descriptors.
  virtual void close_rings(uint32_t session) = 0;
  // Any thread. Records this ring of this session has had no room for.
  virtual uint64_t ring_dropped(uint32_t session, unsigned cpu) const = 0;
  // Any thread. What the reader of this ring has told of such, as the next daemon's goes on from there.
  struct RingSeen {
    uint64_t dropped = 0;  // of which it has told
    uint64_t until_ns = 0;
  };
  virtual void note_ring_seen(uint32_t session, unsigned cpu, const RingSeen& seen) = 0;
  virtual RingSeen ring_seen(uint32_t session, unsigned cpu) const = 0;
  // Any thread. Events of the session that were read from its rings and have not reached who had subscribed: for
  // who subscribes next, maybe at the next daemon.
  virtual void note_untold(uint32_t session, uint64_t events) = 0;
  virtual uint64_t untold(uint32_t session) const = 0;
  // Any thread. While true, the next record of any ring wakes whoever polls it.
  virtual void set_reader_sleeps(bool sleeps) = 0;

  // ---- sessions ----
  // So many users have a share of each table that hits fill.
  virtual void share_out(uint32_t users) = 0;
  // A new one: no thread is marked, its gate is closed, no process is proven to it.
  // `owner`: of hooks that are TC_OWNED; `account`: of what its user's sessions stream, or 0.
  virtual void begin_session(uint32_t session, const std::optional<Owner>& owner,
                             uint32_t account) = 0;
  // From 1 to TC_MAX_ACCOUNTS - 1.
  virtual void begin_account(uint32_t account, uint64_t events_per_second) = 0;
  // Threads can be marked, and none is.
  virtual void begin_marks(uint32_t session) = 0;
  virtual void write_tag(uint32_t session, uint32_t number, const std::string& tag) = 0;
  // Its records and keys have the tags that programs give their own threads, where they have no other.
  virtual void show_own_tags(uint32_t session) = 0;
  // Any thread. What a tag's number in a record stands for; none where so many others have been seen
  // since that it is no longer there.
  virtual std::optional<std::string> own_tag(uint32_t number) const = 0;
  // Threads that could not be marked, or whose own tags are not seen, for want of memory.
  virtual uint64_t marks_lost(uint32_t session) const = 0;
  // One store, beside those of the programs.
  virtual void set_gate(uint32_t session, bool open) = 0;
  virtual bool gate_is_open(uint32_t session) const = 0;

  // ---- what a session's user may see ----
  // Those of these descriptors of this process that are the memory of a process as it is now, which the kernel
  // gives to whom it lets trace the process. With a session, hits of these processes are its user's to see from now
  // on, and those of what they fork, until they execute another program. At most TC_MAX_PROOFS at a time.
  virtual Result<std::vector<ProvenMemory>> prove(std::span<const int> descriptors,
                                                  std::optional<uint32_t> session) = 0;
  // Whether hits of the process are.
  virtual bool has_proof(pid_t pid, uint32_t session) const = 0;
  // What the session had left out for want of a proof. Any thread.
  struct Unproven {
    uint64_t processes = 0, hits = 0;
  };
  virtual Unproven unproven(uint32_t session) const = 0;
  // Notices tell of TC_MOST_UNPROVEN_TOLD such processes, and of no more until this is called again.
  virtual void hear_of_unproven(uint32_t session) = 0;

  // ---- notices ----
  // Readable when there are some. The kernel's own.
  virtual int notices_fd() const = 0;
  // Those that have come, the oldest first.
  virtual std::vector<tc_notice> take_notices() = 0;
  // The session's next trigger asks for a dump; none behind it does, until this is called again.
  virtual void listen_for_dumps(uint32_t session) = 0;
  // Of all processes.
  virtual void watch_crashes(bool watch) = 0;

  // ---- sets of processes ----
  virtual Status follow_executable(dev_t device, ino_t inode, uint32_t set_target) = 0;
  virtual void forget_executable(dev_t device, ino_t inode) = 0;
  // A process of the set stays in it where it executes this file, or no more.
  virtual Status keep_at_exec(dev_t device, ino_t inode, uint32_t set_target) = 0;
  virtual void end_at_exec(dev_t device, ino_t inode, uint32_t set_target) = 0;
  // `follow`: to which of its children it hands membership on.
  virtual Status add_member(pid_t pid, uint32_t set_target, Follow follow) = 0;
  virtual void remove_member(pid_t pid, uint32_t set_target) = 0;
  // The set target ends: no process belongs to it any more.
  virtual void clear_members(uint32_t set_target) = 0;

  // ---- what is mapped later ----
  // Arms these places of a dynamic linker in this process alone; its hits tell of themselves by notices as
  // `linkers()[number]` says. Closing what is returned disarms them.
  virtual Result<Fd> arm_linker(int object_fd, std::span<const uint64_t> offsets, pid_t pid,
                                uint32_t number) = 0;
  // Memory shared with the programs.
  virtual std::span<tc_linker> linkers() = 0;
  // The next process that joins the set by a fork or an exec is told by a notice; none behind it is, until this
  // is called again.
  virtual void hear_of_joining(uint32_t set_target) = 0;
  virtual void hear_no_more(uint32_t set_target) = 0;

  // ---- what outlives the daemon ----
  // Its tables are a former daemon's, and say what that had in force. So are the programs that follow processes.
  virtual bool is_adopted() const = 0;
  // Puts these into the store.
  virtual Status keep_in(DescriptorStore& store) = 0;
  // Of an adopted kernel.
  virtual tc_session session_of(uint32_t session) const = 0;
  // All set targets but these end: nothing belongs to them, nor will.
  virtual void end_sets_but(const tc_sets& kept) = 0;

  // ---- sets of cgroups ----
  // Whatever cgroup is made under this name in that one belongs to the set, and all below it.
  virtual Status follow_cgroup(uint64_t parent, const std::string& name, uint32_t set_target) = 0;
  // One that is there. Those that are made in it from now on belong to the set, too.
  virtual Status add_cgroup(uint64_t id, uint32_t set_target) = 0;
  // The set target ends.
  virtual void clear_cgroups(uint32_t set_target) = 0;
  // What processes of these sets execute from now on is told by notices, each file once for each cgroup.
  // What was told before is told again.
  virtual void tell_of_execs() = 0;
};

}  // namespace tracectl
