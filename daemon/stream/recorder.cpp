// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/stream/recorder.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "daemon/base/clock.h"
#include "daemon/recording/encoder.h"
#include "daemon/stream/file_ring.h"

namespace tracectl {

using namespace recording;

namespace {

// A block that is not full is written after this time, which bounds the loss if the daemon is
// killed.
constexpr uint64_t kLongestOpenNs = 1'000'000'000;

}  // namespace

class Recorder::Writing {
 public:
  Writing(FileRing files, std::optional<uint64_t> file_bytes, size_t most_waiting_bytes,
          std::optional<uint64_t> most_bytes)
      : files_(std::move(files)),
        file_bytes_(file_bytes),
        most_waiting_bytes_(most_waiting_bytes),
        most_bytes_(most_bytes) {
    if (file_bytes_) state_.turns = Turns{};
  }

  bool rotates() const { return file_bytes_.has_value(); }

  // StreamItems or PlainHits.
  template <class Item> void take(std::span<const Item> items) {
    const std::lock_guard lock(mutex_);
    for (const Item& item : items) {
      if (state_.phase != Phase::recording) {
        refuse(item);
        continue;
      }
      encoder_.add(item);
      count(item);
      // Queued at once, so that a loss for lack of room is reported before later items.
      if (encoder_.has_ended()) queue_ended();
      if (is_file_full()) turn_to_next_file();
    }
  }

  void end() {
    const std::lock_guard lock(mutex_);
    is_ended_ = true;
    changed_.notify_all();
    if (state_.phase != Phase::recording) return;
    state_.phase = Phase::ending;
    end_all();
  }

  State state() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }

  bool wait_ms(unsigned milliseconds) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::milliseconds(milliseconds), [&] {
      const bool has_failed = state_.phase == Phase::failed;
      return state_.phase == Phase::done || (has_failed && (is_over_ || !is_ended_));
    });
  }

  // Runs in the thread. Returns when all is written, or cannot be.
  void run() {
    try {
      write();
    } catch (const std::bad_alloc&) {
      fail_for_want_of_memory();
    }
  }

 private:
  // Allocates nothing: an exception here would end the daemon.
  void fail_for_want_of_memory() {
    files_.close();
    const std::lock_guard lock(mutex_);
    being_filed_ = 0;
    settle_files();
    is_over_ = true;
    fail(std::move(no_memory_));
  }

  // A block to be written; `file` is the number of its file, counted as files are filled.
  struct Waiting {
    Block block;
    uint64_t file;
  };

  void write() {
    std::unique_lock lock(mutex_);
    begin_file(lock);
    while (state_.phase != Phase::failed) {
      if (waiting_.empty() && state_.phase == Phase::ending) {
        end_all();  // also reports losses while it ended
        if (waiting_.empty()) break;
      }
      if (waiting_.empty()) changed_.wait_for(lock, std::chrono::nanoseconds(kLongestOpenNs));
      end_old_blocks();
      if (!waiting_.empty()) write_first(lock);
    }
    finish(lock);
  }

  void begin_file(std::unique_lock<std::mutex>& lock) {
    lock.unlock();
    const Status begun = files_.begin_next();
    lock.lock();
    settle_files();
    if (!begun) fail(begun.error());
  }

  void write_first(std::unique_lock<std::mutex>& lock) {
    if (waiting_.front().file != file_written_) {
      file_written_ = waiting_.front().file;
      return begin_file(lock);
    }
    if (is_beyond_bound(waiting_.front().block)) return fail(beyond_bound());
    Block block = std::move(waiting_.front().block);
    waiting_.pop_front();
    const size_t plain_bytes = block.records.size();
    const uint64_t lost = block.lost;
    const uint64_t bytes_before = files_.current_bytes();
    waiting_bytes_ -= plain_bytes;
    being_filed_ = block.events;
    lock.unlock();
    const Status written = files_.append(std::move(block));
    lock.lock();
    const uint64_t events = std::exchange(being_filed_, 0);
    if (!written) return fail(written.error());
    filed_ += events;
    filed_lost_ += lost;
    state_.bytes = files_.bytes();
    // If the block was compressed, there is more room than planned.
    if (file_written_ == file_planned_)
      planned_bytes_ -= kBlockHeaderBytes + plain_bytes - (files_.current_bytes() - bytes_before);
  }

  void finish(std::unique_lock<std::mutex>& lock) {
    if (state_.phase != Phase::failed) {
      lock.unlock();
      const Status finished = files_.finish();
      if (finished) files_.close();
      lock.lock();
      state_.bytes = files_.bytes();
      if (!finished) fail(finished.error());
    }
    if (state_.phase == Phase::failed) return report_failure(lock);
    state_.phase = Phase::done;
    changed_.notify_all();
  }

  // Reports the failure at once, because the daemon may be killed; and once more with the final
  // number of losses.
  void report_failure(std::unique_lock<std::mutex>& lock) {
    Lost lost{.ts_ns = boot_ns(), .cause = LossCause::slow_disk, .cpu = {}};
    for (bool is_last = false; !is_last;) {
      is_last = is_ended_;
      lost.count = state_.lost - filed_lost_;
      Ending ending{.has_all_losses = is_last};
      try {
        ending.why = state_.error->message;
      } catch (const std::bad_alloc&) {
        // Then it is reported without the reason.
      }
      lock.unlock();
      files_.end_early(lost, ending);
      if (is_last) files_.close();
      lock.lock();
      state_.bytes = files_.bytes();
      if (!is_last) changed_.wait(lock, [&] { return is_ended_; });
    }
    is_over_ = true;
    changed_.notify_all();
  }

  // Call these with the mutex held.
  void settle_files() {
    state_.bytes = files_.bytes();
    if (!state_.turns) return;
    const uint64_t gone = files_.overwritten() - state_.turns->overwritten;
    state_.events -= gone;
    filed_ -= gone;
    state_.turns = Turns{files_.begun(), files_.overwritten()};
  }

  void count(const StreamItem& item) {
    if (const auto* lost = std::get_if<Lost>(&item))
      state_.lost += lost->count;
    else
      ++state_.events;
  }

  void count(const PlainHit&) { ++state_.events; }

  bool counts_refused() const { return state_.phase == Phase::failed && !is_ended_; }

  void refuse(const PlainHit&) { state_.lost += counts_refused(); }

  void refuse(const StreamItem& item) {
    if (!counts_refused()) return;
    const auto* lost = std::get_if<Lost>(&item);
    state_.lost += lost ? lost->count : 1;
  }

  void queue_ended() {
    for (Block& block : encoder_.take()) queue(std::move(block));
    if (!waiting_.empty()) changed_.notify_all();
  }

  // Definitions must not be missing, because records that refer to them could not be read.
  void queue(Block block) {
    if (state_.phase == Phase::failed) return;
    const bool is_full = waiting_bytes_ + block.records.size() > most_waiting_bytes_;
    if (is_full && block.header.kind == BlockKind::events) return lose(block);
    if (waiting_bytes_ > most_waiting_bytes_ + kMostWaitingBytes)
      return fail(
          Error{Code::exhausted, "the disk is too slow even for the names of what is traced"});
    waiting_bytes_ += block.records.size();
    planned_bytes_ += kBlockHeaderBytes + block.records.size();
    waiting_.push_back({std::move(block), file_planned_});
  }

  bool is_beyond_bound(const Block& block) const {
    return most_bytes_ && files_.bytes() + kBlockHeaderBytes + block.records.size() > *most_bytes_;
  }

  // The file only contains the first recording::kMostWhyBytes of it.
  Error beyond_bound() const {
    return Error{Code::exhausted,
                 "quota.recording-bytes: no more than " + std::to_string(*most_bytes_) +
                     " bytes for a user's recording; record to several files in turn (--rotate)"};
  }

  bool is_file_full() const {
    return file_bytes_ && planned_bytes_ + encoder_.open_bytes() >= *file_bytes_;
  }

  // If no block of a file was queued because the disk was too slow, the file is not begun at all.
  void turn_to_next_file() {
    end_all();
    encoder_.begin_anew();
    ++file_planned_;
    planned_bytes_ = kFileHeaderBytes;
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

  // Its losses were counted when they were added.
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

  // Only what is in the file, or is just being written to it, can still be read. Allocates nothing.
  void fail(Error error) {
    const uint64_t kept = filed_ + being_filed_;
    state_.lost += state_.events - kept;
    state_.events = kept;
    state_.phase = Phase::failed;
    state_.error = std::move(error);
    encoder_ = Encoder();
    waiting_.clear();
    waiting_bytes_ = 0;
    changed_.notify_all();
  }

  FileRing files_;  // used by the thread
  const std::optional<uint64_t> file_bytes_;
  const size_t most_waiting_bytes_;
  const std::optional<uint64_t> most_bytes_;  // for a recording in one file
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Encoder encoder_;
  std::deque<Waiting> waiting_;
  size_t waiting_bytes_ = 0;
  uint64_t file_written_ = 0, file_planned_ = 0;  // of the blocks written and queued now
  uint64_t planned_bytes_ = kFileHeaderBytes;  // of the planned file, with all blocks queued for it
  uint64_t filed_ = 0;                         // events in the files
  uint64_t being_filed_ = 0;                   // in the block that is being written
  uint64_t filed_lost_ = 0;                    // that the files report
  bool is_ended_ = false;                      // takes nothing more
  bool is_over_ = false;                       // writes nothing more after a failure
  State state_;
  // Made while there is memory for it.
  Error no_memory_{Code::exhausted, "there is not enough memory to write the file"};
};

