// SPDX-License-Identifier: BSD-2-Clause
//
// Writes trace files for tests, and reads them back.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/model/event.h"
#include "daemon/protocol/events.h"
#include "daemon/recording/encoder.h"
#include "daemon/recording/reader.h"

namespace tracectl {

using Lines = std::vector<std::string>;

inline Fd memory_file() { return Fd{::memfd_create("recording", MFD_CLOEXEC | MFD_ALLOW_SEALING)}; }

inline Fd copy_of(const Fd& file) { return Fd{::fcntl(file.get(), F_DUPFD_CLOEXEC, 0)}; }

inline std::string bytes_of(const Fd& file) {
  std::string bytes(static_cast<size_t>(::lseek(file.get(), 0, SEEK_END)), '\0');
  EXPECT_EQ(::pread(file.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  return bytes;
}

inline Fd file_of(const std::string& bytes) {
  Fd file = memory_file();
  EXPECT_EQ(::pwrite(file.get(), bytes.data(), bytes.size(), 0),
            static_cast<ssize_t>(bytes.size()));
  return file;
}

// Blocks of one event each, like those of a recorder that writes each event at once.
inline std::string file_of_small_blocks(std::span<const StreamItem> items) {
  recording::FileHeader header{.id = 0x1122334455667788, .wall_minus_boot_ns = 5};
  std::string bytes = recording::encode(header);
  recording::Encoder encoder;
  for (const StreamItem& item : items) {
    encoder.add(item);
    encoder.end_all();
    for (recording::Block& block : encoder.take()) {
      block.header.file_id = header.id;
      block.header.stored_bytes = block.header.plain_bytes =
          static_cast<uint32_t>(block.records.size());
      block.header.checksum = recording::checksum_of(block.records);
      bytes += recording::encode(block.header) + block.records;
    }
  }
  return bytes;
}

// An item as users see it, complete.
inline std::string line_of(const StreamItem& item) {
  protocol::WallClock wall(0);
  if (const auto* event = std::get_if<Event>(&item)) return protocol::event_json(*event, wall);
  return protocol::lost_json(std::get<Lost>(item), "s");
}

inline Lines lines_of(std::span<const StreamItem> items) {
  Lines lines;
  for (const StreamItem& item : items) lines.push_back(line_of(item));
  return lines;
}

struct ReadBack {
  Lines lines;
  recording::Damage damage;
  std::string reason;
  std::string error;
};

inline ReadBack read_all(const std::string& bytes, const recording::TimeRange& range = {}) {
  ReadBack got;
  auto reader = recording::Reader::open(file_of(bytes));
  if (!reader) return got.error = reader.error().message, got;
  auto done = reader->read(range, [&](const StreamItem& item) {
    got.lines.push_back(line_of(item));
    return true;
  });
  if (!done) got.error = done.error().message;
  got.damage = reader->damage();
  got.reason = reader->reason();
  return got;
}

inline bool is_whole(const recording::Damage& damage) {
  return damage.bytes + damage.unfinished_bytes + damage.blocks + damage.unknown == 0;
}

// Random events of a few probes, threads and CPUs, with everything that events can have.
class RandomItems {
 public:
  explicit RandomItems(unsigned seed) : random_(seed) {
    Argument number{.is_signed = true};
    number.name = "size";
    Argument text;
    text.is_string = true;
    text.is_shown_as_text = true;
    Argument colour{.kind = Argument::Kind::enumeration, .size_bytes = 4};
    colour.enumerators = std::make_shared<const Enumerators>(Enumerators{{"red", -1}, {"blue", 7}});
    Argument real{.is_float = true};
    Argument result{.place = Argument::Place::in_register, .size_bytes = 4, .is_signed = true};
    result.declared_type = "int";
    Argument none{.place = Argument::Place::nothing};
    real.text = "double in xmm0";
    Argument members{.place = Argument::Place::in_register, .kind = Argument::Kind::aggregate};
    members.is_string = true;
    members.text = "in rax";
    sources_ = {source("p1", {number, text, colour}, std::nullopt),
                source("p2", {}, result),
                source("p3", {real}, real),
                source("p1", {number}, std::nullopt),
                source("p4", {number}, none),
                source("p5", {number}, bare_register("rax")),
                source("p6", {text, number}, members)};
  }

  std::vector<StreamItem> make(size_t count) {
    std::vector<StreamItem> items;
    for (size_t i = 0; i < count; ++i) items.push_back(one_in(40) ? StreamItem(lost()) : event());
    return items;
  }

 private:
  uint64_t below(uint64_t end) { return random_() % end; }
  bool one_in(uint64_t n) { return below(n) == 0; }
  uint64_t number() { return random_() >> below(64); }

  static std::shared_ptr<const EventSource> source(const char* probe, Arguments arguments,
                                                   std::optional<Argument> result) {
    return std::make_shared<const EventSource>(
        EventSource{probe, "s", std::move(arguments), std::move(result)});
  }

  Lost lost() {
    Lost lost{now_ns_ += below(1000), 1 + number(), static_cast<LossCause>(below(3)), {}};
    if (!one_in(3)) lost.cpu = static_cast<unsigned>(below(3));
    return lost;
  }

  Event event() {
    Event event;
    event.kind = static_cast<EventKind>(below(4));
    event.ts_ns = now_ns_ += number() & 0xffffff;
    event.epoch = below(3);
    event.cpu = static_cast<unsigned>(below(3));
    event.pid = static_cast<pid_t>(1 + below(3));
    event.tid = static_cast<pid_t>(1 + below(5));
    event.comm = one_in(10) ? "other" : "main";
    event.source = sources_[below(sources_.size())];
    for (const Argument& type : event.source->arguments) add_argument(event, type);
    if (one_in(20)) event.args.push_back(number());
    if (one_in(3))
      event.call = CallMark{static_cast<uint32_t>(number()), static_cast<uint32_t>(below(99))};
    const auto& result = event.source->result;
    const bool has_number = result && is_readable(*result) && !one_in(9);
    if (has_number && event.kind == EventKind::returned) add_result(event);
    if (event.kind != EventKind::hit) event.duration_ns = number();
    if (event.duration_ns && random_() % 2)
      event.off_cpu = OffCpu{.runnable_ns = number(), .blocked_ns = number()};
    if (one_in(8)) event.stack = stack();
    if (one_in(8)) event.tag = one_in(2) ? "a" : "tag \xff";
    return event;
  }

  void add_result(Event& event) {
    event.retval = event.source->result->is_string ? event.strings.size() : number();
    if (event.source->result->is_string)
      event.strings.push_back("{a = " + std::to_string(number()) + "}");
  }

  void add_argument(Event& event, const Argument& type) {
    if (one_in(10)) return event.args.push_back(std::nullopt);
    if (!type.is_string) return event.args.push_back(number());
    event.args.push_back(event.strings.size());
    event.strings.push_back(std::string(below(20), 'x') + "\n");
  }

  std::shared_ptr<const Stack> stack() {
    Stack stack{StackBy::unwind_tables, static_cast<StackEnd>(below(7)), {}};
    for (uint64_t i = below(4); i > 0; --i) {
      Frame frame;
      frame.address = 4096 + below(3);
      frame.module = "/bin/a";
      frame.build_id = "abcd";
      frame.offset = below(9);
      frame.function = "f" + std::to_string(below(3));
      frame.file = "a.c";
      frame.line = static_cast<unsigned>(below(100));
      frame.inlined = one_in(2);
      if (one_in(2)) frame.size_bytes = below(64);
      stack.frames.push_back(frame);
    }
    return std::make_shared<const Stack>(std::move(stack));
  }

  std::mt19937_64 random_;
  uint64_t now_ns_ = 1'000'000'000;
  std::vector<std::shared_ptr<const EventSource>> sources_;
};

}  // namespace tracectl
