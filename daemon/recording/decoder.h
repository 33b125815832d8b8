// SPDX-License-Identifier: BSD-2-Clause
//
// Decodes blocks of a trace file to events. All their contents are untrusted.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "daemon/base/bytes.h"
#include "daemon/model/event.h"
#include "daemon/recording/format.h"
#include "daemon/recording/last_values.h"

namespace tracectl::recording {

struct ThreadName {
  pid_t pid = 0;
  pid_t tid = 0;
  std::string comm;
};

// The definitions of the numbers in records. If a number is defined twice, the first definition
// holds.
class DefinitionTables {
 public:
  // The most memory of definitions; later ones are refused. A file can refer to a long text many
  // times, with one byte each.
  static constexpr size_t kMostBytes = size_t{1} << 30;
  // The most memory of one decoded stack; further frames are cut off. A stack, too, can refer to
  // long texts with few bytes.
  static constexpr size_t kMostStackBytes = 4 << 20;
  // The most memory of all decoded stacks that are kept for events. Beyond it they are decoded
  // again.
  static constexpr size_t kMostMadeBytes = 32 << 20;

  DefinitionTables() = default;
  DefinitionTables(DefinitionTables&&) = default;  // its members point to each other

  // Adds the records of a block. False if one is malformed; it is skipped.
  bool add(std::string_view records);

  const std::string* text(uint64_t number) const;  // 0: the empty text
  std::shared_ptr<const EventSource> source(uint64_t number) const;
  const ThreadName* thread(uint64_t number) const;
  std::shared_ptr<const Stack> stack(uint64_t number) const;
  const std::string& reason() const { return reason_; }  // empty if there is none
  size_t most_arguments() const;                         // of all sources
  uint64_t cut() const { return cut_; }                  // texts and stacks that were cut off
  bool is_full() const { return used_bytes_ > kMostBytes; }

 private:
  bool add_record(ByteReader& from);
  bool add_text(uint64_t number, std::string_view text);
  bool add_reason(std::string_view text);
  bool add_source(uint64_t number, ByteReader& from);
  bool add_thread(uint64_t number, ByteReader& from);
  bool add_frame(uint64_t number, ByteReader& from);
  bool add_stack(uint64_t number, ByteReader& from);
  bool read_text(ByteReader& from, std::string& to);
  bool read_argument(ByteReader& from, Argument& to);
  bool read_enumerators(ByteReader& in, Argument& to);
  bool read_place(ByteReader& in, Argument& to);
  // False if less is left.
  bool take(size_t bytes);

  struct Frames {
    StackBy by;
    StackEnd end;
    std::vector<const Frame*> frames;
  };

  void cut(Frames& stack);

  size_t used_bytes_ = 0;
  uint64_t cut_ = 0;

  std::string reason_;
  std::unordered_map<uint64_t, std::string> texts_;
  std::unordered_map<uint64_t, std::shared_ptr<const EventSource>> sources_;
  std::unordered_map<uint64_t, ThreadName> threads_;
  std::unordered_map<uint64_t, Frame> frames_;
  std::unordered_map<uint64_t, Frames> stacks_;
  mutable std::unordered_map<uint64_t, std::shared_ptr<const Stack>> made_stacks_;
  mutable size_t made_bytes_ = 0;
};

// Decodes the events of one block one by one. Borrows the records and tables.
class EventDecoder {
 public:
  enum class Next {
    item,       // `item` is set
    end,        // no more items
    malformed,  // the rest cannot be decoded
  };

  EventDecoder(const BlockHeader& header, std::string_view records, const DefinitionTables& tables);

  // Skips and counts records of unknown kinds. Overwrites `item`, and uses its memory again.
  Next next(StreamItem& item);
  uint64_t skipped() const { return skipped_; }

 private:
  bool read_event(uint64_t head, ByteReader& from, Event& event);
  bool read_parts(uint64_t head, ByteReader& from, Event& event);
  void read_result(ByteReader& from, Event& event);
  bool read_result_text(ByteReader& from, Event& event);
  bool read_arguments(uint64_t head, ByteReader& from, Event& event);
  bool read_argument(ByteReader& from, const Argument& type, uint64_t& last, Event& event);
  bool read_lost(ByteReader& from, Lost& lost);

  const BlockHeader& header_;
  ByteReader from_;
  const DefinitionTables& tables_;
  LastValues last_;
  // The thread and source that the numbers in last_ stand for.
  const ThreadName* thread_ = nullptr;
  std::shared_ptr<const EventSource> source_;
  uint64_t skipped_ = 0;
};

}  // namespace tracectl::recording
