// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/note_section.h"

#include <algorithm>

namespace tracectl {
namespace {

// Far more than programs have (PostgreSQL: 72), and few enough to read.
constexpr size_t kMostNotes = 10'000;
constexpr size_t kHeaderBytes = 12;

uint64_t aligned(uint64_t size) { return (size + 3) / 4 * 4; }

bool is_owner(std::span<const uint8_t> found, std::string_view owner) {
  return found.size() == owner.size() + 1 && found.back() == 0 &&
         std::equal(owner.begin(), owner.end(), found.begin());
}

}  // namespace

Error malformed_note(const NoteKind& kind, uint64_t at, const char* what) {
  return Error{Code::invalid, "the USDT note at byte " + std::to_string(at) + " of " +
                                  kind.section + " is malformed: " + what};
}

Result<std::vector<Note>> split_notes(std::span<const uint8_t> section, const NoteKind& kind) {
  std::vector<Note> notes;
  uint64_t at = 0;
  while (section.size() - at >= kHeaderBytes) {
    const auto here = section.subspan(at);
    NoteCursor header(here);
    const uint64_t owner_bytes = *header.value<uint32_t>();
    const uint64_t body_bytes = *header.value<uint32_t>();
    const uint32_t type = *header.value<uint32_t>();
    const uint64_t body_at = kHeaderBytes + aligned(owner_bytes);
    if (body_at + body_bytes > here.size())
      return malformed_note(kind, at, "it is longer than the section");
    if (type == kind.type && is_owner(here.subspan(kHeaderBytes, owner_bytes), kind.owner)) {
      if (notes.size() == kMostNotes) return malformed_note(kind, at, "there are more than 10000");
      notes.push_back({at, here.subspan(body_at, body_bytes)});
    }
    at += std::min<uint64_t>(body_at + aligned(body_bytes), here.size());
  }
  return notes;
}

std::optional<std::string> NoteCursor::text(size_t longest) {
  const auto end = std::find(bytes_.begin(), bytes_.end(), uint8_t{0});
  const auto length = static_cast<size_t>(end - bytes_.begin());
  if (end == bytes_.end() || length > longest) return std::nullopt;
  std::string text(bytes_.begin(), end);
  bytes_ = bytes_.subspan(length + 1);
  return text;
}

}  // namespace tracectl
