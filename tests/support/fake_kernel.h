// SPDX-License-Identifier: BSD-2-Clause
//
// A kernel in plain memory that can refuse requests, and that logs them in order. Only for injecting
// failures: whether probes fire is tested on the real kernel.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "daemon/kernel/kernel.h"

namespace tracectl::on_kernel {

class FakeKernel final : public Kernel {
 public:
  FakeKernel() : slots_(TC_MAX_SLOTS), hooks_(TC_MAX_HOOKS) {}

  // ---- set by the test ----
  std::function<std::optional<ArmFailure>(const ArmRequest&)> refuse = [](const ArmRequest&) {
    return std::nullopt;
  };
  Status can_wait = ok();
  bool exact_filter = true;
  std::function<void()> at_switch = [] {};  // between staging and the store
  std::function<void()> at_wait = [] {};
  std::array<std::atomic<uint64_t>, 2> dropped{};  // in the rings of all sessions, by CPU

  // ---- seen by the test ----
  std::vector<std::string> log;
  std::vector<ArmRequest> armed;  // all requests that were not refused
  // The incarnations of the open links.
  std::vector<uint32_t> open_links() const {
    std::vector<uint32_t> open;
    for (const auto& [incarnation, end] : links_)
      if (!is_closed(end.get())) open.push_back(incarnation);
    return open;
  }

  // ---- Kernel ----
  unsigned cpu_count() const override { return 2; }
  bool link_filter_is_exact() const override { return exact_filter; }
  bool nop5_becomes_call() override { return true; }
  LongWork& long_work() override { return long_work_; }
  std::variant<Link, ArmFailure> arm(const ArmRequest& request) override {
    if (auto refused = refuse(request)) return std::move(*refused);
    log.push_back("arm");
    armed.push_back(request);
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("pipe");
    links_.emplace(request.incarnation, Fd{ends[0]});
    return Link{long_work_, Fd{ends[1]}, request.incarnation};
  }
  std::span<tc_slot> slots() override { return slots_; }
  std::span<uint32_t, 2> in_force() override { return in_force_; }
  std::span<tc_hook> hooks() override { return hooks_; }
  void write_layout(uint32_t, const Arguments&) override {}
  Status write_spec(uint32_t, const tc_spec&) override { return ok(); }
  uint64_t epoch() const override { return epoch_; }
  void activate(uint64_t epoch) override {
    at_switch();
    log.push_back("switch");
    epoch_ = epoch;
  }
  void take_first_hits(std::vector<FirstHit>&) override {}
  Status prepare_wait(Progress progress) override {
    progress_ = progress;
    return can_wait;
  }
  void wait_for_progress() override {
    at_wait();
    const char* what = progress_ == Progress::of_hits ? "wait for hits" : "wait";
    log.push_back(what + std::string(", links open: ") + std::to_string(open_links().size()));
  }

