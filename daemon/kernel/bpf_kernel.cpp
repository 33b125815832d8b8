// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/bpf_kernel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "bpf/tracer.skel.h"
#include "daemon/base/clock.h"
#include "daemon/base/mapping.h"
#include "daemon/kernel/arm.h"
#include "daemon/kernel/breakpoints.h"
#include "daemon/kernel/cgroup_sets.h"
#include "daemon/kernel/kept_tables.h"
#include "daemon/kernel/key_tables.h"
#include "daemon/kernel/layout.h"
#include "daemon/kernel/notices.h"
#include "daemon/kernel/pair_tables.h"
#include "daemon/kernel/process_sets.h"
#include "daemon/kernel/programs.h"
#include "daemon/kernel/progress.h"
#include "daemon/kernel/proofs.h"
#include "daemon/kernel/release.h"
#include "daemon/kernel/rooms.h"
#include "daemon/kernel/tables.h"
#include "daemon/kernel/uprobe_multi.h"

namespace tracectl {
namespace {

// The inode of the initial PID namespace: include/linux/proc_ns.h, PROC_PID_INIT_INO.
constexpr ino_t kInitialPidNamespace = 0xEFFFFFFC;

struct SkeletonDeleter {
  void operator()(tracer* skeleton) const { tracer::destroy(skeleton); }
};
using Skeleton = std::unique_ptr<tracer, SkeletonDeleter>;

template <class T> Result<Mapping> map_array(const bpf_map* map) {
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t bytes = size_t{bpf_map__max_entries(map)} * sizeof(T);
  return Mapping::map(bpf_map__fd(map), 0, (bytes + page - 1) / page * page, PROT_READ | PROT_WRITE,
                      MAP_SHARED);
}

template <class T> std::span<T> view(const Mapping& mapping) {
  return {static_cast<T*>(mapping.data()), mapping.size() / sizeof(T)};
}

class BpfKernel final : public Kernel {
 public:
  static Result<std::unique_ptr<Kernel>> open(const KernelOptions& options);

  unsigned cpu_count() const override { return cpu_count_; }
  bool link_filter_is_exact() const override { return link_filter_is_exact_; }

  bool nop5_becomes_call() override;
  LongWork& long_work() override { return long_work_; }
  std::variant<Link, ArmFailure> arm(const ArmRequest& request) override {
    std::optional<std::variant<Link, ArmFailure>> armed;
    long_work_.run([&] { armed = arm_now(request); });
    return std::move(*armed);
  }
  std::variant<Link, ArmFailure> arm_now(const ArmRequest& request) {
    const bool any_nop5 = std::any_of(request.sites.begin(), request.sites.end(),
                                      [](const ArmedSite& site) { return site.nop5; });
    IgnoreHits ignore;
    if (any_nop5 && !nop5_becomes_call()) ignore = [this](pid_t pid) { ignore_hits_by(pid); };
    const auto programs = programs_.of(request.way);
    if (!programs) return ArmFailure{programs.error(), {}};
    return arm_sites(long_work_, *programs, request, ignore);
  }
  std::span<tc_slot> slots() override { return skeleton_->bss->slots; }
  std::span<uint32_t, 2> in_force() override { return skeleton_->bss->in_force; }
  std::span<tc_hook> hooks() override { return view<tc_hook>(hooks_); }
  void write_layout(uint32_t index, const Arguments& arguments) override {
    view<tc_layout>(layouts_)[index] = layout_of(arguments);
  }
  Status write_spec(uint32_t index, const tc_spec& spec) override {
    auto made = key_tables_.make_for(spec, long_work_);
    if (made) view<tc_spec>(specs_)[index] = spec;
    return made;
  }
  uint64_t epoch() const override { return skeleton_->bss->epoch; }
  void activate(uint64_t epoch) override;
  void take_first_hits(std::vector<FirstHit>& first_hits) override;
  Status prepare_wait(Progress progress) override { return progress_.prepare(progress); }
  void wait_for_progress() override {
    long_work_.run([&] { progress_.wait(); });
  }

