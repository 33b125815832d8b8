// SPDX-License-Identifier: BSD-2-Clause
//
// Encodes a session's events to blocks of a trace file. Has no thread and no file: see
// stream/recorder.h.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "daemon/base/bytes.h"
#include "daemon/model/event.h"
#include "daemon/model/plain_hit.h"
#include "daemon/recording/format.h"
#include "daemon/recording/last_values.h"
#include "daemon/recording/record_buffer.h"

namespace tracectl::recording {

// A block before it is compressed and written: without checksum, stored size and file id.
struct Block {
  BlockHeader header;
  std::string records;
  uint64_t events = 0;  // among them
  uint64_t lost = 0;    // that these records report
};

// The reason for writing a file, in a block of its own. A text that is too long is cut off.
Block block_of_reason(std::string_view reason);

// Lost events, in a block of their own.
Block block_of_loss(const Lost& lost);
// The last block of a file. It has exactly `bytes` bytes, with its header.
Block block_of_end(const Ending& ending, size_t bytes);

// Assigns numbers to names in records, and writes each definition once.
class Definitions {
 public:
  uint64_t text(const std::string& text);  // 0: the empty text
  uint64_t source(const std::shared_ptr<const EventSource>& source);
  uint64_t thread(pid_t pid, pid_t tid, std::string_view comm);
  uint64_t stack(const Stack& stack);

  // Definitions made since the last call.
  std::vector<Block> take();
  size_t bytes_to_take() const { return bytes_to_take_; }
  // Everything is defined again when it is next used, with new numbers.
  void forget();

 private:
  // A table that reaches this size is cleared: its entries get new numbers.
  static constexpr size_t kMostEntries = 1 << 20;

  struct Thread {
    uint64_t number;
    pid_t pid;
    std::string comm;
  };
  struct Source {
    uint64_t number;
    std::shared_ptr<const EventSource> kept;  // so that its address is not used again
  };

  template <class Table> static void bound(Table& table) {
    if (table.size() >= kMostEntries) table.clear();
  }
  uint64_t frame(const Frame& frame);
  std::string body_of(const EventSource& source);
  void argument(ByteWriter& to, const Argument& argument);
  // Returns the number of the definition in the file.
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
  // Items of each CPU should come in order of ts; a late one begins a new block.
  void add(const StreamItem& item);
  void add(const PlainHit& hit);
  bool has_ended() const { return !ended_.empty(); }
  // Full blocks, after the definitions they need, in the order in which they must be written.
  std::vector<Block> take();
  // Ends the blocks that have records older than that time.
  void end_older(uint64_t ts_ns);
  void end_all() { end_older(UINT64_MAX); }
  // The size of the records in blocks that have not ended, with their definitions.
  size_t open_bytes() const { return open_bytes_ + definitions_.bytes_to_take(); }
  // Blocks from now on refer to no earlier definitions, and can be read on their own. Call it when
  // all blocks have ended.
  void begin_anew() { definitions_.forget(); }

 private:
  // The names behind the numbers of the block's last event, which mostly are the next one's, too.
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
    Block block;  // without its records
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
  // Returns the end of the record that begins at `to`.
  PlaceWriter write(PlaceWriter to, const Event& event, Open& open);
  PlaceWriter write(PlaceWriter to, const PlainHit& hit, Open& open);

  Definitions definitions_;
  std::map<unsigned, Open> open_;  // by CPU
  size_t open_bytes_ = 0;          // of their records
  Open* last_open_ = nullptr;
  unsigned last_cpu_ = 0;
  std::vector<Block> ended_;
};

}  // namespace tracectl::recording
