// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/line_finder.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

#include "daemon/base/nearest.h"
#include "daemon/object/debug_info.h"
#include "daemon/object/line_program.h"

namespace tracectl {
namespace {

constexpr size_t kMostFilesNamed = 3;       // in a message
constexpr size_t kMostColumnsNamed = 8;     // in a message
constexpr size_t kMostFileNames = 200'000;  // to find near ones
constexpr size_t kNoFile = SIZE_MAX;

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// `"a", "b" or "c"`, or with another last word.
std::string listed(const std::vector<std::string>& texts, const char* last) {
  std::string all;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) all += i + 1 == texts.size() ? std::string(" ") + last + " " : ", ";
    all += texts[i];
  }
  return all;
}

// What a source file has near the line that was asked for.
struct Near {
  uint32_t before = 0, after = UINT32_MAX;
  std::set<uint32_t> columns;  // of the line itself

  void add(const LineRow& row, uint32_t wanted) {
    if (row.line < wanted) before = std::max(before, row.line);
    if (row.line > wanted) after = std::min(after, row.line);
    if (row.line == wanted && columns.size() <= kMostColumnsNamed) columns.insert(row.column);
  }

  std::vector<std::string> lines() const {
    std::vector<std::string> texts;
    if (before != 0) texts.push_back(std::to_string(before));
    if (after != UINT32_MAX) texts.push_back(std::to_string(after));
    return texts;
  }
};

class LineSearch {
 public:
  LineSearch(const ElfFile& file, const Pattern& pattern)
      : file_(file), pattern_(pattern), code_(file.code_sections()), functions_(file.functions()) {}

  Result<LinesFound> run() {
    auto image = file_.open_debug_info();
    const auto info =
        image ? DebugInfo::open(std::move(*image), file_.path(), file_.debug_root()) : std::nullopt;
    const std::string_view lines =
        info ? info->image().unpacked_view(".debug_line") : std::string_view{};
    if (lines.empty()) return without_lines();
    const LineSections sections{lines, info->image().unpacked_view(".debug_line_str"),
                                info->image().unpacked_view(".debug_str")};
    for (const UnitLines& unit : info->lines())
      if (const auto table = LineTable::read(sections, unit.offset, unit.directory))
        if (auto added = add(*table); !added) return added.error();
    return finish();
  }

 private:
  static LinesFound without_lines() {
    LinesFound none;
    none.why_none =
        "it has no debug information that says lines: compile it with -g, or install its debug "
        "symbols";
    return none;
  }

  Status add(const LineTable& table) {
    const auto wanted = wanted_files(table);
    if (wanted.empty()) return ok();
    begin_sequence();
    table.each_row([&](const LineRow& row) {
      add(row, row.file < wanted.size() ? wanted[row.file] : kNoFile);
      return ++rows_ <= kMostLineRows && found_.places.size() <= 2 * kMostLinePlaces;
    });
    if (rows_ > kMostLineRows) return too_many(kMostLineRows, "rows in its tables of lines");
    if (found_.places.size() > kMostLinePlaces) sort_places();
    if (found_.places.size() > kMostLinePlaces) return too_many(kMostLinePlaces, "places that fit");
    return ok();
  }

  Error too_many(uint64_t most, const char* what) const {
    return {Code::exhausted,
            file_.path() + " has more than " + std::to_string(most) + " " + what +
                ": name fewer lines, or a file by more of its path",
            "patterns"};
  }

  // For each file of the table its place among the files, or kNoFile. Empty if none is wanted.
  std::vector<size_t> wanted_files(const LineTable& table) {
    std::vector<size_t> wanted;
    bool any = false;
    for (const std::string& path : table.files()) {
      wanted.push_back(is_wanted(path) ? number_of(path) : kNoFile);
      any |= wanted.back() != kNoFile;
    }
    return any ? wanted : std::vector<size_t>{};
  }

  // Most tables name the same headers.
  bool is_wanted(const std::string& path) {
    const auto known = named_.find(path);
    if (known != named_.end()) return known->second;
    const bool is_named = names_source(pattern_.file, path);
    if (named_.size() < kMostFileNames) named_.emplace(path, is_named);
    return is_named;
  }

  size_t number_of(const std::string& path) {
    const auto [known, is_new] = numbers_.try_emplace(path, found_.files.size());
    if (is_new) found_.files.push_back(path);
    return known->second;
  }

  // ---- rows ----

  void begin_sequence() {
    run_.reset();
    former_.reset();
    is_known_ = false;
  }

  // A linker that removes a function leaves its rows, from address 0 on.
  bool is_code(uint64_t address) const {
    if (code_.empty()) return file_.offset_of(address).has_value();
    return std::ranges::any_of(
        code_, [&](const Section& section) { return address - section.address < section.size; });
  }