  tc_stat read_stat(uint32_t stat) const override;
  void begin_stat(uint32_t stat, uint32_t session) override;
  Result<std::vector<KeyCount>> read_counts() const override { return key_tables_.counts(); }
  Result<std::vector<KeySum>> read_sums() const override { return key_tables_.sums(); }
  Result<std::vector<KeyTime>> read_times() const override { return key_tables_.times(); }
  void delete_times(std::span<const tc_key> keys) override { delete_keys(TC_TABLE_TIMES, keys); }
  void forget_keys(const std::unordered_set<uint32_t>& stats) override;
  void forget_session(uint32_t session) override;
  void delete_counts(std::span<const tc_key> keys) override { delete_keys(TC_TABLE_COUNTS, keys); }
  void delete_sums(std::span<const tc_key> keys) override { delete_keys(TC_TABLE_SUMS, keys); }
  Result<std::unordered_map<uint64_t, std::string>> read_texts() const override {
    return tracectl::read_texts(skeleton_->maps.texts);
  }
  std::optional<tc_key_stack> read_key_stack(uint64_t number) const override {
    return tracectl::read_key_stack(skeleton_->maps.key_stacks, number);
  }
  Result<std::vector<NumberedPath>> read_paths() const override {
    return tracectl::read_paths(skeleton_->maps.paths);
  }
  void forget_numbers() override;
  Status add_rate(uint32_t stat) override;
  void remove_rate(uint32_t stat) override {
    bpf_map_delete_elem(bpf_map__fd(skeleton_->maps.rates), &stat);
  }

  Status add_pair_stat(uint32_t stat, uint32_t slowest) override {
    return tracectl::add_pair_stat(skeleton_->maps.pair_stats, stat, slowest);
  }
  void remove_pair_stat(uint32_t stat) override {
    bpf_map_delete_elem(bpf_map__fd(skeleton_->maps.pair_stats), &stat);
  }
  tc_pair_stat read_pair_stat(uint32_t stat) const override {
    return tracectl::read_pair_stat(skeleton_->maps.pair_stats, stat);
  }
  void forget_starts(uint32_t pair) override {
    tracectl::forget_starts(skeleton_->maps.starts, pair, [this](uint32_t session) {
      rooms().give_back(TC_TABLE_STARTS, account_of(session), 1);
    });
  }

  Result<Rings> open_rings(uint32_t session, size_t size_bytes) override;
  void close_rings(uint32_t session) override;
  uint64_t ring_dropped(uint32_t session, unsigned cpu) const override {
    const auto& loss = view<tc_ring_loss>(losses_)[session * cpu_count_ + cpu];
    return __atomic_load_n(&loss.dropped, __ATOMIC_ACQUIRE);
  }
  void note_ring_seen(uint32_t session, unsigned cpu, const RingSeen& seen) override {
    auto& loss = view<tc_ring_loss>(losses_)[session * cpu_count_ + cpu];
    __atomic_store_n(&loss.told, seen.dropped, __ATOMIC_RELAXED);
    __atomic_store_n(&loss.seen_ns, seen.until_ns, __ATOMIC_RELAXED);
  }
  RingSeen ring_seen(uint32_t session, unsigned cpu) const override {
    const auto& loss = view<tc_ring_loss>(losses_)[session * cpu_count_ + cpu];
    return {loss.told, loss.seen_ns};
  }
  void note_untold(uint32_t session, uint64_t events) override {
    auto& loss = view<tc_ring_loss>(losses_)[session * cpu_count_];
    __atomic_store_n(&loss.untold, events, __ATOMIC_RELAXED);
  }
  uint64_t untold(uint32_t session) const override {
    return view<tc_ring_loss>(losses_)[session * cpu_count_].untold;
  }
  void set_reader_sleeps(bool sleeps) override {
    __atomic_store_n(&skeleton_->bss->reader_sleeps, sleeps ? 1u : 0u, __ATOMIC_SEQ_CST);
  }

