// SPDX-License-Identifier: BSD-2-Clause
//
// Makes blocks of a trace file of a session's events. No thread of its own, no file: sinks/recorder.h.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "daemon/model/event.h"
#include "daemon/model/plain_hit.h"
#include "daemon/recording/bytes.h"
#include "daemon/recording/format.h"
#include "daemon/recording/last_values.h"
#include "daemon/recording/record_buffer.h"

namespace tracectl::recording {

// As it is before it is compressed and put down: without checksum, stored size and file.
struct Block {
  BlockHeader header;
  std::string records;
  uint64_t events = 0;  // among them
  uint64_t lost = 0;    // that the others tell of
};

// Why a file is written, in a block of its own. What is too long is cut off.
Block block_of_reason(std::string_view reason);

// What was lost, in a block of its own.
Block block_of_loss(const Lost& lost);
// The last block of a file; has so many bytes, with its header.
Block block_of_end(const Ending& ending, size_t bytes);

// Gives numbers to what records name, and writes down what they mean, once.
class Definitions {
 public:
  uint64_t text(const std::string& text);  // 0: the empty one
  uint64_t source(const std::shared_ptr<const EventSource>& source);
  uint64_t thread(pid_t pid, pid_t tid, std::string_view comm);
  uint64_t stack(const Stack& stack);

  // What has been defined since the last time.
  std::vector<Block> take();
  size_t bytes_to_take() const { return bytes_to_take_; }
  // All is defined again where it is named next, under numbers that were not given before.
  void forget();

 private:
  // A table that has grown to so much is begun anew: its entries get new numbers.
  static constexpr size_t kMostEntries = 1 << 20;

  struct Thread {
    uint64_t number;
    pid_t pid;
    std::string comm;
  };
  struct Source {
    uint64_t number;
    std::shared_ptr<const EventSource> kept;  // else another could come to lie at its address
  };

  template <class Table> static void bound(Table& table) {
    if (table.size() >= kMostEntries) table.clear();
  }
  uint64_t frame(const Frame& frame);
  std::string body_of(const EventSource& source);
  void argument(ByteWriter& to, const Argument& argument);
  // Its number is that of the definition in the file.
  uint64_t define(DefinitionKind kind, const std::string& body);
  void end_block();

  uint64_t last_number_ = 0;
  Block block_;
  std::vector<Block> ended_;
  size_t bytes_to_take_ = 0;
  std::unordered_map<std::string, uint64_t> texts_;
  std::unordered_map<const EventSource*, Source> sources_;
  std::unordered_map<pid_t, Thread> threads_;
  std::map<Frame, uint64_t> frames_;
  std::map<std::string, uint64_t> stacks_;  // by body
};

class Encoder {
 public:
  // Those of each CPU in ts order: one that comes late begins a block.
  void add(const StreamItem& item);
  void add(const PlainHit& hit);
  bool has_ended() const { return !ended_.empty(); }
  // Blocks that are full, after the definitions they need, in the order in which they are to stand
  // in the file.
  std::vector<Block> take();
  // Ends the blocks that have records from before that time.
  void end_older(uint64_t ts_ns);
  void end_all() { end_older(UINT64_MAX); }
  // Of records whose blocks have not ended, with what they define.
  size_t open_bytes() const { return open_bytes_ + definitions_.bytes_to_take(); }
  // What is added from now on refers to nothing that was defined before: its blocks stand by
  // themselves. To be called when all blocks have ended.
  void begin_anew() { definitions_.forget(); }

 private:
  // What the numbers of the block's last event stand for: most are those of the next one.
  struct LastNames {
    bool are_thread(pid_t its_pid, pid_t its_tid) const { return its_tid == tid && its_pid == pid; }
    bool are_of(const PlainHit& hit) const {
      return are_thread(hit.pid, hit.tid) && hit.comm == comm;
    }
    bool are_of(const Event& event) const {
      return are_thread(event.pid, event.tid) && event.comm == comm.text();
    }

    pid_t pid = 0;
    pid_t tid = 0;
    RawComm comm = {};
    std::shared_ptr<const EventSource> source = {};
  };
  struct Open {
    Block block;  // but its records
    RecordBuffer records;
    LastValues last;
    LastNames names;
  };

  Open& open_block(unsigned cpu, uint64_t ts_ns);
  template <class Hit> uint64_t thread(Open& open, const Hit& hit) {
    const bool is_last = open.last.thread && open.names.are_of(hit);
    return is_last ? open.last.thread : new_thread(open, hit.pid, hit.tid, RawComm(hit.comm));
  }
  uint64_t new_thread(Open& open, pid_t pid, pid_t tid, const RawComm& comm);
  uint64_t source(Open& open, const std::shared_ptr<const EventSource>& source) {
    const bool is_last = open.last.source && source == open.names.source;
    return is_last ? open.last.source : new_source(open, source);
  }
  uint64_t new_source(Open& open, const std::shared_ptr<const EventSource>& source);
  void end(Open& open);
  void add_event(const Event& event);
  void add_lost(const Lost& lost);
  void added(Open& open, uint64_t ts_ns, PlaceWriter record);
  // Where the record ends that begins at `to`.
  PlaceWriter write(PlaceWriter to, const Event& event, Open& open);
  PlaceWriter write(PlaceWriter to, const PlainHit& hit, Open& open);

  Definitions definitions_;
  std::map<unsigned, Open> open_;  // by CPU
  size_t open_bytes_ = 0;          // of the records in there
  Open* last_open_ = nullptr;
  unsigned last_cpu_ = 0;
  std::vector<Block> ended_;
};

}  // namespace tracectl::recording