  void add(const LineRow& row, size_t file) {
    if (!is_known_) is_removed_ = !is_code(row.address);
    is_known_ = true;
    if (row.ends_sequence) return begin_sequence();
    if (row.line == 0 || is_removed_) return;
    LinePlace place{row.address, file, row.line, row.column};
    place.is_shared = note_shared(row);
    if (!run_ || !is_of_run(place)) run_ = Run{place, false};
    if (file == kNoFile || !row.is_statement) return;
    if (pattern_.line) near_[file].add(row, pattern_.line);
    if (run_->has_place || !is_named(row)) return;
    run_->has_place = true;
    found_.places.push_back(place);
  }

  // Whether a line before this one has its address; then it shares it, too.
  bool note_shared(const LineRow& row) {
    const bool is_at_one =
        former_ && former_->address == row.address &&
        (former_is_shared_ || former_->line != row.line || former_->file != row.file);
    if (is_at_one && !found_.places.empty() && found_.places.back().address == row.address)
      found_.places.back().is_shared = true;
    former_ = row;
    former_is_shared_ = is_at_one;
    return is_at_one;
  }

  bool is_of_run(const LinePlace& place) const {
    return run_->first.file == place.file && run_->first.line == place.line &&
           (!pattern_.column || run_->first.column == place.column) &&
           (place.file == kNoFile || !begins_function(place.address));
  }

  // One line can have made several functions, as by a macro.
  bool begins_function(uint64_t address) const {
    return std::ranges::binary_search(functions_, address, {}, &Function::address);
  }

  bool is_named(const LineRow& row) const {
    return (!pattern_.line || row.line == pattern_.line) &&
           (!pattern_.column || row.column == pattern_.column);
  }

  void sort_places() {
    auto& places = found_.places;
    const auto same = [](const LinePlace& a, const LinePlace& b) {
      return a.address == b.address && a.file == b.file && a.line == b.line;
    };
    std::ranges::sort(places);
    for (size_t i = 1; i < places.size(); ++i)
      if (same(places[i - 1], places[i])) places[i - 1].is_shared |= places[i].is_shared;
    places.erase(std::unique(places.begin(), places.end(), same), places.end());
  }

  // ---- why there are none ----

  LinesFound finish() {
    sort_places();
    if (found_.places.empty()) found_.why_none = why_none();
    return std::move(found_);
  }

  std::string why_none() const {
    if (found_.files.empty()) return why_no_file();
    std::string text;
    size_t said = 0;
    for (const auto& [file, near] : near_)
      if (++said <= kMostFilesNamed)
        text += (text.empty() ? "" : "; ") + why_no_line(found_.files[file], near);
    return text.empty() ? found_.files.front() + " has no code in it" : text;
  }

  std::string why_no_line(const std::string& path, const Near& near) const {
    const std::string line = std::to_string(pattern_.line);
    if (near.columns.empty()) {
      const auto lines = near.lines();
      return path + " has no code at line " + line + ": the nearest " +
             (lines.size() == 1 ? "line that has is " : "lines that have are ") +
             listed(lines, "and");
    }
    std::vector<std::string> columns;
    for (const uint32_t column : near.columns)
      if (column != 0 && columns.size() < kMostColumnsNamed)
        columns.push_back(std::to_string(column));
    if (columns.empty())
      return "the columns of line " + line + " of " + path + " are not known: leave COLUMN away";
    return "line " + line + " of " + path + " has no code at column " +
           std::to_string(pattern_.column) + ", but at " + listed(columns, "and");
  }

  std::string why_no_file() const {
    std::string wrong{base_name(pattern_.file)};
    std::erase(wrong, '*');
    std::vector<std::string_view> names;
    for (const auto& [path, is_named] : named_) names.push_back(base_name(path));
    std::vector<std::string> nearest;
    for (const std::string_view name : nearest_names(wrong, names, kMostFilesNamed))
      nearest.push_back('"' + std::string(name) + '"');
    return "no source file " + pattern_.file + " is in its debug information" +
           (nearest.empty() ? "" : "; did you mean " + listed(nearest, "or") + "?");
  }

  struct Run {
    LinePlace first;
    bool has_place = false;
  };

  const ElfFile& file_;
  const Pattern& pattern_;
  const std::vector<Section> code_;
  const std::vector<Function>& functions_;           // by address
  std::unordered_map<std::string, bool> named_;      // paths of source files
  std::unordered_map<std::string, size_t> numbers_;  // of those that are wanted
  std::map<size_t, Near> near_;                      // by file
  uint64_t rows_ = 0;
  std::optional<Run> run_;
  std::optional<LineRow> former_;
  bool former_is_shared_ = false;
  bool is_known_ = false, is_removed_ = false;  // of the sequence
  LinesFound found_;
};

}  // namespace

Result<LinesFound> find_lines(const ElfFile& file, const Pattern& pattern) {
  return LineSearch(file, pattern).run();
}

std::string source_in_name(std::string path) {
  const bool is_absolute = path.starts_with('/');
  for (size_t i = 0; i < path.size(); ++i) {
    const bool ends_object = path[i] == '@' && !is_absolute;
    if (path[i] == ':' || path[i] == '[' || ends_object) path[i] = '?';
  }
  return path;
}

}  // namespace tracectl