  void share_out(uint32_t users) override { rooms().share_out(users); }
  void begin_account(uint32_t account, uint64_t events_per_second) override {
    rooms().end_account(account);
    tc_account begun{};
    begun.events_per_second = events_per_second;
    view<tc_account>(accounts_)[account] = begun;
  }
  void begin_session(uint32_t session, const std::optional<Owner>& owner,
                     uint32_t account) override {
    tc_session begun{};
    begun.account = account;
    if (owner) proofs_.forget(session);
    if (owner)
      begun.owner = {.capabilities = owner->capabilities,
                     .uid = owner->uid,
                     .gid = owner->gid,
                     .user_namespace = owner->user_namespace,
                     .pad = 0};
    view<tc_session>(sessions_)[session] = begun;
  }
  void begin_marks(uint32_t session) override {
    __atomic_store_n(&view<tc_session>(sessions_)[session].marks, ++last_marks_, __ATOMIC_RELEASE);
  }
  void write_tag(uint32_t session, uint32_t number, const std::string& tag) override;
  void show_own_tags(uint32_t session) override {
    __atomic_store_n(&view<tc_session>(sessions_)[session].has_own_tags, 1u, __ATOMIC_RELEASE);
  }
  std::optional<std::string> own_tag(uint32_t number) const override;
  uint64_t marks_lost(uint32_t session) const override {
    return __atomic_load_n(&view<tc_session>(sessions_)[session].marks_lost, __ATOMIC_RELAXED);
  }
  void set_gate(uint32_t session, bool open) override {
    __atomic_store_n(&view<tc_session>(sessions_)[session].is_open, open ? 1u : 0u,
                     __ATOMIC_SEQ_CST);
  }
  bool gate_is_open(uint32_t session) const override {
    return __atomic_load_n(&view<tc_session>(sessions_)[session].is_open, __ATOMIC_SEQ_CST) != 0;
  }

  Result<std::vector<ProvenMemory>> prove(std::span<const int> descriptors,
                                          std::optional<uint32_t> session) override {
    return proofs_.prove(descriptors, session);
  }
  bool has_proof(pid_t pid, uint32_t session) const override {
    return proofs_.has_proof(pid, session);
  }
  Unproven unproven(uint32_t session) const override {
    const tc_session& of = view<tc_session>(sessions_)[session];
    return {__atomic_load_n(&of.unproven_processes, __ATOMIC_RELAXED),
            __atomic_load_n(&of.unproven_hits, __ATOMIC_RELAXED)};
  }

  void hear_of_unproven(uint32_t session) override {
    tc_session& of = view<tc_session>(sessions_)[session];
    __atomic_store_n(&of.unproven_heard, __atomic_load_n(&of.unproven_told, __ATOMIC_RELAXED),
                     __ATOMIC_RELAXED);
  }

  int notices_fd() const override { return bpf_map__fd(skeleton_->maps.notices); }
  std::vector<tc_notice> take_notices() override { return notices_->take(); }
  void listen_for_dumps(uint32_t session) override {
    __atomic_store_n(&view<tc_session>(sessions_)[session].hears_of_dumps, 1u, __ATOMIC_SEQ_CST);
  }
  void watch_crashes(bool watch) override {
    __atomic_store_n(&skeleton_->bss->watches_crashes, watch ? 1u : 0u, __ATOMIC_SEQ_CST);
  }

  Status follow_executable(dev_t device, ino_t inode, uint32_t set_target) override {
    return process_sets_.follow_executable(device, inode, set_target);
  }
  void forget_executable(dev_t device, ino_t inode) override {
    process_sets_.forget_executable(device, inode);
  }
  Status keep_at_exec(dev_t device, ino_t inode, uint32_t set_target) override {
    return process_sets_.keep_at_exec(device, inode, set_target);
  }
  void end_at_exec(dev_t device, ino_t inode, uint32_t set_target) override {
    process_sets_.end_at_exec(device, inode, set_target);
  }
  Status add_member(pid_t pid, uint32_t set_target, Follow follow) override {
    return process_sets_.add_member(pid, set_target, follow);
  }
  void remove_member(pid_t pid, uint32_t set_target) override {
    process_sets_.remove_member(pid, set_target);
  }
  void clear_members(uint32_t set_target) override { process_sets_.clear_members(set_target); }
  Status follow_cgroup(uint64_t parent, const std::string& name, uint32_t set_target) override {
    return cgroup_sets_.follow_cgroup(parent, name, set_target);
  }
  Status add_cgroup(uint64_t id, uint32_t set_target) override {
    return cgroup_sets_.add_cgroup(id, set_target);
  }
  void clear_cgroups(uint32_t set_target) override { cgroup_sets_.clear_cgroups(set_target); }
  void tell_of_execs() override {
    __atomic_add_fetch(&skeleton_->bss->exec_listing, 1, __ATOMIC_SEQ_CST);
  }

