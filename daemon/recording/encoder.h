// SPDX-License-Identifier: BSD-2-Clause
//
// Makes blocks of a trace file of a session's events. No thread of its own, no file: sinks/recorder.h.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "daemon/model/event.h"
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

// Gives numbers to what records name, and writes down what they mean, once.
class Definitions {
 public:
  uint64_t text(const std::string& text);  // 0: the empty one
  uint64_t source(const std::shared_ptr<const EventSource>& source);
  uint64_t thread(const Event& event);
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
    uint64_t number = 0;
    pid_t pid = 0;
    std::string comm;
  };
  struct Source {
    uint64_t number = 0;
    std::shared_ptr<const EventSource> kept;  // else another could come to lie at its address
  };

  template <class Table> static void bound(Table& table) {
    if (table.size() >= kMostEntries) table.clear();
  }
  uint64_t known_or_defined_source(const std::shared_ptr<const EventSource>& source);
  uint64_t known_or_defined_thread(const Event& event);
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
  // Those of the last event, which most often are the next one's.
  Source last_source_;
  pid_t last_tid_ = 0;
  Thread last_thread_;
  std::map<Frame, uint64_t> frames_;
  std::map<std::string, uint64_t> stacks_;  // by body
};

class Encoder {
 public:
  // In ts order.
  void add(const StreamItem& item);
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
  struct Open {
    Block block;  // but its records
    RecordBuffer records;
    LastValues last;
  };

  Open& open_block(uint16_t cpu, uint64_t ts_ns);
  void end(Open& open);
  void add_event(const Event& event);
  void add_lost(const Lost& lost);
  void added(Open& open, uint64_t ts_ns);
  // Which members the record has.
  uint64_t head_of(const Event& event, uint64_t missing, const LastValues& last);
  void write(PlaceWriter& to, const Event& event, LastValues& last);

  Definitions definitions_;
  std::map<uint16_t, Open> open_;  // by CPU
  std::vector<Block> ended_;
};

}  // namespace tracectl::recording
