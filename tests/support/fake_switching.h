// SPDX-License-Identifier: BSD-2-Clause
//
// Switching in plain memory that can refuse requests, and that logs them in order. Only for injecting
// failures: whether probes fire is tested on the real kernel.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "daemon/kernel/switching.h"

namespace tracectl::on_kernel {

// The memory that programs would share. A base, because it must exist before Switching.
class WithPlainMemory {
 protected:
  Switching::Shared shared() {
    return {.slots = ChunkedTable<tc_slot>(memory_.slots, TC_CHUNK_SLOTS),
            .hooks = ChunkedTable<tc_hook>({}, TC_CHUNK_HOOKS),
            .layouts = memory_.layouts,
            .first_hits = memory_.first_hits,
            .in_force = memory_.in_force,
            .epoch = memory_.epoch,
            .attention = memory_.attention};
  }

  LongWork in_this_thread_;

 private:
  struct {
    std::vector<tc_slot> slots = std::vector<tc_slot>(TC_FIRST_SLOTS);
    std::vector<tc_layout> layouts = std::vector<tc_layout>(TC_MAX_LAYOUTS);
    std::array<tc_first_hit, 2> first_hits{};
    std::array<uint32_t, 2> in_force{};
    __u64 epoch = 0;
    __u32 attention = 0;
  } memory_;
};

class FakeSwitching final : WithPlainMemory, public Switching {
 public:
  FakeSwitching() : Switching(in_this_thread_, shared()) {}

  // ---- set by the test ----
  std::function<std::optional<ArmFailure>(const ArmRequest&)> refuse = [](const ArmRequest&) {
    return std::nullopt;
  };
  Status can_wait = ok();
  bool one_by_one = false;
  size_t most_chunks = SIZE_MAX;            // of each table
  size_t most_places = SIZE_MAX;            // to arm at once
  std::function<void()> at_switch = [] {};  // between staging and the store
  std::function<void()> at_wait = [] {};

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

  // ---- Switching ----
  std::variant<Link, ArmFailure> arm(const ArmRequest& request) override {
    if (auto refused = refuse(request)) return std::move(*refused);
    log.push_back("arm");
    armed.push_back(request);
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("pipe");
    links_.emplace(request.incarnation, Fd{ends[0]});
    return Link{long_work(), Fd{ends[1]}, request.incarnation};
  }
  Status prepare_arm(size_t places) override {
    if (places > most_places) return Error{Code::exhausted, "no descriptors"};
    return ok();
  }
  bool disarms_one_by_one() const override { return one_by_one; }
  Status write_spec(uint32_t, const tc_spec&) override { return ok(); }
  void forget_numbers() override { log.push_back("forget numbers"); }
  void activate(uint64_t epoch) override {
    at_switch();
    log.push_back("switch");
    Switching::activate(epoch);
  }
  Status prepare_wait(Progress progress) override {
    progress_ = progress;
    return can_wait;
  }
  void wait_for_progress() override {
    at_wait();
    const char* what = progress_ == Progress::of_hits ? "wait for hits" : "wait";
    log.push_back(what + std::string(", links open: ") + std::to_string(open_links().size()));
  }

 private:
  Result<std::span<tc_slot>> make_slots() override {
    if (slots_.size() == most_chunks) return Error{Code::exhausted, "no memory for slots"};
    return std::span(slots_.emplace_back(TC_CHUNK_SLOTS));
  }
  Result<std::span<tc_hook>> make_hooks() override {
    if (hooks_.size() == most_chunks) return Error{Code::exhausted, "no memory for hooks"};
    return std::span(hooks_.emplace_back(TC_CHUNK_HOOKS));
  }

  // The other end of a pipe is closed: the link's owner has released it.
  static bool is_closed(int fd) {
    pollfd end{fd, POLLIN, 0};
    return ::poll(&end, 1, 0) > 0;
  }

  Progress progress_ = Progress::of_programs;
  std::list<std::vector<tc_slot>> slots_;
  std::list<std::vector<tc_hook>> hooks_;
  std::map<uint32_t, Fd> links_;  // by incarnation: our end of the link's pipe
};

}  // namespace tracectl::on_kernel