  Result<Fd> arm_linker(int object_fd, std::span<const uint64_t> offsets, pid_t pid,
                        uint32_t number) override;
  std::span<tc_linker> linkers() override { return skeleton_->bss->linkers; }
  void hear_of_joining(uint32_t set_target) override {
    __atomic_fetch_or(&hearing_word(set_target), uint64_t{1} << (set_target % 64),
                      __ATOMIC_SEQ_CST);
  }
  void hear_no_more(uint32_t set_target) override {
    __atomic_fetch_and(&hearing_word(set_target), ~(uint64_t{1} << (set_target % 64)),
                       __ATOMIC_SEQ_CST);
  }

  bool is_adopted() const override { return !adopted_programs_.empty(); }
  Status keep_in(DescriptorStore& store) override {
    auto kept = keep_tables(*skeleton_, adopted_programs_, store);
    if (kept) kept = key_tables_.keep_in(store);
    if (kept) kept = programs_.keep_in(store);
    if (!kept) forget_tables(*skeleton_, store);
    return kept;
  }
  void end_sets_but(const tc_sets& kept) override {
    process_sets_.end_sets_but(kept);
    cgroup_sets_.end_sets_but(kept);
    for (uint32_t i = 0; i < TC_MEMBER_WORDS; ++i)
      __atomic_fetch_and(&hearing_word(i * 64), kept.words[i], __ATOMIC_SEQ_CST);
  }
  tc_session session_of(uint32_t session) const override {
    return view<tc_session>(sessions_)[session];
  }

 private:
  BpfKernel(Skeleton skeleton, unsigned cpu_count, const KernelOptions& options,
            std::vector<Fd> adopted_programs)
      : skeleton_(std::move(skeleton)),
        adopted_programs_(std::move(adopted_programs)),
        cpu_count_(cpu_count),
        key_tables_(*skeleton_, cpu_count, is_adopted() ? options.store : nullptr),
        programs_(*skeleton_, options.for_one_command ? Way::counting : Way::entry, options.sleeps),
        progress_(programs_.first()),
        proofs_(*skeleton_),
        process_sets_({.executables = bpf_map__fd(skeleton_->maps.executables),
                       .families = bpf_map__fd(skeleton_->maps.families),
                       .members = bpf_map__fd(skeleton_->maps.members)},
                      skeleton_->rodata->in_own_pid_namespace),
        cgroup_sets_({.cgroups = bpf_map__fd(skeleton_->maps.cgroups),
                      .names = bpf_map__fd(skeleton_->maps.cgroup_names)}) {}

  Status map_arrays();
  Rooms rooms() { return Rooms{skeleton_->bss->rooms}; }
  uint32_t account_of(uint32_t session) const { return session_of(session).account; }
  using Forget = BySession (*)(const bpf_map* map, std::optional<uint32_t> session);
  void take_out(const bpf_map* map, tc_table table, Forget forget, std::optional<uint32_t> session);
  void delete_keys(tc_table table, std::span<const tc_key> keys);
  void go_on();
  __u64& hearing_word(uint32_t set_target) {
    return skeleton_->bss->hearing.words[set_target / 64];
  }
  void attend_to(uint32_t what) {
    __atomic_store_n(&skeleton_->bss->attention, what, __ATOMIC_SEQ_CST);
  }
  void ignore_hits_by(pid_t pid) {
    __atomic_store_n(&skeleton_->bss->ignored_pid, static_cast<uint32_t>(pid), __ATOMIC_SEQ_CST);
    attend_to(pid != 0 ? TC_IGNORE_PROCESS : 0);
  }

