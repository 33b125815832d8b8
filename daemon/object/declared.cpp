// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/declared.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "daemon/object/note_section.h"

namespace tracectl {
namespace {

constexpr NoteKind kDeclaredNotes{".note.tracectl", "tracectl", 1};
constexpr size_t kLongestType = 256;
constexpr size_t kMostArguments = 12;

std::optional<DeclaredArgument> parse_argument(NoteCursor& cursor) {
  auto type = cursor.text(kLongestType);
  auto name = type ? cursor.text(kLongestNoteName) : std::nullopt;
  const auto words = name ? cursor.value<uint8_t>() : std::nullopt;
  if (!words || *words < 1 || *words > 2) return std::nullopt;
  return DeclaredArgument{std::move(*type), std::move(*name), *words};
}

Result<DeclaredProbe> parse_probe(const Note& note) {
  NoteCursor cursor(note.contents);
  const auto location = cursor.value<uint64_t>();
  const auto base = cursor.value<uint64_t>();
  if (!base) return malformed_note(kDeclaredNotes, note.at, "no room for its addresses");
  DeclaredProbe probe{*location, *base, {}};
  while (!cursor.at_end()) {
    auto argument = parse_argument(cursor);
    if (!argument)
      return malformed_note(kDeclaredNotes, note.at, "an argument is cut off, or too long");
    if (probe.arguments.size() == kMostArguments)
      return malformed_note(kDeclaredNotes, note.at, "it has more than 12 arguments");
    probe.arguments.push_back(std::move(*argument));
  }
  return probe;
}

// The words of a type, without those that do not affect its values.
std::vector<std::string> words_of(const std::string& type) {
  std::vector<std::string> words;
  bool in_word = false;
  for (const char c : type) {
    const bool is_sign = c == '*' || c == '&';
    if (c == ' ') {
      in_word = false;
    } else if (in_word && !is_sign) {
      words.back() += c;
    } else {
      words.emplace_back(1, c);
      in_word = !is_sign;
    }
  }
  std::erase(words, "const");
  std::erase(words, "volatile");
  return words;
}

Argument::Kind kind_of(const std::string& type) {
  using Kind = Argument::Kind;
  const auto words = words_of(type);
  if (words.empty()) return Kind::integer;
  if (words == std::vector<std::string>{"char", "*"}) return Kind::text;
  if (words.back() == "*") return Kind::pointer;
  if (words.front() == "bool" || words.front() == "_Bool") return Kind::boolean;
  if (words == std::vector<std::string>{"char"}) return Kind::character;
  return Kind::integer;
}

void describe(Argument& argument, std::string name, std::string type) {
  argument.name = std::move(name);
  argument.kind = kind_of(type);
  argument.declared_type = std::move(type);
  argument.is_shown_as_text = argument.kind == Argument::Kind::text;
}

}  // namespace

Result<std::vector<DeclaredProbe>> parse_declared(std::span<const uint8_t> section) {
  auto notes = split_notes(section, kDeclaredNotes);
  if (!notes) return notes.error();
  std::vector<DeclaredProbe> probes;
  for (const Note& note : *notes) {
    auto probe = parse_probe(note);
    if (!probe) return probe.error();
    probes.push_back(std::move(*probe));
  }
  return probes;
}

void declare(Arguments& arguments, const DeclaredProbe& as) {
  const auto words = std::accumulate(as.arguments.begin(), as.arguments.end(), size_t{0},
                                     [](size_t sum, const auto& one) { return sum + one.words; });
  if (words != arguments.size()) return;
  size_t at = 0;
  for (const DeclaredArgument& one : as.arguments) {
    if (one.words == 1) {
      describe(arguments[at++], one.name, one.type);
      continue;
    }
    describe(arguments[at], one.name, "const char*");
    arguments[at].declared_type = one.type;
    arguments[at].length_behind = true;
    describe(arguments[at + 1], one.name + "_size", "size_t");
    at += 2;
  }
}

}  // namespace tracectl
