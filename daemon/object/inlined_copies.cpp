// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/inlined_copies.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "daemon/object/copy_lines.h"
#include "daemon/object/language.h"
#include "daemon/object/line_program.h"
#include "daemon/object/pattern_names.h"

namespace tracectl {
namespace {

using dwarf::Die;

constexpr uint64_t kMostEntriesRead = 50'000'000;
constexpr size_t kMostSpansOfCopy = 10'000;
constexpr size_t kLongestInlinedName = 4096;  // as of a pattern
constexpr int kMostOrigins = 8;               // from an entry to the declaration of its function

bool has_own(const Die& die, unsigned name) {
  return ::dwarf_hasattr(const_cast<Die*>(&die), name) != 0;
}

bool has_code(const Die& die) { return has_own(die, DW_AT_low_pc) || has_own(die, DW_AT_ranges); }

// Printable ASCII, without blanks: the name is one of a probe.
std::string linkage_name_of(const Die& function) {
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    auto linkage = dwarf::attribute(function, name);
    const char* text = linkage ? ::dwarf_formstring(&*linkage) : nullptr;
    if (!text) continue;
    std::string symbol(text, ::strnlen(text, kLongestInlinedName));
    std::ranges::replace_if(
        symbol, [](char c) { return c <= ' ' || c > '~'; }, '?');
    return symbol;
  }
  return {};
}

// The names of the namespaces and classes around functions, by the entries of these.
class ScopesOfFunctions {
 public:
  const std::string& around(const Die& function) {
    static const std::string kNone;
    Die unit;
    if (!::dwarf_diecu(const_cast<Die*>(&function), &unit, nullptr, nullptr)) return kNone;
    if (read_.insert(unit.addr).second) read_below(unit, "", 0);
    const auto found = names_.find(function.addr);
    return found == names_.end() ? kNone : *found->second;
  }

 private:
  void read_below(const Die& parent, const std::string& around, int depth) {
    if (depth > dwarf::kDeepestEntry || around.size() > kLongestInlinedName) return;
    const std::string* const kept = around.empty() ? nullptr : &*scopes_.insert(around).first;
    dwarf::each_child(parent, [&](const Die& child) {
      switch (dwarf::tag_of(child)) {
        case DW_TAG_subprogram:
          if (kept) names_.emplace(child.addr, kept);
          break;
        case DW_TAG_namespace:
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type: {
          const std::string name = dwarf::name_of(child);
          read_below(child,
                     around + (name.empty() ? "(anonymous namespace)" : name) + "::", depth + 1);
          break;
        }
        default: break;
      }
      return ++entries_ < kMostEntriesRead;
    });
  }

  std::unordered_set<const void*> read_;  // units
  std::unordered_set<std::string> scopes_;
  std::unordered_map<const void*, const std::string*> names_;
  uint64_t entries_ = 0;
};

// A function of the source, of which there can be copies.
struct Origin {
  std::string name;
  uint32_t begins = 0;
  bool is_wanted = false;
};

// The paths of a unit's source files, by their numbers.
class SourceFiles {
 public:
  explicit SourceFiles(const ElfImage& image)
      : sections_{image.unpacked_view(".debug_line"), image.unpacked_view(".debug_line_str"),
                  image.unpacked_view(".debug_str")} {}

  const LineSections& sections() const { return sections_; }

  std::string path(const UnitEntries& unit, uint64_t number) {
    if (read_ != unit.entries.die.addr) read(unit);
    return number < files_.size() ? files_[number] : std::string();
  }

 private:
  // A split unit has a table of files itself, which libdw reads.
  void read(const UnitEntries& unit) {
    read_ = unit.entries.die.addr;
    files_.clear();
    if (unit.entries.die.addr != unit.lines.addr) return read_split(unit.entries.die);
    const auto offset = dwarf::number(unit.lines, DW_AT_stmt_list);
    auto directory = dwarf::attribute(unit.lines, DW_AT_comp_dir);
    const char* text = directory ? ::dwarf_formstring(&*directory) : nullptr;
    if (!offset) return;
    if (const auto table = LineTable::read(sections_, *offset, text ? text : ""))
      files_ = table->files();
  }

  void read_split(Die unit) {
    Dwarf_Files* files = nullptr;
    size_t count = 0;
    if (::dwarf_getsrcfiles(&unit, &files, &count) != 0) return;
    for (size_t i = 0; i < std::min(count, LineTable::kMostFiles); ++i) {
      const char* path = ::dwarf_filesrc(files, i, nullptr, nullptr);
      files_.emplace_back(path ? path : "");
    }
  }

