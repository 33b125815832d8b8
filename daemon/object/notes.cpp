// SPDX-License-Identifier: BSD-2-Clause
//
// USDT probes in a file.
//
// The macros of <sys/sdt.h> put a nop at the place of the probe, and describe it in the section
// .note.stapsdt, which is not loaded: the nop's address, the address of a counter that the program
// tests before it computes costly arguments (the semaphore), and how to read the arguments at the
// nop, in the syntax of the assembler. Source: SystemTap's <sys/sdt.h>, and
// https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation
//
// The addresses are those at link time. A tool that moves a file's sections later (prelink) does
// not know of the notes. So each note also has the address of the section .stapsdt.base at link
// time: the distance that this section has moved since is the distance for all addresses.
#include "daemon/object/notes.h"

#include <map>

#include "daemon/object/arg_spec.h"
#include "daemon/object/declared.h"
#include "daemon/object/note_section.h"

namespace tracectl {
namespace {

constexpr uint64_t kMostNoteBytes = 1 << 20;
constexpr size_t kLongestArguments = 4096;

constexpr NoteKind kStapsdtNotes{".note.stapsdt", "stapsdt", 3};  // NT_STAPSDT

Result<RawNote> parse_note(const Note& found) {
  NoteCursor cursor(found.contents);
  const auto location = cursor.value<uint64_t>();
  const auto base = cursor.value<uint64_t>();
  const auto semaphore = cursor.value<uint64_t>();
  if (!semaphore) return malformed_note(kStapsdtNotes, found.at, "no room for its addresses");
  auto provider = cursor.text(kLongestNoteName);
  auto name = provider ? cursor.text(kLongestNoteName) : std::nullopt;
  auto args = name ? cursor.text(kLongestArguments) : std::nullopt;
  if (!args)
    return malformed_note(kStapsdtNotes, found.at, "a string does not end, or is too long");
  if (provider->empty() || name->empty())
    return malformed_note(kStapsdtNotes, found.at, "it has no provider or no name");
  return RawNote{*location,        *base,           *semaphore, std::move(*provider),
                 std::move(*name), std::move(*args)};
}

}  // namespace

Result<std::vector<RawNote>> parse_notes(std::span<const uint8_t> section) {
  auto found = split_notes(section, kStapsdtNotes);
  if (!found) return found.error();
  std::vector<RawNote> notes;
  for (const Note& one : *found) {
    auto note = parse_note(one);
    if (!note) return note.error();
    notes.push_back(std::move(*note));
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

// Empty if the file has no such section.
Result<std::vector<uint8_t>> read_notes(const ElfFile& file, const char* name) {
  const auto section = file.section(name);
  if (!section || section->size == 0) return std::vector<uint8_t>{};
  if (section->size > kMostNoteBytes)
    return Error{Code::invalid, file.path() + ": " + name + " has " +
                                    std::to_string(section->size) +
                                    " bytes; at most 1 MiB is read"};
  auto bytes = file.read_at_most(section->offset, section->size);
  if (bytes && bytes->size() != section->size)
    return Error{Code::invalid, file.path() + ": " + name + " lies behind the file's end"};
  return bytes;
}

uint64_t moved_since(const std::optional<Section>& base, uint64_t was) {
  return base ? base->address - was : 0;
}

// By the site's address. If they cannot be read, there are none: probes work without the names.
std::map<uint64_t, DeclaredProbe> read_declared(const ElfFile& file,
                                                const std::optional<Section>& base) {
  std::map<uint64_t, DeclaredProbe> by_address;
  const auto bytes = read_notes(file, ".note.tracectl");
  if (!bytes) return by_address;
  auto probes = parse_declared(*bytes);
  if (!probes) return by_address;
  for (DeclaredProbe& probe : *probes)
    by_address[probe.location + moved_since(base, probe.base)] = std::move(probe);
  return by_address;
}

}  // namespace

Result<std::vector<UsdtSite>> read_usdt_sites(const ElfFile& file) {
  std::vector<UsdtSite> sites;
  auto bytes = read_notes(file, ".note.stapsdt");
  if (!bytes) return bytes.error();
  auto notes = parse_notes(*bytes);
  if (!notes) return notes.error().in(file.path());
  const auto base = file.section(".stapsdt.base");
  const auto declared = read_declared(file, base);
  for (const RawNote& note : *notes) {
    auto site = site_of(file, note, moved_since(base, note.base));
    if (!site) return site.error();
    if (const auto as = declared.find(site->address); as != declared.end())
      declare(site->args, as->second);
    sites.push_back(std::move(*site));
  }
  return sites;
}

}  // namespace tracectl
