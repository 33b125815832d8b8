// SPDX-License-Identifier: BSD-2-Clause
//
// What a USDT probe is in a file.
//
// The macros of <sys/sdt.h> put a nop where the probe is, and describe it in the section
// .note.stapsdt, which is not loaded: the nop's address, the address of a counter that the program
// tests before it computes costly arguments (the semaphore), and how the arguments can be read at
// the nop, in the words of the assembler. Source: SystemTap's <sys/sdt.h>, and
// https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation
//
// The addresses are those of when the file was linked. A tool that moves a file's sections
// afterwards (prelink) does not know of the notes. So each note also has the address that the
// section .stapsdt.base had then: what that section has moved since is what all addresses have
// moved.
#include "usdt/notes.h"

#include <algorithm>
#include <cstring>

#include "usdt/arg_spec.h"

namespace tracectl {
namespace {

// Far above what programs have (PostgreSQL: 72 notes), far below what would hurt us.
constexpr uint64_t kMostNoteBytes = 1 << 20;
constexpr size_t kMostNotes = 10'000;
constexpr size_t kLongestName = 256;
constexpr size_t kLongestArguments = 4096;

constexpr uint32_t kNoteType = 3;  // NT_STAPSDT
constexpr std::string_view kOwner{"stapsdt\0", 8};
constexpr size_t kHeaderBytes = 12;
constexpr size_t kAddressBytes = 24;

template <class T> T read_value(std::span<const uint8_t> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

uint64_t aligned(uint64_t size) { return (size + 3) / 4 * 4; }

Error malformed(uint64_t offset, const char* what) {
  return Error{Code::invalid, "the USDT note at byte " + std::to_string(offset) +
                                  " of .note.stapsdt is malformed: " + what};
}

// The three strings behind the addresses.
std::optional<std::string> take_string(std::span<const uint8_t>& bytes, size_t longest) {
  const auto end = std::find(bytes.begin(), bytes.end(), uint8_t{0});
  const auto length = static_cast<size_t>(end - bytes.begin());
  if (end == bytes.end() || length > longest) return std::nullopt;
  std::string text(bytes.begin(), end);
  bytes = bytes.subspan(length + 1);
  return text;
}

Result<RawNote> parse_note(std::span<const uint8_t> bytes, uint64_t at) {
  if (bytes.size() < kAddressBytes) return malformed(at, "no room for its addresses");
  RawNote note{.location = read_value<uint64_t>(bytes),
               .base = read_value<uint64_t>(bytes.subspan(8)),
               .semaphore = read_value<uint64_t>(bytes.subspan(16)),
               .provider = {},
               .name = {},
               .args = {}};
  auto rest = bytes.subspan(kAddressBytes);
  auto provider = take_string(rest, kLongestName);
  auto name = provider ? take_string(rest, kLongestName) : std::nullopt;
  auto args = name ? take_string(rest, kLongestArguments) : std::nullopt;
  if (!args) return malformed(at, "a string does not end, or is too long");
  if (provider->empty() || name->empty()) return malformed(at, "it has no provider or no name");
  note.provider = std::move(*provider);
  note.name = std::move(*name);
  note.args = std::move(*args);
  return note;
}

}  // namespace

Result<std::vector<RawNote>> parse_notes(std::span<const uint8_t> section) {
  std::vector<RawNote> notes;
  uint64_t at = 0;
  while (section.size() - at >= kHeaderBytes) {
    const auto header = section.subspan(at);
    const uint64_t owner_bytes = read_value<uint32_t>(header);
    const uint64_t body_bytes = read_value<uint32_t>(header.subspan(4));
    const uint64_t body_at = kHeaderBytes + aligned(owner_bytes);
    if (body_at + body_bytes > header.size()) return malformed(at, "it is longer than the section");
    const std::string_view owner{reinterpret_cast<const char*>(header.data()) + kHeaderBytes,
                                 owner_bytes};
    if (read_value<uint32_t>(header.subspan(8)) == kNoteType && owner == kOwner) {
      auto note = parse_note(header.subspan(body_at, body_bytes), at);
      if (!note) return note.error();
      if (notes.size() == kMostNotes) return malformed(at, "there are more than 10000");
      notes.push_back(std::move(*note));
    }
    at += std::min<uint64_t>(body_at + aligned(body_bytes), header.size());
  }
  return notes;
}

namespace {

Result<UsdtSite> site_of(const ElfFile& file, const RawNote& note, uint64_t moved) {
  UsdtSite site;
  site.provider = note.provider;
  site.name = note.name;
  site.address = note.location + moved;
  const auto offset = file.offset_of(site.address);
  if (!offset)
    return Error{Code::invalid, file.path() + ": the USDT probe " + note.provider + ":" +
                                    note.name + " lies outside of the file's code"};
  site.offset = *offset;
  if (note.semaphore) {
    site.semaphore = file.offset_of(note.semaphore + moved);
    if (!site.semaphore)
      return Error{Code::invalid, file.path() + ": the semaphore of " + note.provider + ":" +
                                      note.name + " lies outside of the file's data"};
  }
  site.args_text = note.args;
  site.args = parse_arguments(note.args,
                              [&](std::string_view symbol) { return file.symbol_address(symbol); });
  return site;
}

}  // namespace

Result<std::vector<UsdtSite>> read_usdt_sites(const ElfFile& file) {
  std::vector<UsdtSite> sites;
  const auto section = file.section(".note.stapsdt");
  if (!section || section->size == 0) return sites;
  if (section->size > kMostNoteBytes)
    return Error{Code::invalid, file.path() + ": .note.stapsdt has " +
                                    std::to_string(section->size) +
                                    " bytes; at most 1 MiB is read"};
  auto bytes = file.read_at_most(section->offset, section->size);
  if (!bytes) return bytes.error();
  if (bytes->size() != section->size)
    return Error{Code::invalid, file.path() + ": .note.stapsdt lies behind the file's end"};
  auto notes = parse_notes(*bytes);
  if (!notes) return notes.error().in(file.path());
  const auto base = file.section(".stapsdt.base");
  for (const RawNote& note : *notes) {
    auto site = site_of(file, note, base ? base->address - note.base : 0);
    if (!site) return site.error();
    sites.push_back(std::move(*site));
  }
  return sites;
}

}  // namespace tracectl
