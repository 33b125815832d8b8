// SPDX-License-Identifier: BSD-2-Clause
//
// The files of one recording, which are filled in turn; after the last one the first is overwritten. Each is
// a complete trace file. Used by the thread that waits for the disk.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "daemon/stream/block_file.h"

namespace tracectl {

class FileRing {
 public:
  // `files`: at least one.
  explicit FileRing(std::vector<BlockFile> files) {
    for (BlockFile& file : files) files_.push_back({std::move(file)});
  }

  // Finishes the current file and begins the next one, whose contents are deleted. The first call deletes
  // the contents of all files, so that none of another recording remains among those of this one.
  Status begin_next() {
    const Status ready = begun_ > 0 ? finish() : empty_all();
    if (!ready) return ready;
    ++begun_;
    overwritten_ += std::exchange(current().events, 0);
    return current().file.begin();
  }
  // Appends to the file that was begun last.
  Status append(recording::Block block) {
    const uint64_t events = block.events;
    auto put = current().file.append(std::move(block));
    if (put) current().events += events;
    return put;
  }
  Status finish() { return current().file.finish(); }
  // Ends the file that was begun last; if it has nothing, the one before.
  void end_early(const Lost& lost, const recording::Ending& ending) {
    if (begun_ == 0) return;
    const size_t before = (begun_ - 1 + files_.size() - 1) % files_.size();
    (current().file.is_begun() || begun_ == 1 ? current() : files_[before])
        .file.end_early(lost, ending);
  }
  void close() {
    for (Part& part : files_) part.file.close();
  }

  uint64_t begun() const { return begun_; }              // how many files were begun
  uint64_t overwritten() const { return overwritten_; }  // events
  uint64_t current_bytes() const { return files_[index()].file.bytes(); }
  uint64_t bytes() const {
    uint64_t sum = 0;
    for (const Part& part : files_) sum += part.file.bytes();
    return sum;
  }

 private:
  struct Part {
    BlockFile file;
    uint64_t events = 0;
  };
  Status empty_all() {
    for (Part& part : files_)
      if (auto emptied = part.file.empty(); !emptied) return emptied;
    return ok();
  }
  size_t index() const { return (begun_ - 1) % files_.size(); }
  Part& current() { return files_[index()]; }

  std::vector<Part> files_;
  uint64_t begun_ = 0;
  uint64_t overwritten_ = 0;
};

}  // namespace tracectl
