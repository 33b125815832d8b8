// SPDX-License-Identifier: BSD-2-Clause
//
// The common form of notes in ELF files: see elf(5), "Notes (Nhdr)".
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"

namespace tracectl {

// The kind of notes to look for.
struct NoteKind {
  const char* section;     // for messages
  std::string_view owner;  // without the terminating 0
  uint32_t type;
};

inline constexpr size_t kLongestNoteName = 256;  // of a provider, a probe or a type

struct Note {
  uint64_t at = 0;  // in the section
  std::span<const uint8_t> contents;
};

// Borrows the bytes. Skips notes of other kinds.
Result<std::vector<Note>> split_notes(std::span<const uint8_t> section, const NoteKind& kind);

Error malformed_note(const NoteKind& kind, uint64_t at, const char* what);

// Reads the contents of a note from front to back.
class NoteCursor {
 public:
  explicit NoteCursor(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool at_end() const { return bytes_.empty(); }

  template <class T> std::optional<T> value() {
    if (bytes_.size() < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data(), sizeof(value));
    bytes_ = bytes_.subspan(sizeof(value));
    return value;
  }

  // A text that ends with a 0; none if there is no 0, or if the text has more than `longest` bytes.
  std::optional<std::string> text(size_t longest);

 private:
  std::span<const uint8_t> bytes_;
};

}  // namespace tracectl