  LongWork long_work_;
  Skeleton skeleton_;
  std::vector<Fd> adopted_programs_;  // links of a former daemon's programs that follow processes
  unsigned cpu_count_;
  KeyTables key_tables_;
  // In older kernels every task that shares the memory passes the filter of a link, a child of vfork() for
  // example (kernel/trace/bpf_trace.c, uprobe_prog_run).
  bool link_filter_is_exact_ = release_is_at_least(6, 12);
  Programs programs_;
  ProgressWait progress_;
  Proofs proofs_;
  ProcessSets process_sets_;
  CgroupSets cgroup_sets_;
  Mapping hooks_, stats_, layouts_, specs_, losses_, first_hits_, sessions_, accounts_, tags_,
      own_tags_;
  std::optional<Notices> notices_;  // once they are open
  uint32_t last_marks_ = 0;         // the greatest tc_session.marks so far
  uint64_t switched_ns_ = 0;
  std::optional<bool> nop5_becomes_call_;  // once it was asked for
};

// ---- loading ----

Status place_in_pid_namespace(tracer& skeleton) {
  struct stat ns {};
  if (::stat("/proc/self/ns/pid", &ns) != 0) return Error::from_errno("stat /proc/self/ns/pid");
  skeleton.rodata->in_own_pid_namespace = ns.st_ino != kInitialPidNamespace;
  skeleton.rodata->pid_namespace_device = ns.st_dev;
  skeleton.rodata->pid_namespace_inode = ns.st_ino;
  return ok();
}

Status seed_key_stacks(tracer& skeleton) {
  auto* seed = const_cast<__u64*>(&skeleton.rodata->key_stack_seed);
  if (::getrandom(seed, sizeof(*seed), 0) != sizeof(*seed)) return Error::from_errno("getrandom");
  return ok();
}

// Makes the memory that the programs share with us. The kernel makes it zero; libbpf would copy eight
// megabytes of zeroes over it, which takes longer than all other loading.
Status make_shared_memory(bpf_map* map) {
  LIBBPF_OPTS(bpf_map_create_opts, options);
  options.map_flags = BPF_F_MMAPABLE;
  const Fd fd{bpf_map_create(BPF_MAP_TYPE_ARRAY, "bss", bpf_map__key_size(map),
                             bpf_map__value_size(map), bpf_map__max_entries(map), &options)};
  if (!fd || bpf_map__reuse_fd(map, fd.get()) != 0)
    return Error::from_errno("create the memory shared with the BPF programs");
  return ok();
}

// libbpf maps them. As in Mapping, a child that we fork could change them otherwise.
Status keep_from_children(bpf_map* shared) {
  size_t size = 0;
  void* memory = const_cast<void*>(bpf_map__initial_value(shared, &size));
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  if (::madvise(memory, (size + page - 1) / page * page, MADV_DONTFORK) != 0)
    return Error::from_errno("keep the memory shared with the BPF programs from children");
  return ok();
}

// Sets what libbpf 1.1 does not know and what depends on the machine.
Status configure(tracer& skeleton, unsigned cpu_count, bool for_one_command) {
  skeleton.rodata->cpu_count = cpu_count;
  if (auto placed = place_in_pid_namespace(skeleton); !placed) return placed;
  if (auto seeded = seed_key_stacks(skeleton); !seeded) return seeded;
  for (bpf_program* one :
       {skeleton.progs.on_site, skeleton.progs.on_count, skeleton.progs.on_linker})
    bpf_program__set_expected_attach_type(one, static_cast<bpf_attach_type>(kAttachUprobeMulti));
  bpf_program__set_autoload(skeleton.progs.on_site, !for_one_command);
  bpf_program__set_autoload(skeleton.progs.on_count, for_one_command);
  bpf_map__set_max_entries(skeleton.maps.first_hits, cpu_count);
  bpf_map__set_max_entries(skeleton.maps.stats, TC_MAX_STATS * cpu_count);
  bpf_map__set_max_entries(skeleton.maps.ring_losses, TC_MAX_SESSIONS * cpu_count);
  bpf_map__set_max_entries(skeleton.maps.rings, TC_MAX_SESSIONS * cpu_count);
  return ok();
}

Result<std::unique_ptr<Kernel>> BpfKernel::open(const KernelOptions& options) {
  const int cpus = libbpf_num_possible_cpus();
  if (cpus < 1) return Error{Code::kernel, "cannot count the CPUs"};
  const unsigned cpu_count = static_cast<unsigned>(cpus);
  Skeleton skeleton{tracer::open(nullptr)};
  if (!skeleton) return Error::from_errno("open the BPF programs");
  if (auto configured = configure(*skeleton, cpu_count, options.for_one_command); !configured)
    return configured.error();
  auto times = KeyTables::declare(*skeleton, cpu_count);
  if (!times) return times.error();
  std::vector<Fd> adopted;
  if (options.store) {
    auto taken = take_tables(*skeleton, *options.store);
    if (!taken) return taken.error();
    adopted = std::move(*taken);
  }
  if (adopted.empty())
    if (auto made = make_shared_memory(skeleton->maps.bss); !made) return made.error();
  if (int err = tracer::load(skeleton.get()); err != 0)
    return Error::from_errno("load the BPF programs", -err);
  if (adopted.empty())
    if (int err = tracer::attach(skeleton.get()); err != 0)
      return Error::from_errno("attach the programs that follow processes", -err);
  if (auto kept = keep_from_children(skeleton->maps.bss); !kept) return kept.error();
  std::unique_ptr<BpfKernel> kernel{
      new BpfKernel(std::move(skeleton), cpu_count, options, std::move(adopted))};
  if (auto mapped = kernel->map_arrays(); !mapped) return mapped.error();
  if (kernel->is_adopted()) kernel->go_on();
  auto notices = Notices::open(kernel->notices_fd());
  if (!notices) return notices.error();
  kernel->notices_ = std::move(*notices);
  if (options.fast_nops) kernel->nop5_becomes_call_ = true;
  return std::unique_ptr<Kernel>{std::move(kernel)};
}

// Ends what a former daemon had not finished.
void BpfKernel::go_on() {
  attend_to(0);
  set_reader_sleeps(false);
  std::ranges::fill(linkers(), tc_linker{});
  skeleton_->bss->hearing = {};
  for (const tc_session& session : view<tc_session>(sessions_))
    last_marks_ = std::max(last_marks_, session.marks);
}

Status BpfKernel::map_arrays() {
  const auto& maps = skeleton_->maps;
  const auto take = [](Mapping& into, Result<Mapping> mapping) -> Status {
    if (!mapping) return mapping.error();
    into = std::move(*mapping);
    return ok();
  };
  if (auto s = take(hooks_, map_array<tc_hook>(maps.hooks)); !s) return s;
  if (auto s = take(stats_, map_array<tc_stat>(maps.stats)); !s) return s;
  if (auto s = take(specs_, map_array<tc_spec>(maps.specs)); !s) return s;
  if (auto s = take(layouts_, map_array<tc_layout>(maps.layouts)); !s) return s;
  if (auto s = take(first_hits_, map_array<tc_first_hit>(maps.first_hits)); !s) return s;
  if (auto s = take(sessions_, map_array<tc_session>(maps.sessions)); !s) return s;
  if (auto s = take(accounts_, map_array<tc_account>(maps.accounts)); !s) return s;
  if (auto s = take(tags_, map_array<tc_tag>(maps.tags)); !s) return s;
  if (auto s = take(own_tags_, map_array<tc_own_tag>(maps.own_tags)); !s) return s;
  return take(losses_, map_array<tc_ring_loss>(maps.ring_losses));
}

// ---- what is mapped later ----

// All offsets have the linker's number. Without a filter it would be armed in every process of the machine.
Result<Fd> BpfKernel::arm_linker(int object_fd, std::span<const uint64_t> offsets, pid_t pid,
                                 uint32_t number) {
  if (pid <= 0) return Error{Code::invalid, "a dynamic linker is armed in one process only"};
  const std::vector<uint64_t> cookies(offsets.size(), number);
  Fd link = link_uprobe_multi({.program_fd = bpf_program__fd(skeleton_->progs.on_linker),
                               .object_fd = object_fd,
                               .filter = pid,
                               .offsets = offsets,
                               .cookies = cookies});
  if (!link) return Error::from_errno("arm the dynamic linker of process " + std::to_string(pid));
  return link;
}

// ---- settings ----

bool BpfKernel::nop5_becomes_call() {
  if (!nop5_becomes_call_) nop5_becomes_call_ = nop5_call_survives_fork();
  return *nop5_becomes_call_;
}

// ---- the switch ----

void BpfKernel::activate(uint64_t epoch) {
  attend_to(TC_WATCH_SWITCH);
  switched_ns_ = boot_ns();
  __atomic_store_n(&skeleton_->bss->epoch, epoch, __ATOMIC_RELEASE);
}

void BpfKernel::take_first_hits(std::vector<FirstHit>& first_hits) {
  attend_to(0);
  for (unsigned cpu = 0; cpu < cpu_count_; ++cpu) {
    const tc_first_hit& first = view<tc_first_hit>(first_hits_)[cpu];
    if (__atomic_load_n(&first.epoch, __ATOMIC_ACQUIRE) == epoch())
      first_hits.push_back({cpu, first.ts_ns - switched_ns_});
  }
}

// ---- results ----

tc_stat BpfKernel::read_stat(uint32_t stat) const {
  tc_stat sum{};
  for (unsigned cpu = 0; cpu < cpu_count_; ++cpu) {
    const tc_stat& row = view<tc_stat>(stats_)[size_t{cpu} * TC_MAX_STATS + stat];
    // Hits are read last because programs count them first: no other counter of a hit is seen without the hit.
    sum.filtered += __atomic_load_n(&row.filtered, __ATOMIC_ACQUIRE);
    sum.dropped_ring += __atomic_load_n(&row.dropped_ring, __ATOMIC_ACQUIRE);
    sum.dropped_keys += __atomic_load_n(&row.dropped_keys, __ATOMIC_ACQUIRE);
    sum.silenced += __atomic_load_n(&row.silenced, __ATOMIC_ACQUIRE);
    sum.hits += __atomic_load_n(&row.hits, __ATOMIC_RELAXED);
  }
  return sum;
}

void BpfKernel::begin_stat(uint32_t stat, uint32_t session) {
  skeleton_->bss->account_of_stat[stat] =
      static_cast<uint8_t>(view<tc_session>(sessions_)[session].account);
  for (unsigned cpu = 0; cpu < cpu_count_; ++cpu)
    view<tc_stat>(stats_)[size_t{cpu} * TC_MAX_STATS + stat] = tc_stat{};
}

void BpfKernel::delete_keys(tc_table table, std::span<const tc_key> keys) {
  for (const tc_key& key : keys)
    if (key_tables_.take_out(table, key))
      rooms().give_back(table, skeleton_->bss->account_of_stat[key.stat], 1);
}

// The keys of a table are not searched if the session's user has no entry in it.
void BpfKernel::take_out(const bpf_map* map, tc_table table, Forget forget,
                         std::optional<uint32_t> session) {
  if (session && !rooms().used(table, account_of(*session))) return;
  const BySession gone = forget(map, session);
  for (uint32_t of = 0; of < TC_MAX_SESSIONS; ++of)
    if (gone[of]) rooms().give_back(table, account_of(of), gone[of]);
}

void BpfKernel::forget_session(uint32_t session) {
  const auto& maps = skeleton_->maps;
  take_out(maps.callers, TC_TABLE_CALLERS, forget_callers, session);
  take_out(maps.deep_callers, TC_TABLE_DEEP_BLOCKS, forget_blocks, session);
  take_out(maps.held_blocks, TC_TABLE_HELD_BLOCKS, forget_blocks, session);
  take_out(maps.texts, TC_TABLE_TEXTS, forget_texts, session);
  take_out(maps.key_stacks, TC_TABLE_KEY_STACKS, forget_key_stacks, session);
  take_out(maps.paths, TC_TABLE_PATHS, forget_paths, session);
}

void BpfKernel::forget_numbers() {
  const auto& maps = skeleton_->maps;
  take_out(maps.texts, TC_TABLE_TEXTS, forget_texts, std::nullopt);
  take_out(maps.key_stacks, TC_TABLE_KEY_STACKS, forget_key_stacks, std::nullopt);
  take_out(maps.paths, TC_TABLE_PATHS, forget_paths, std::nullopt);
}

void BpfKernel::forget_keys(const std::unordered_set<uint32_t>& stats) {
  for (const tc_table table : {TC_TABLE_COUNTS, TC_TABLE_SUMS, TC_TABLE_TIMES})
    delete_keys(table, key_tables_.keys_of(table, stats));
}

Status BpfKernel::add_rate(uint32_t stat) {
  const tc_rate none{};
  if (bpf_map_update_elem(bpf_map__fd(skeleton_->maps.rates), &stat, &none, BPF_ANY))
    return Error::from_errno("make room for a rate");
  return ok();
}

// ---- rings ----

Result<Rings> BpfKernel::open_rings(uint32_t session, size_t size_bytes) {
  Rings rings{.by_cpu = {}, .size_bytes = size_bytes};
  std::vector<uint32_t> indices;
  std::vector<int> fds;
  for (unsigned cpu = 0; cpu < cpu_count_; ++cpu) {
    Fd ring{bpf_map_create(BPF_MAP_TYPE_RINGBUF, "tracectl_ring", 0, 0,
                           static_cast<uint32_t>(size_bytes), nullptr)};
    if (!ring) return Error::from_errno("make a ring of " + std::to_string(size_bytes) + " bytes");
    const uint32_t index = session * cpu_count_ + cpu;
    view<tc_ring_loss>(losses_)[index] = tc_ring_loss{};
    indices.push_back(index);
    fds.push_back(ring.get());
    rings.by_cpu.push_back(std::move(ring));
  }
  // One batch, because the kernel waits for a grace period in each call that changes a map of maps.
  uint32_t count = cpu_count_;
  const int err = bpf_map_update_batch(bpf_map__fd(skeleton_->maps.rings), indices.data(),
                                       fds.data(), &count, nullptr);
  if (err != 0) {
    close_rings(session);
    return Error::from_errno("hand the rings to the programs", -err);
  }
  return rings;
}

void BpfKernel::close_rings(uint32_t session) {
  for (unsigned cpu = 0; cpu < cpu_count_; ++cpu) {
    const uint32_t index = session * cpu_count_ + cpu;
    bpf_map_delete_elem(bpf_map__fd(skeleton_->maps.rings), &index);
  }
}

// ---- sessions ----

void BpfKernel::write_tag(uint32_t session, uint32_t number, const std::string& tag) {
  tc_tag& to = view<tc_tag>(tags_)[size_t{session} * TC_MAX_TAGS + number];
  to = tc_tag{};
  tag.copy(to.bytes, TC_TAG_LEN - 1);
}

// A tag is written before any record has its number. A program that overwrites it changes the number first.
std::optional<std::string> BpfKernel::own_tag(uint32_t number) const {
  const tc_own_tag& tag = view<tc_own_tag>(own_tags_)[number % TC_OWN_TAGS];
  char text[TC_OWN_TAG_LEN];
  std::copy(std::begin(tag.text), std::end(tag.text), text);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (__atomic_load_n(&tag.number, __ATOMIC_RELAXED) != number) return std::nullopt;
  return std::string(text, ::strnlen(text, sizeof(text)));
}

}  // namespace

Result<std::unique_ptr<Kernel>> open_kernel(const KernelOptions& options) {
  return BpfKernel::open(options);
}

}  // namespace tracectl
