// SPDX-License-Identifier: BSD-2-Clause
//
// The interface to the kernel: everything the engine asks of BPF goes through this class, so that
// tests can replace it by a kernel that refuses at the right moment.
//
// Methods that are neither const nor marked otherwise need the engine's writer lock. Counters may be
// read at the same time.
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

// One uprobe_multi link, with what belongs to it. Closing it disarms its sites, and returns when no program runs for
// them any more.
class Link {
 public:
  // `closing` does the closing; it is borrowed. `beside` is closed after the link.
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
  std::span<const ExitSite> exits = {};  // for Way::exits; borrowed
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

// A link arms all of its sites or none. `refused_sites` says which of them could not be armed.
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

// A descriptor of /proc/PID/mem, opened for reading since the process last executed a program.
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

// The rings of one session, one for each CPU. Closing them frees their memory.
struct Rings {
  std::vector<Fd> by_cpu;
  size_t size_bytes = 0;  // of each
};

// The time from a switch to the first hit on a CPU under the new epoch.
struct FirstHit {
  unsigned cpu = 0;
  uint64_t after_ns = 0;
};

// A wait returns when these have ended: the programs that may have loaded an earlier epoch, or whole
// hits, each of which runs the programs of all links at its site.
enum class Progress { of_programs, of_hits };

class Kernel {
 public:
  virtual ~Kernel() = default;

  // The number of possible CPUs, online or not: each has a row in memory that is kept per CPU.
  virtual unsigned cpu_count() const = 0;

  // Whether only threads of its process hit a link with a filter.
  virtual bool link_filter_is_exact() const = 0;

  // Whether the kernel may turn a probe on a 5-byte nop into a call. If not, arm() keeps it a
  // breakpoint, because on this kernel the call crashes children that a traced program forks
  // (kernel/breakpoints.h).
  virtual bool nop5_becomes_call() = 0;

  // The thread that arms, disarms and waits for progress.
  virtual LongWork& long_work() = 0;

  // ---- settings ----
  // Arms every site of the request, or none.
  virtual std::variant<Link, ArmFailure> arm(const ArmRequest& request) = 0;
  // Memory shared with the programs. The caller may write only what no program can read.
  virtual std::span<tc_slot> slots() = 0;
  virtual std::span<tc_hook> hooks() = 0;
  // The number of hooks in force at all slots together, for each generation.
  virtual std::span<uint32_t, 2> in_force() = 0;
  virtual void write_layout(uint32_t index, const Arguments& arguments) = 0;
  // Makes the tables that hits with this spec need first. If one cannot be made, the spec is not written.
  virtual Status write_spec(uint32_t index, const tc_spec& spec) = 0;
  virtual uint64_t epoch() const = 0;
  // The switch: one aligned store, which cannot fail.
  virtual void activate(uint64_t epoch) = 0;
  // Appends the first hit since the switch of each CPU that had one, and stops recording them.
  virtual void take_first_hits(std::vector<FirstHit>& first_hits) = 0;
  // Takes what wait_for_progress() needs while a commit can still fail, so that the wait cannot.
  virtual Status prepare_wait(Progress progress) = 0;
  // Returns when all that runs now, of the kind that was prepared for, has ended.
  virtual void wait_for_progress() = 0;

  // ---- results; may run beside a writer ----
  virtual tc_stat read_stat(uint32_t stat) const = 0;  // summed over the CPUs
  // Zeroes the counter. Entries that hits make in tables under its number are charged to the session's user.
  virtual void begin_stat(uint32_t stat, uint32_t session) = 0;
  virtual Result<std::vector<KeyCount>> read_counts() const = 0;
  virtual Result<std::vector<KeySum>> read_sums() const = 0;
  virtual Result<std::vector<KeyTime>> read_times() const = 0;
  virtual void delete_counts(std::span<const tc_key> keys) = 0;
  virtual void delete_sums(std::span<const tc_key> keys) = 0;
  virtual void delete_times(std::span<const tc_key> keys) = 0;
  // Deletes all keys of these counters, which no hook uses any more.
  virtual void forget_keys(const std::unordered_set<uint32_t>& stats) = 0;
  // The strings of keys, by their numbers; padded with 0.
  virtual Result<std::unordered_map<uint64_t, std::string>> read_texts() const = 0;
  // The stack that keys refer to by this number, if there is one.
  virtual std::optional<tc_key_stack> read_key_stack(uint64_t number) const = 0;
  // The paths of calls that keys refer to.
  virtual Result<std::vector<NumberedPath>> read_paths() const = 0;
  // Deletes all strings, stacks and paths of keys. Call it when no hook has such keys.
  virtual void forget_numbers() = 0;
  // The state of a hook that samples or limits, kept with these counters.
  virtual Status add_rate(uint32_t stat) = 0;
  virtual void remove_rate(uint32_t stat) = 0;

