// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sinks/recorder.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "daemon/base/clock.h"
#include "daemon/recording/encoder.h"
#include "daemon/sinks/block_file.h"

namespace tracectl {

using namespace recording;

namespace {

// A block that is not full is written after this time: no more is lost with the daemon.
constexpr uint64_t kLongestOpenNs = 1'000'000'000;

}  // namespace

class Recorder::Writing {
 public:
  Writing(BlockFile file, size_t most_waiting_bytes)
      : file_(std::move(file)), most_waiting_bytes_(most_waiting_bytes) {}

  void take(std::span<const StreamItem> items) {
    const std::lock_guard lock(mutex_);
    for (const StreamItem& item : items) {
      if (state_.phase != Phase::recording) {
        refuse(item);
        continue;
      }
      encoder_.add(item);
      count(item);
      // At once: what there is no room for is told before what comes later.
      if (encoder_.has_ended()) queue_ended();
    }
  }

  void end() {
    const std::lock_guard lock(mutex_);
    if (state_.phase != Phase::recording) return;
    state_.phase = Phase::ending;
    end_all();
    changed_.notify_all();
  }

  State state() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }

  bool wait_ms(unsigned milliseconds) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::milliseconds(milliseconds), [&] {
      return state_.phase == Phase::done || state_.phase == Phase::failed;
    });
  }

  // The thread. Returns when all is written, or cannot be.
  void run() {
    try {
      if (auto begun = file_.begin(); begun)
        write();
      else
        fail_now(begun.error());
    } catch (const std::bad_alloc&) {
      fail_now(Error{Code::exhausted, "there is not enough memory to write the file"});
    }
  }

 private:
  void fail_now(const Error& error) {
    const std::lock_guard lock(mutex_);
    fail(error);
  }

  void write() {
    std::unique_lock lock(mutex_);
    while (state_.phase != Phase::failed) {
      if (waiting_.empty() && state_.phase == Phase::ending) {
        end_all();  // what was lost when it ended is told, too
        if (waiting_.empty()) break;
      }
      if (waiting_.empty()) changed_.wait_for(lock, std::chrono::nanoseconds(kLongestOpenNs));
      end_old_blocks();
      if (waiting_.empty()) continue;
      Block block = std::move(waiting_.front());
      waiting_.pop_front();
      waiting_bytes_ -= block.records.size();
      const uint64_t events = block.events;
      lock.unlock();
      const Status written = file_.append(std::move(block));
      if (!written) file_.close();
      lock.lock();
      if (!written) return fail(written.error(), events);
      state_.bytes = file_.bytes();
    }
    const bool failed = state_.phase == Phase::failed;
    lock.unlock();
    const Status finished = failed ? ok() : file_.finish();
    file_.close();
    lock.lock();
    if (failed) return;
    if (!finished) return fail(finished.error());
    state_.phase = Phase::done;
    changed_.notify_all();
  }

  // All with the mutex held.
  void count(const StreamItem& item) {
    if (const auto* lost = std::get_if<Lost>(&item))
      state_.lost += lost->count;
    else
      ++state_.events;
  }

  void refuse(const StreamItem& item) {
    if (state_.phase != Phase::failed) return;
    const auto* lost = std::get_if<Lost>(&item);
    state_.lost += lost ? lost->count : 1;
  }

  void queue_ended() {
    for (Block& block : encoder_.take()) queue(std::move(block));
    if (!waiting_.empty()) changed_.notify_all();
  }

  // What is defined must not be missing: what refers to it could not be read.
  void queue(Block block) {
    if (state_.phase == Phase::failed) return drop(block);
    const bool is_full = waiting_bytes_ + block.records.size() > most_waiting_bytes_;
    if (is_full && block.header.kind == BlockKind::events) return lose(block);
    if (waiting_bytes_ > most_waiting_bytes_ + kMostWaitingBytes)
      return fail(
          Error{Code::exhausted, "the disk is too slow even for the names of what is traced"});
    waiting_bytes_ += block.records.size();
    waiting_.push_back(std::move(block));
  }

  void lose(const Block& block) {
    Lost lost{.ts_ns = block.header.last_ns,
              .count = block.events + block.lost,
              .cause = LossCause::slow_disk,
              .cpu = {}};
    if (block.header.cpu != BlockHeader::kNoCpu) lost.cpu = block.header.cpu;
    drop(block);
    encoder_.add(lost);
  }

  // Its losses have been counted when they came.
  void drop(const Block& block) {
    state_.events -= block.events;
    state_.lost += block.events;
  }

  void end_all() {
    encoder_.end_all();
    queue_ended();
  }

  void end_old_blocks() {
    if (state_.phase != Phase::recording) return;
    encoder_.end_older(boot_ns() - kLongestOpenNs);
    queue_ended();
  }

  // So many events, and all that wait, are not in the file.
  void fail(const Error& error, uint64_t events = 0) {
    encoder_.end_all();
    for (Block& block : encoder_.take()) waiting_.push_back(std::move(block));
    for (const Block& block : waiting_) events += block.events;
    state_.events -= events;
    state_.lost += events;
    state_.phase = Phase::failed;
    state_.error = error;
    waiting_.clear();
    waiting_bytes_ = 0;
    changed_.notify_all();
  }

  BlockFile file_;  // the thread's
  const size_t most_waiting_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Encoder encoder_;
  std::deque<Block> waiting_;
  size_t waiting_bytes_ = 0;
  State state_;
};

Result<std::shared_ptr<Recorder>> Recorder::start(Fd file, Compression compression,
                                                  size_t most_waiting_bytes) {
  if (auto fit = check_writable(file.get()); !fit) return fit.error();
  auto writing =
      std::make_shared<Writing>(BlockFile(std::move(file), compression), most_waiting_bytes);
  try {
    std::thread([writing] { writing->run(); }).detach();
  } catch (const std::system_error& error) {
    return Error{Code::exhausted, std::string("no thread can be made to write: ") + error.what()};
  }
  return std::shared_ptr<Recorder>(new Recorder(std::move(writing)));
}

Recorder::~Recorder() { end(); }

void Recorder::take(std::span<const StreamItem> items) { writing_->take(items); }

void Recorder::end() { writing_->end(); }

bool Recorder::wait_ms(unsigned milliseconds) const { return writing_->wait_ms(milliseconds); }

Recorder::State Recorder::state() const { return writing_->state(); }

}  // namespace tracectl
