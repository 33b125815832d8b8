// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/stream/dump.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "daemon/base/clock.h"
#include "daemon/stream/block_file.h"

namespace tracectl {

class Dump::Writing {
 public:
  Writing(BlockFile file, FlightRecorder::Snapshot snapshot, const std::string& reason)
      : file_(std::move(file)),
        snapshot_(std::move(snapshot)),
        reason_(recording::block_of_reason(reason)) {}

  State state() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }

  bool wait_ms(unsigned milliseconds) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::milliseconds(milliseconds),
                             [&] { return state_.phase != Phase::writing; });
  }

  // Runs in the thread.
  void run() {
    std::optional<Error> error;
    try {
      if (auto written = write(); !written) error = written.error();
    } catch (const std::bad_alloc&) {
      error = std::move(no_memory_);
    }
    if (error) report_rest(*error);
    // Releases both here, because others may still hold the dump.
    file_.close();
    snapshot_ = {};
    const std::lock_guard lock(mutex_);
    state_.phase = error ? Phase::failed : Phase::done;
    state_.bytes = file_.bytes();
    state_.error = std::move(error);
    changed_.notify_all();
  }

 private:
  Status write() {
    if (auto begun = file_.begin(); !begun) return begun;
    if (auto put = append(reason_); !put) return put;
    for (const auto& extent : snapshot_)
      for (const recording::Block& block : extent->blocks)
        if (auto put = append(block); !put) return put;
    return file_.finish();
  }

  // Reports in the file what is missing in it.
  void report_rest(const Error& error) {
    uint64_t all = 0;
    for (const auto& extent : snapshot_)
      for (const recording::Block& block : extent->blocks) all += block.events + block.lost;
    const std::lock_guard lock(mutex_);
    const uint64_t rest = all - state_.events - state_.lost;
    state_.lost += rest;
    try {
      file_.end_early({.ts_ns = boot_ns(), .count = rest, .cause = LossCause::slow_disk, .cpu = {}},
                      {.has_all_losses = true, .why = error.message});
    } catch (const std::bad_alloc&) {
      // Without memory no end is written, and readers report that it is unknown.
    }
  }

  Status append(const recording::Block& block) {
    if (auto put = file_.append(block); !put) return put;
    const std::lock_guard lock(mutex_);
    state_.events += block.events;
    state_.lost += block.lost;
    state_.bytes = file_.bytes();
    return ok();
  }

  BlockFile file_;                     // used by the thread, as is
  FlightRecorder::Snapshot snapshot_;  // the snapshot
  const recording::Block reason_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  State state_;
  // Made while there is memory for it: an exception where it is used would end the daemon.
  Error no_memory_{Code::exhausted, "there is not enough memory to write the file"};
};

Result<std::shared_ptr<Dump>> Dump::start(Fd file, FlightRecorder::Snapshot snapshot,
                                          recording::Compression compression,
                                          const std::string& reason) {
  if (auto fit = check_writable(file.get()); !fit) return fit.error();
  auto writing = std::make_shared<Writing>(BlockFile(std::move(file), compression),
                                           std::move(snapshot), reason);
  try {
    std::thread([writing] { writing->run(); }).detach();
  } catch (const std::system_error& error) {
    return Error{Code::exhausted, std::string("no thread can be made to write: ") + error.what()};
  }
  return std::shared_ptr<Dump>(new Dump(std::move(writing)));
}

Dump::State Dump::state() const { return writing_->state(); }

bool Dump::wait_ms(unsigned milliseconds) const { return writing_->wait_ms(milliseconds); }

}  // namespace tracectl