  // The state of a hook that is a side of a pair, kept with these counters; it lists this many of the slowest.
  virtual Status add_pair_stat(uint32_t stat, uint32_t slowest) = 0;
  virtual void remove_pair_stat(uint32_t stat) = 0;
  virtual tc_pair_stat read_pair_stat(uint32_t stat) const = 0;
  // Deletes the starts that wait for an end. Call it when no hook of the pair is in force. Takes no memory.
  virtual void forget_starts(uint32_t pair) = 0;

  // Deletes the calls that the session has followed, and the strings, stacks and paths of its keys. Call it when
  // the session has no hook any more.
  virtual void forget_session(uint32_t session) = 0;

  // ---- rings ----
  virtual Result<Rings> open_rings(uint32_t session, size_t size_bytes) = 0;
  // Takes the rings from the programs. Readers may still hold their descriptors.
  virtual void close_rings(uint32_t session) = 0;
  // The records for which this ring had no room. Any thread.
  virtual uint64_t ring_dropped(uint32_t session, unsigned cpu) const = 0;
  // How many of them the ring's reader has reported, from which the reader of the next daemon goes on. Any thread.
  struct RingSeen {
    uint64_t dropped = 0;  // reported
    uint64_t until_ns = 0;
  };
  virtual void note_ring_seen(uint32_t session, unsigned cpu, const RingSeen& seen) = 0;
  virtual RingSeen ring_seen(uint32_t session, unsigned cpu) const = 0;
  // Events that were read from the session's rings and did not reach its subscriber. They are reported to the next
  // subscriber, maybe by the next daemon. Any thread.
  virtual void note_untold(uint32_t session, uint64_t events) = 0;
  virtual uint64_t untold(uint32_t session) const = 0;
  // While true, the next record in any ring wakes its reader. Any thread.
  virtual void set_reader_sleeps(bool sleeps) = 0;

  // ---- sessions ----
  // Reserves a share of each table that hits fill for this many users.
  virtual void share_out(uint32_t users) = 0;
  // Begins a session without marked threads or proven processes, and with a closed gate. `owner` is that of its
  // TC_OWNED hooks; `account` counts the events that its user's sessions stream, 0 if they are not counted.
  virtual void begin_session(uint32_t session, const std::optional<Owner>& owner,
                             uint32_t account) = 0;
  // `account`: 1 to TC_MAX_ACCOUNTS - 1.
  virtual void begin_account(uint32_t account, uint64_t events_per_second) = 0;
  // From now on threads can be marked; none is at first.
  virtual void begin_marks(uint32_t session) = 0;
  virtual void write_tag(uint32_t session, uint32_t number, const std::string& tag) = 0;
  // The session's records and keys show the tags that programs give their own threads, unless they have another.
  virtual void show_own_tags(uint32_t session) = 0;
  // The tag with this number in a record. None if so many others came since that it was overwritten. Any thread.
  virtual std::optional<std::string> own_tag(uint32_t number) const = 0;
  // Threads that could not be marked, or whose own tags are not shown, because memory was short.
  virtual uint64_t marks_lost(uint32_t session) const = 0;
  // One atomic store; programs write the gate, too.
  virtual void set_gate(uint32_t session, bool open) = 0;
  virtual bool gate_is_open(uint32_t session) const = 0;