  tc_stat read_stat(uint32_t) const override { return {}; }
  void begin_stat(uint32_t, uint32_t) override {}
  Result<std::vector<KeyCount>> read_counts() const override { return std::vector<KeyCount>{}; }
  Result<std::vector<KeySum>> read_sums() const override { return std::vector<KeySum>{}; }
  Result<std::vector<KeyTime>> read_times() const override { return std::vector<KeyTime>{}; }
  void delete_times(std::span<const tc_key>) override {}
  void forget_session(uint32_t) override {}
  void forget_keys(const std::unordered_set<uint32_t>&) override {}
  void delete_counts(std::span<const tc_key>) override {}
  void delete_sums(std::span<const tc_key>) override {}
  Result<std::unordered_map<uint64_t, std::string>> read_texts() const override {
    return std::unordered_map<uint64_t, std::string>{};
  }
  std::optional<tc_key_stack> read_key_stack(uint64_t) const override { return std::nullopt; }
  Result<std::vector<NumberedPath>> read_paths() const override {
    return std::vector<NumberedPath>{};
  }
  void forget_numbers() override {}
  Status add_rate(uint32_t) override { return ok(); }
  void remove_rate(uint32_t) override {}
  Status add_pair_stat(uint32_t, uint32_t) override { return ok(); }
  void remove_pair_stat(uint32_t) override {}
  tc_pair_stat read_pair_stat(uint32_t) const override { return {}; }
  void forget_starts(uint32_t) override {}
  Result<Rings> open_rings(uint32_t, size_t size_bytes) override { return Rings{{}, size_bytes}; }
  void close_rings(uint32_t) override {}
  uint64_t ring_dropped(uint32_t, unsigned cpu) const override { return dropped.at(cpu); }
  void set_reader_sleeps(bool) override {}
  void begin_session(uint32_t, const std::optional<Owner>&, uint32_t) override {}
  Result<std::vector<ProvenMemory>> prove(std::span<const int>, std::optional<uint32_t>) override {
    return std::vector<ProvenMemory>{};
  }
  bool has_proof(pid_t, uint32_t) const override { return false; }
  Unproven unproven(uint32_t) const override { return {}; }
  void hear_of_unproven(uint32_t) override {}
  void share_out(uint32_t) override {}
  void begin_account(uint32_t, uint64_t) override {}
  void begin_marks(uint32_t) override {}
  void write_tag(uint32_t, uint32_t, const std::string&) override {}
  void show_own_tags(uint32_t) override {}
  std::optional<std::string> own_tag(uint32_t) const override { return std::nullopt; }
  uint64_t marks_lost(uint32_t) const override { return 0; }
  void set_gate(uint32_t, bool) override {}
  bool gate_is_open(uint32_t) const override { return false; }
  int notices_fd() const override { return -1; }
  std::vector<tc_notice> take_notices() override { return {}; }
  void listen_for_dumps(uint32_t) override {}
  void watch_crashes(bool) override {}
  Status follow_executable(dev_t, ino_t, uint32_t) override { return ok(); }
  void forget_executable(dev_t, ino_t) override {}
  Status keep_at_exec(dev_t, ino_t, uint32_t) override { return ok(); }
  void end_at_exec(dev_t, ino_t, uint32_t) override {}
  Status add_member(pid_t, uint32_t, Follow) override { return ok(); }
  void remove_member(pid_t, uint32_t) override {}
  void clear_members(uint32_t) override {}
  void note_ring_seen(uint32_t session, unsigned cpu, const RingSeen& seen) override {
    const std::lock_guard lock(mutex_);
    rings_seen_[{session, cpu}] = seen;
  }
  RingSeen ring_seen(uint32_t session, unsigned cpu) const override {
    const std::lock_guard lock(mutex_);
    return rings_seen_.at({session, cpu});
  }
  void note_untold(uint32_t session, uint64_t events) override {
    const std::lock_guard lock(mutex_);
    untold_[session] = events;
  }
  uint64_t untold(uint32_t session) const override {
    const std::lock_guard lock(mutex_);
    const auto found = untold_.find(session);
    return found == untold_.end() ? 0 : found->second;
  }
  Result<Fd> arm_linker(int, std::span<const uint64_t>, pid_t, uint32_t) override {
    return Error{Code::unsupported, "no linker is armed here"};
  }
  std::span<tc_linker> linkers() override { return linkers_; }
  void hear_of_joining(uint32_t) override {}
  void hear_no_more(uint32_t) override {}
  bool is_adopted() const override { return false; }
  Status keep_in(DescriptorStore&) override { return ok(); }
  tc_session session_of(uint32_t) const override { return {}; }
  Status follow_cgroup(uint64_t, const std::string&, uint32_t) override { return ok(); }
  Status add_cgroup(uint64_t, uint32_t) override { return ok(); }
  void clear_cgroups(uint32_t) override {}
  void end_sets_but(const tc_sets&) override {}
  void tell_of_execs() override {}

 private:
  LongWork long_work_;
  // The other end of a pipe is closed: the link's owner has released it.
  static bool is_closed(int fd) {
    pollfd end{fd, POLLIN, 0};
    return ::poll(&end, 1, 0) > 0;
  }

  std::vector<tc_slot> slots_;
  std::vector<tc_hook> hooks_;
  std::vector<tc_linker> linkers_ = std::vector<tc_linker>(TC_MAX_LINKERS);
  std::array<uint32_t, 2> in_force_{};
  uint64_t epoch_ = 0;
  Progress progress_ = Progress::of_programs;
  std::map<uint32_t, Fd> links_;  // by incarnation: our end of the link's pipe
  mutable std::mutex mutex_;      // for the members below, which reader threads use
  std::map<std::pair<uint32_t, unsigned>, RingSeen> rings_seen_;
  std::map<uint32_t, uint64_t> untold_;
};

}  // namespace tracectl::on_kernel
