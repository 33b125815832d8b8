// SPDX-License-Identifier: BSD-2-Clause
//
// Input: trace files; the first byte says whether the rest is a whole file, or the records of a block with a
// valid header, so that code behind checksums is reached, too.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <variant>

#include "daemon/protocol/events.h"
#include "daemon/recording/encoder.h"
#include "daemon/recording/reader.h"

using namespace tracectl;
using namespace tracectl::recording;

namespace {

void must(bool promise) {
  if (!promise) std::abort();
}

Fd file_of(std::string_view bytes) {
  Fd file{::memfd_create("fuzz", MFD_CLOEXEC)};
  must(::write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  return file;
}

std::string block_of(BlockKind kind, std::string_view records) {
  BlockHeader header{.kind = kind, .cpu = 1, .records = 1};
  header.stored_bytes = header.plain_bytes = static_cast<uint32_t>(records.size());
  header.checksum = checksum_of(records);
  return encode(header) + std::string(records);
}

// One probe, one thread.
std::string known_definitions() {
  Event event;
  event.source = std::make_shared<const EventSource>(EventSource{"p", "s", {Argument{}}});
  event.args = {0};
  Encoder encoder;
  encoder.add(event);
  encoder.end_all();
  return block_of(BlockKind::definitions, encoder.take().front().records);
}

void read(const std::string& bytes) {
  auto reader = Reader::open(file_of(bytes));
  if (!reader) return;
  protocol::WallClock wall(0);
  const auto take = [&](const StreamItem& item) {
    if (const auto* event = std::get_if<Event>(&item)) {
      must(event->source && event->args.size() <= kMostArguments);
      must(!protocol::event_json(*event, wall).empty());
    }
    return true;
  };
  must(reader->read({}, take).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0: read(std::string(rest)); break;
    case 1: read(encode(FileHeader{}) + block_of(BlockKind::definitions, rest)); break;
    case 2:
      read(encode(FileHeader{}) + known_definitions() + block_of(BlockKind::events, rest));
      break;
  }
  return 0;
}