  const LineSections sections_;
  const void* read_ = nullptr;
  std::vector<std::string> files_;
};

std::string shown_path(std::string path) {
  path.resize(std::min(path.size(), LineTable::kLongestPath));
  std::ranges::replace_if(
      path, [](char c) { return c < ' ' || c > '~'; }, '?');
  return path;
}

class CopySearch {
 public:
  CopySearch(const ElfFile& file, const Pattern& pattern)
      : file_(file), pattern_(pattern), code_(file.code_sections()) {}

  Result<InlinedFound> run() {
    auto image = file_.open_debug_info();
    auto info =
        image ? DebugInfo::open(std::move(*image), file_.path(), file_.debug_root()) : std::nullopt;
    if (!info) {
      found_.why_none =
          "it has no debug information that says where functions were inlined: compile it with "
          "-g, or install its debug symbols";
      return std::move(found_);
    }
    found_.info = std::make_shared<DebugInfo>(std::move(*info));
    files_.emplace(found_.info->image());
    for (size_t i = 0; i < found_.info->unit_count(); ++i)
      if (const auto unit = found_.info->unit(i)) {
        unit_ = &*unit;
        const size_t before = found_.copies.size();
        if (!search_below(unit->entries.die, 0) && is_too_much()) return too_much();
        compare_with_lines(before);
      }
    return finish();
  }

 private:
  bool is_too_much() const {
    return entries_ > kMostEntriesRead || found_.copies.size() > kMostCopies;
  }

  Error too_much() const {
    const bool is_of_copies = found_.copies.size() > kMostCopies;
    return {Code::exhausted,
            file_.path() + " has more than " +
                std::to_string(is_of_copies ? kMostCopies : kMostEntriesRead) +
                (is_of_copies ? " inlined copies that fit: name fewer functions"
                              : " entries in its debug information"),
            "patterns"};
  }

  // Functions can be in namespaces, classes and blocks of other functions; only those with code have copies.
  bool search_below(const Die& parent, int depth) {
    if (depth > dwarf::kDeepestEntry) return true;
    return dwarf::each_child(parent, [&](const Die& child) {
      if (++entries_ > kMostEntriesRead || found_.copies.size() > kMostCopies) return false;
      switch (dwarf::tag_of(child)) {
        case DW_TAG_inlined_subroutine: add(child); return search_below(child, depth + 1);
        case DW_TAG_subprogram:
          if (has_code(child)) return search_below(child, depth + 1);
          is_described_ |= has_own(child, DW_AT_inline) && origin_of(child).is_wanted;
          return true;
        case DW_TAG_namespace:
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type:
        case DW_TAG_lexical_block:
        case DW_TAG_try_block:
        case DW_TAG_catch_block: return search_below(child, depth + 1);
        default: return true;
      }
    });
  }

  void add(const Die& die) {
    const auto described = dwarf::referred(die, DW_AT_abstract_origin);
    if (!described) return;
    const Origin& origin = origin_of(*described);
    if (!origin.is_wanted) return;
    InlinedCopy copy;
    if (!is_of_call(die, copy)) return;
    copy.code = spans_of(die);
    if (copy.code.empty() || !is_code(copy.code.front().begin)) {
      ++found_.without_code;
      return;
    }
    copy.entry = {die, unit_->entries.base};
    set_begin(die, copy);
    copy.function = origin.name;
    copy.begins = origin.begins;
    found_.copies.push_back(std::move(copy));
  }

  // Of the unit's copies, from that number on.
  void compare_with_lines(size_t first) {
    if (first == found_.copies.size()) return;
    const auto offset = dwarf::number(unit_->lines, DW_AT_stmt_list);
    const CopyLines lines(files_->sections(), offset.value_or(UINT64_MAX));
    for (size_t i = first; i < found_.copies.size(); ++i) {
      InlinedCopy& copy = found_.copies[i];
      copy.may_be_repeated = lines.may_be_repeated(copy.code, copy.address);
    }
  }

  const Origin& origin_of(const Die& described) {
    const auto [at, is_new] = origins_.try_emplace(described.addr);
    if (!is_new) return at->second;
    Origin& origin = at->second;
    origin.name = linkage_name_of(described);
    if (origin.name.empty()) origin.name = name_with_scopes(described);
    origin.begins = static_cast<uint32_t>(
        std::min<uint64_t>(dwarf::number(described, DW_AT_decl_line).value_or(0), INT32_MAX));
    origin.is_wanted = is_wanted(origin.name);
    return origin;
  }