Result<std::shared_ptr<Recorder>> Recorder::start(Fd file, Compression compression,
                                                  size_t most_waiting_bytes,
                                                  std::optional<uint64_t> most_bytes) {
  std::vector<Fd> files;
  files.push_back(std::move(file));
  return begin(std::move(files), std::nullopt, compression, most_waiting_bytes, most_bytes);
}

Result<std::shared_ptr<Recorder>> Recorder::start_rotating(std::vector<Fd> files,
                                                           uint64_t file_bytes,
                                                           Compression compression,
                                                           size_t most_waiting_bytes) {
  return begin(std::move(files), file_bytes, compression, most_waiting_bytes, std::nullopt);
}

Result<std::shared_ptr<Recorder>> Recorder::begin(std::vector<Fd> files,
                                                  std::optional<uint64_t> file_bytes,
                                                  Compression compression,
                                                  size_t most_waiting_bytes,
                                                  std::optional<uint64_t> most_bytes) {
  std::vector<BlockFile> ring;
  for (Fd& file : files) {
    if (auto fit = check_writable(file.get()); !fit) return fit.error();
    ring.emplace_back(std::move(file), compression);
  }
  auto writing = std::make_shared<Writing>(FileRing(std::move(ring)), file_bytes,
                                           most_waiting_bytes, most_bytes);
  try {
    std::thread([writing] { writing->run(); }).detach();
  } catch (const std::system_error& error) {
    return Error{Code::exhausted, std::string("no thread can be made to write: ") + error.what()};
  }
  return std::shared_ptr<Recorder>(new Recorder(std::move(writing)));
}

Recorder::~Recorder() { end(); }

void Recorder::take(std::span<const StreamItem> items) { writing_->take(items); }

void Recorder::take(std::span<const PlainHit> hits) { writing_->take(hits); }

bool Recorder::needs_one_order() const { return writing_->rotates(); }

void Recorder::end() { writing_->end(); }

bool Recorder::wait_ms(unsigned milliseconds) const { return writing_->wait_ms(milliseconds); }

Recorder::State Recorder::state() const { return writing_->state(); }

}  // namespace tracectl