  // ---- what a session's user may see ----
  // Returns those of this process's descriptors that are /proc/PID/mem of the program a process executes now. The
  // kernel opens one only for users who may trace the process. With a session, its user may see the hits of these
  // processes from now on, and of the children they fork, until they execute another program. At most TC_MAX_PROOFS
  // descriptors.
  virtual Result<std::vector<ProvenMemory>> prove(std::span<const int> descriptors,
                                                  std::optional<uint32_t> session) = 0;
  // Whether the session's user may see the hits of the process.
  virtual bool has_proof(pid_t pid, uint32_t session) const = 0;
  // The processes, and their hits, that the session left out because no proof was given. Any thread.
  struct Unproven {
    uint64_t processes = 0, hits = 0;
  };
  virtual Unproven unproven(uint32_t session) const = 0;
  // Notices report the next TC_MOST_UNPROVEN_TOLD such processes, and no more until this is called again.
  virtual void hear_of_unproven(uint32_t session) = 0;

  // ---- notices ----
  // Readable when there are notices. Borrowed.
  virtual int notices_fd() const = 0;
  // The notices that have come, the oldest first.
  virtual std::vector<tc_notice> take_notices() = 0;
  // The session's next trigger asks for a dump. Later ones do not, until this is called again.
  virtual void listen_for_dumps(uint32_t session) = 0;
  // Notices report crashes of all processes.
  virtual void watch_crashes(bool watch) = 0;

  // ---- sets of processes ----
  virtual Status follow_executable(dev_t device, ino_t inode, uint32_t set_target) = 0;
  virtual void forget_executable(dev_t device, ino_t inode) = 0;
  // A process of the set stays in it when it executes this file, or ceases to.
  virtual Status keep_at_exec(dev_t device, ino_t inode, uint32_t set_target) = 0;
  virtual void end_at_exec(dev_t device, ino_t inode, uint32_t set_target) = 0;
  // `follow` says which of its children join the set.
  virtual Status add_member(pid_t pid, uint32_t set_target, Follow follow) = 0;
  virtual void remove_member(pid_t pid, uint32_t set_target) = 0;
  // Ends the set target: no process belongs to it any more.
  virtual void clear_members(uint32_t set_target) = 0;

  // ---- what is mapped later ----
  // Arms these offsets of a dynamic linker in this process only. Its hits send notices, as `linkers()[number]` says.
  // Closing the returned descriptor disarms them.
  virtual Result<Fd> arm_linker(int object_fd, std::span<const uint64_t> offsets, pid_t pid,
                                uint32_t number) = 0;
  // Memory shared with the programs.
  virtual std::span<tc_linker> linkers() = 0;
  // A notice reports the next process that joins the set by a fork or an exec. Later ones are not reported until
  // this is called again.
  virtual void hear_of_joining(uint32_t set_target) = 0;
  virtual void hear_no_more(uint32_t set_target) = 0;

  // ---- what outlives the daemon ----
  // Whether its tables, and the programs that follow processes, are those of a former daemon. The tables then hold
  // the settings that were in force.
  virtual bool is_adopted() const = 0;
  // Puts these tables and programs into the store: all of them, or none.
  virtual Status keep_in(DescriptorStore& store) = 0;
  // The session as an adopted kernel has it.
  virtual tc_session session_of(uint32_t session) const = 0;
  // Ends all set targets but these.
  virtual void end_sets_but(const tc_sets& kept) = 0;

  // ---- sets of cgroups ----
  // Cgroups that are made with this name in that parent belong to the set, and all below them.
  virtual Status follow_cgroup(uint64_t parent, const std::string& name, uint32_t set_target) = 0;
  // Adds a cgroup that exists. Those that are made in it from now on belong to the set too.
  virtual Status add_cgroup(uint64_t id, uint32_t set_target) = 0;
  // Ends the set target.
  virtual void clear_cgroups(uint32_t set_target) = 0;
  // Notices report the files that processes of these sets execute from now on, each once for each cgroup, also
  // those that were reported before.
  virtual void tell_of_execs() = 0;
};

}  // namespace tracectl