  // Most units have the same functions of headers.
  bool is_wanted(const std::string& name) {
    if (name.empty() || name.size() >= kLongestInlinedName) return false;
    const auto [at, is_new] = wanted_.try_emplace(name);
    if (is_new) at->second = names_function(pattern_, name);
    return at->second;
  }

  // Static functions of C++ have no linkage name.
  std::string name_with_scopes(Die function) {
    const std::string name = dwarf::name_of(function);
    if (name.empty() || language_of(function) != Language::cxx) return name;
    for (int i = 0; i < kMostOrigins; ++i) {
      auto declared = dwarf::referred(function, DW_AT_specification);
      if (!declared || declared->addr == function.addr) break;
      function = *declared;
    }
    return scopes_.around(function) + name;
  }

  // Whether it is a call that the pattern names; says where that is.
  bool is_of_call(const Die& die, InlinedCopy& copy) {
    const auto file = dwarf::number(die, DW_AT_call_file);
    const auto line = dwarf::number(die, DW_AT_call_line);
    if (file && line && *line > 0 && *line <= INT32_MAX) {
      copy.file = shown_path(files_->path(*unit_, *file));
      if (!copy.file.empty()) copy.line = static_cast<uint32_t>(*line);
    }
    if (pattern_.kind != ProbeKind::inlined || pattern_.file.empty()) return true;
    const auto column = dwarf::number(die, DW_AT_call_column);
    return names_source(pattern_.file, copy.file) &&
           (!pattern_.line || pattern_.line == copy.line) &&
           (!pattern_.column || pattern_.column == column);
  }

  // Many copies may share one list, so its entries count each time.
  CodeSpans spans_of(const Die& die) {
    CodeSpans spans;
    Dwarf_Addr base = 0, begin = 0, end = 0;
    for (ptrdiff_t at = 0; spans.size() < kMostSpansOfCopy && ++entries_ <= kMostEntriesRead;) {
      at = ::dwarf_ranges(const_cast<Die*>(&die), at, &base, &begin, &end);
      if (at <= 0) break;
      if (begin < end) spans.push_back({begin + unit_->entries.base, end + unit_->entries.base});
    }
    return spans;
  }

  void set_begin(const Die& die, InlinedCopy& copy) const {
    Dwarf_Addr entry = 0;
    copy.is_said =
        has_own(die, DW_AT_entry_pc) && ::dwarf_entrypc(const_cast<Die*>(&die), &entry) == 0;
    copy.address = copy.is_said ? entry + unit_->entries.base : copy.code.front().begin;
  }

  // A linker that removes a function leaves its entries, at address 0 or 1.
  bool is_code(uint64_t address) const {
    if (code_.empty()) return file_.offset_of(address).has_value();
    return std::ranges::any_of(
        code_, [&](const Section& section) { return address - section.address < section.size; });
  }

  Result<InlinedFound> finish() {
    auto& copies = found_.copies;
    const auto place = [](const InlinedCopy& one) {
      return std::tie(one.address, one.function, one.file, one.line);
    };
    std::ranges::stable_sort(copies, {}, place);
    std::vector<InlinedCopy> kept;
    for (InlinedCopy& copy : copies) {
      const bool is_there = !kept.empty() && kept.back().address == copy.address &&
                            kept.back().function == copy.function;
      if (is_there)
        join(copy, kept.back());
      else
        kept.push_back(std::move(copy));
    }
    copies = std::move(kept);
    if (copies.empty()) found_.are_removed = found_.without_code > 0 || is_described_;
    if (copies.empty()) found_.why_none = why_none();
    return std::move(found_);
  }

  static void join(const InlinedCopy& copy, InlinedCopy& with) {
    ++with.others_there;
    with.is_said &= copy.is_said;
    with.may_be_repeated |= copy.may_be_repeated;
    with.code.insert(with.code.end(), copy.code.begin(), copy.code.end());
  }

  std::string why_none() const {
    if (found_.are_removed) return "the compiler has removed the code of all its inlined copies";
    return "no function of that name was inlined there, by the file's debug information";
  }

  const ElfFile& file_;
  const Pattern& pattern_;
  const std::vector<Section> code_;
  std::optional<SourceFiles> files_;
  ScopesOfFunctions scopes_;
  std::unordered_map<const void*, Origin> origins_;  // by entry
  std::unordered_map<std::string, bool> wanted_;     // by name
  const UnitEntries* unit_ = nullptr;                // that is searched
  uint64_t entries_ = 0;
  bool is_described_ = false;  // a function that is wanted, with or without copies
  InlinedFound found_;
};

}  // namespace

Result<InlinedFound> find_inlined(const ElfFile& file, const Pattern& pattern) {
  return CopySearch(file, pattern).run();
}

}  // namespace tracectl
