// SPDX-License-Identifier: BSD-2-Clause
#include "client/target/known_patterns.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "client/target/objects_by_name.h"
#include "client/target/shared_objects.h"
#include "daemon/model/pattern.h"
#include "daemon/object/demangle.h"
#include "daemon/object/elf_image.h"
#include "daemon/object/notes.h"

namespace tracectl {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

constexpr std::array<std::string_view, 3> kKinds{"uprobe:", "u:", "usdt:"};
constexpr size_t kMostSymbols = 1'000'000;
constexpr size_t kMostNames = 50'000;
constexpr size_t kMostDemangled = 20'000;  // which takes some 50 ms

// A pattern up to the cursor: `before` is KIND: and OBJECT: as typed, `rest` what follows.
struct Typed {
  std::string before, kind, rest;
  std::optional<std::string> object;  // none: its end has not been typed, or it is left away

  bool is_usdt() const { return kind == "usdt:"; }
};

// The first single colon; `::` is part of a name.
size_t end_of_object(const std::string& text) {
  for (size_t at = text.find(':'); at != text.npos; at = text.find(':', at + 2))
    if (text.compare(at, 2, "::") != 0 || at == 0) return at;
  return text.npos;
}

Typed split(const std::string& typed) {
  Typed parts{.before = "", .kind = "", .rest = typed, .object = std::nullopt};
  const auto kind =
      std::ranges::find_if(kKinds, [&](std::string_view one) { return typed.starts_with(one); });
  if (kind != kKinds.end()) {
    parts.kind = *kind;
    parts.rest = typed.substr(kind->size());
  }
  const size_t colon = end_of_object(parts.rest);
  if (colon != parts.rest.npos) {
    parts.object = parts.rest.substr(0, colon);
    parts.rest = parts.rest.substr(colon + 1);
  }
  parts.before = typed.substr(0, typed.size() - parts.rest.size());
  return parts;
}

// ---- what files have ----

std::optional<ElfImage> open(const std::string& path) {
  if (!is_elf_file(path)) return std::nullopt;
  Fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (!fd) return std::nullopt;
  auto image = ElfImage::open(std::move(fd), path);
  return image ? std::optional(std::move(*image)) : std::nullopt;
}

// Tells symbols whose names may have a given beginning from most others, because demangling takes long. A mangled name has
// the parts of its name as they are, but for std, what is in it, operators and punctuation.
class MangledFilter {
 public:
  explicit MangledFilter(const std::string& begin) {
    const std::string plain = begin.substr(0, begin.find_first_of("<({[~ "));
    for (size_t at = 0; at < plain.size();) {
      const size_t end = std::min(plain.size(), plain.find(':', at));
      if (!may_be_operator(plain.substr(at, end - at)))
        parts_.push_back(plain.substr(at, end - at));
      at = end + 1;
    }
    is_std_ = plain.starts_with("std");
  }

  bool may_fit(const std::string& symbol) const {
    if (!symbol.starts_with("_Z") && !symbol.starts_with("_R")) return false;
    const auto has = [&](const std::string& part) { return symbol.find(part) != symbol.npos; };
    return is_std_ ? has("St") || has("std") : std::ranges::all_of(parts_, has);
  }

 private:
  static bool may_be_operator(std::string_view part) {
    constexpr std::string_view kOperator = "operator";
    return part.starts_with(kOperator) || kOperator.starts_with(part);
  }

  std::vector<std::string> parts_;
  bool is_std_ = false;
};

class FunctionNames {
 public:
  explicit FunctionNames(const std::string& begin) : begin_(begin), filter_(begin) {}

  void add(const std::string& symbol) {
    if (names_.size() >= kMostNames) return;
    if (symbol.starts_with(begin_)) names_.insert(symbol);
    if (demangled_ >= kMostDemangled || !filter_.may_fit(symbol)) return;
    ++demangled_;
    const auto name = demangle_name(symbol);
    if (name && name->starts_with(begin_) && name->find("::") != name->npos) names_.insert(*name);
  }

  Names take() { return std::move(names_); }

 private:
  std::string begin_;
  MangledFilter filter_;
  size_t demangled_ = 0;
  Names names_;
};

Names functions_of(const ElfImage& image, const std::string& begin) {
  FunctionNames names(begin);
  for (const uint32_t table : {SHT_SYMTAB, SHT_DYNSYM})
    image.each_symbol(table, kMostSymbols, [&](const char* name, const GElf_Sym& symbol) {
      const int type = GELF_ST_TYPE(symbol.st_info);
      if (symbol.st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_GNU_IFUNC))
        names.add(name);
    });
  return names.take();
}

Names usdt_probes_of(const ElfImage& image, const std::string& begin) {
  Names names;
  const auto section = image.section_bytes(".note.stapsdt");
  const auto notes = parse_notes(section.value_or(std::vector<uint8_t>{}));
  if (!notes) return names;
  for (const RawNote& note : *notes) {
    std::string name = note.provider + ":" + note.name;
    if (name.starts_with(begin)) names.insert(std::move(name));
  }
  return names;
}

// ---- OBJECT ----

// Directories, with a slash at the end, and programs and libraries, with a colon.
Names files_beginning(const std::string& typed) {
  Names names;
  const size_t slash = typed.rfind('/');
  const std::string directory = slash == typed.npos ? "" : typed.substr(0, slash + 1);
  std::error_code error;
  for (fs::directory_iterator entry(directory.empty() ? "." : directory, error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string path = directory + entry->path().filename().string();
    std::error_code gone;
    if (!path.starts_with(typed)) continue;
    if (entry->is_directory(gone)) names.insert(path + '/');
    if (is_elf_file(path)) names.insert(path + ':');
  }
  return names;
}

std::string path_of_object(const std::string& object, const std::string& program) {
  if (object.empty()) return program;
  if (object.find('/') != object.npos) return object;
  for (const std::string& pattern : with_objects_by_name("uprobe:" + object + ":*"))
    if (auto parsed = parse_pattern(pattern)) return parsed->object;
  return {};
}

Names with_prefix(const std::string& prefix, const Names& names) {
  Names all;
  for (const std::string& name : names) all.insert(prefix + name);
  return all;
}

Names in_file(const Typed& typed, const std::string& path) {
  const auto image = open(path);
  if (!image) return {};
  return with_prefix(typed.before, typed.is_usdt() ? usdt_probes_of(*image, typed.rest)
                                                   : functions_of(*image, typed.rest));
}

// KIND:, or FUNCTION of the program, or OBJECT: as a path.
Names without_object(const Typed& typed, const std::string& program) {
  if (!typed.kind.empty() || typed.rest.find('/') != typed.rest.npos)
    return with_prefix(typed.before, files_beginning(typed.rest));
  Names names = in_file(typed, program);
  for (const char* kind : {"uprobe:", "usdt:"})
    if (std::string_view(kind).starts_with(typed.rest)) names.insert(kind);
  return names;
}

}  // namespace

std::vector<std::string> known_patterns(const std::string& typed, const std::string& program) {
  const char* home = std::getenv("HOME");
  if (typed.starts_with("~/") && home && *home == '/') {
    auto patterns = known_patterns(home + typed.substr(1), program);
    for (std::string& pattern : patterns) pattern.replace(0, std::string_view(home).size(), "~");
    return patterns;
  }
  const Typed parts = split(typed);
  const Names names = parts.object ? in_file(parts, path_of_object(*parts.object, program))
                                   : without_object(parts, program);
  return {names.begin(), names.end()};
}

}  // namespace tracectl
