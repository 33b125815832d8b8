// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/line_variables.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "daemon/base/nearest.h"
#include "daemon/object/copy_parameters.h"
#include "daemon/object/field_finder.h"
#include "daemon/object/inlined_copies.h"
#include "daemon/object/language.h"
#include "daemon/object/line_program.h"
#include "daemon/object/scopes.h"

namespace tracectl {
namespace {

using dwarf::Die;

constexpr size_t kMostExplained = 16;   // of a match: places for which near lines are looked for
constexpr size_t kMostTriedLines = 64;  // for one of them
constexpr size_t kMostNearLines = 3;    // in a message
constexpr size_t kMostNamesSaid = 12;   // in a message
constexpr size_t kMostLinesOfFunction = 1000;  // of source that are looked at
// No program has memory there: reading it always fails.
constexpr uint64_t kNowhere = uint64_t{1} << 63;

bool is_of_parts(const std::optional<Die>& type) {
  const auto plain = stripped(type);
  if (!plain) return false;
  switch (dwarf::tag_of(*plain)) {
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_array_type: return true;
    default: return false;
  }
}

uint64_t bytes_of_variable(const std::optional<Die>& type) {
  Dwarf_Word size = 0;
  auto plain = stripped(type);
  return plain && ::dwarf_aggregate_size(&*plain, &size) == 0 ? size : 0;
}

std::optional<Die> unit_of_entry(const Die& die) {
  Die unit;
  if (!::dwarf_diecu(const_cast<Die*>(&die), &unit, nullptr, nullptr)) return std::nullopt;
  return unit;
}

bool is_of_go(const std::optional<Die>& unit) {
  return unit && ::dwarf_srclang(const_cast<Die*>(&*unit)) == DW_LANG_Go;
}

std::string name_in(const FieldPath& path) { return path.base.substr(kVariable.size()); }

std::string file_name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string place_text(const LineCode& line) {
  if (line.copy) return beginning_text(*line.copy, line.function);
  return file_name_of(line.source) + ":" + std::to_string(line.line);
}

// "12, 15 and 17"
std::string text_of_lines(const std::vector<uint32_t>& lines) {
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i)
    text += (i == 0 ? "" : i + 1 == lines.size() ? " and " : ", ") + std::to_string(lines[i]);
  return text;
}

std::string why_no_variable(const std::string& name, const LineCode& line, const Scopes& scopes) {
  if (scopes.is_member(name))
    return "\"" + name + "\" is a member at " + place_text(line) + ": write var.this->" + name;
  if (scopes.is_removed(name))
    return "\"" + name + "\" is optimised out of this copy of its function, at " + place_text(line);
  const auto names = scopes.names();
  std::string listed;
  for (size_t i = 0; i < std::min(names.size(), kMostNamesSaid); ++i)
    listed += (i ? ", " : "") + names[i];
  if (names.size() > kMostNamesSaid)
    listed += " and " + std::to_string(names.size() - kMostNamesSaid) + " more";
  const std::vector<std::string_view> views(names.begin(), names.end());
  return "there is no variable \"" + name + "\" at " + place_text(line) +
         (listed.empty() ? "" : ": " + listed) + did_you_mean(name, views);
}

// The field where the location leads to: its path counts from the variable's address or value.
void lead_to(const Location& location, ReachedField& field) {
  auto offsets = location.offsets;
  if (field.offsets.empty()) {
    field.is_address = true;
  } else {
    offsets.back() += field.offsets.front();
    offsets.insert(offsets.end(), field.offsets.begin() + 1, field.offsets.end());
  }
  field.offsets = std::move(offsets);
}

// Whether the operand is the value: then the path counts from it.
bool is_one_operand(const Location& location) {
  return !location.is_memory && location.offsets.size() == 1;
}

}  // namespace

// ---- operands ----

// Paths whose ways begin alike share one.
struct LineVariables::Operands {
  Arguments all;
  std::map<std::tuple<Register, uint64_t, uint8_t, bool>, size_t> known;
  std::vector<ReachedFields> fields;

  void add(Reached reached) {
    const Location& location = reached.location;
    if (!reached.field.why_not.empty())
      return add({Register::none, kNowhere, sizeof(uint64_t), false}, std::move(reached.field));
    if (is_one_operand(location))
      return add(
          {location.base, location.offsets[0], reached.type.size_bytes, reached.type.is_signed},
          std::move(reached.field));
    lead_to(location, reached.field);
    add({location.base, 0, sizeof(uint64_t), false}, std::move(reached.field));
  }

  void list(ReachedField field) { add({Register::none, kNowhere, 8, false}, std::move(field)); }

  std::shared_ptr<const Arguments> take() && {
    for (size_t i = 0; i < all.size(); ++i)
      all[i].asked_fields = std::make_shared<const ReachedFields>(std::move(fields[i]));
    return std::make_shared<const Arguments>(std::move(all));
  }

 private:
  void add(const std::tuple<Register, uint64_t, uint8_t, bool>& operand, ReachedField field) {
    const auto [at, is_new] = known.try_emplace(operand, all.size());
    if (is_new) {
      Argument& place = all.emplace_back();
      place.place = Argument::Place::symbol;
      place.kind = Argument::Kind::pointer;
      place.base = std::get<0>(operand);
      place.offset = static_cast<int64_t>(std::get<1>(operand));
      place.size_bytes = std::get<2>(operand);
      place.is_signed = std::get<3>(operand);
      fields.emplace_back();
    }
    fields[at->second].push_back(std::move(field));
  }
};

LineVariables::LineVariables(const ElfFile& file, const FieldsAsked& asked)
    : file_(file), levels_(asked.levels), asked_(asked) {
  for (const std::string& text : asked.paths)
    if (auto path = parse_place(text); path && is_variable(*path))
      paths_.push_back(*std::move(path));
}

void LineVariables::open() {
  if (std::exchange(is_open_, true)) return;
  if (auto image = file_.open_debug_info())
    info_ = DebugInfo::open(std::move(*image), file_.path(), file_.debug_root());
}

// The entry of the function, by its symbol: the same code can have several.
std::optional<CodePlace> LineVariables::place_of(const LineCode& line) {
  open();
  if (!info_) return std::nullopt;
  const auto entries = info_->functions_at(line.function.address);
  auto chosen = entries.begin();
  if (entries.size() > 1)
    chosen = std::ranges::find_if(entries, [&](const CodeEntry& one) {
      return dwarf::is_of_symbol(one.die, line.function.name);
    });
  if (chosen == entries.end() || is_of_go(unit_of_entry(chosen->die))) return std::nullopt;
  if (!frames_) {
    auto program = file_.open_again();
    if (!program) return std::nullopt;
    data_.emplace(file_, *program);
    frames_.emplace(std::move(*program), chosen->die);
  }
  Dwarf_Addr entry = 0;
  Die function = chosen->die;
  const bool has_entry = ::dwarf_entrypc(&function, &entry) == 0;
  return CodePlace{line.function,
                   chosen->die,
                   chosen->base,
                   line.address,
                   line.code,
                   line.is_shared,
                   has_entry && entry + chosen->base == line.function.address};
}

std::shared_ptr<const Arguments> LineVariables::at(const LineCode& line) {
  if (paths_.empty() && levels_ == 0) return nullptr;
  const auto place = place_of(line);
  if (levels_ > 0 && !place) return nullptr;
  Operands operands;
  if (levels_ > 0) {
    for (ReachedField& field : all_at(line, *place)) operands.list(std::move(field));
    return std::move(operands).take();
  }
  for (const FieldPath& path : paths_) {
    Reached reached;
    if (place) {
      reached = reach(path, line, *place);
    } else {
      reached.field.why_not = "the variables at " + place_text(line) +
                              " are not known: the debug information, of C, C++ or a language "
                              "like these, has no function here";
      reached.field.column = path.text.find(path.base);
    }
    reached.field.path = path.text;
    operands.add(std::move(reached));
  }
  return std::move(operands).take();
}

Scopes LineVariables::scopes_at(const LineCode& line, const CodePlace& place) const {
  if (line.copy) return Scopes(line.copy->entry.die, {line.source, line.line});
  return Scopes(place.die, place.address, place.base, {line.source, line.line});
}

LineVariables::Reached LineVariables::reach(const FieldPath& path, const LineCode& line,
                                            const CodePlace& place) {
  Reached reached;
  const auto fail = [&](std::string why) {
    reached.field.why_not = std::move(why);
    reached.field.column = path.text.find(path.base) + kVariable.size();
    return std::move(reached);
  };
  if (line.copy && line.copy->others_there)
    return fail("variables at " + place_text(line) + " are not known: " + kSeveralBegin);
  const std::string name = name_in(path);
  const Scopes scopes = scopes_at(line, place);
  if (!scopes.why_unclear().empty())
    return fail("variables at " + place_text(line) + " are not known: " + scopes.why_unclear());
  const auto found = scopes.named(name);
  if (found.empty()) return fail(why_no_variable(name, line, scopes));
  const Die& variable = found.front();
  reached.variable = variable;
  const auto type = dwarf::type_of(variable);
  const Locations locations(*frames_, *data_, file_.is_fixed());
  reached.location = locations.of(variable, place, bytes_of_variable(type));
  if (found.size() > 1)
    return fail("there are " + std::to_string(found.size()) + " variables \"" + name + "\" at " +
                place_text(line));
  const Location& location = reached.location;
  if (!location.why_not.empty()) return fail(why_no_place(variable, location.why_not, line, place));
  if (line.copy)
    if (auto why = why_not_as_given(variable, location, place); !why.empty())
      return fail(why_no_place(variable, why, line, place));
  const auto unit = unit_of_entry(variable);
  if (!location.is_memory && is_of_parts(type))
    return fail("\"" + name + "\" is a whole " + text_of_type(type) +
                " that is in a register or a "
                "constant at " +
                place_text(line) + ", and those in memory can be read");
  const bool is_cxx = language_of(variable) == Language::cxx;
  reached.type = types_.read(type, is_cxx).value;
  reached.field = find_field(path, {type, location.is_memory, is_cxx, unit}, types_);
  if (reached.field.why_not.empty() && reached.type.is_float && !location.is_memory)
    return fail("\"" + name + "\" is a float that is not in memory at " + place_text(line));
  const bool is_whole = reached.type.size_bytes == sizeof(uint64_t);
  if (reached.field.why_not.empty() && !location.is_memory && !is_one_operand(location) &&
      !is_whole)
    return fail("\"" + name + "\" is computed from what is in memory, and has less than 8 bytes");
  return reached;
}

ReachedFields LineVariables::all_at(const LineCode& line, const CodePlace& place) {
  ReachedFields all;
  const Scopes scopes = scopes_at(line, place);
  for (const std::string& name : scopes.names()) {
    const auto path = parse_place(std::string(kVariable) + name);
    if (!path || !path->steps.empty()) continue;  // the compiler's: it has no name to write
    Reached reached = reach(*path, line, place);
    if (!reached.variable) continue;  // declared in a later line
    reached.field.path = path->text;
    const auto type = dwarf::type_of(*reached.variable);
    if (reached.field.type.declared_type.empty())
      reached.field.type.declared_type = text_of_type(type);
    all.push_back(std::move(reached.field));
    if (!reached.location.why_not.empty()) continue;
    const auto unit = unit_of_entry(*reached.variable);
    auto fields = list_fields(
        path->text, levels_,
        {type, reached.location.is_memory, language_of(*reached.variable) == Language::cxx, unit},
        types_);
    all.insert(all.end(), fields.begin(), fields.end());
    if (all.size() >= kMostListedFields) break;
  }
  all.resize(std::min(all.size(), kMostListedFields));
  return all;
}

// ---- what is said of one that is not there ----

std::string LineVariables::why_no_place(const Die& variable, const std::string& why,
                                        const LineCode& line, const CodePlace& place) {
  std::string text =
      "\"" + dwarf::name_of(variable) + "\" cannot be read at " + place_text(line) + ": " + why;
  if (line.copy || explained_++ >= kMostExplained) return text;
  const auto lines = lines_with(variable, line, place);
  if (lines.empty()) return text + "; the function has no line where it can";
  return text + "; it can at " + (lines.size() == 1 ? "line " : "lines ") + text_of_lines(lines);
}

// The nearest lines of the same source in the function at which it can be read.
std::vector<uint32_t> LineVariables::lines_with(const Die& variable, const LineCode& line,
                                                const CodePlace& place) {
  const auto unit = info_->unit_at(line.function.address);
  if (!unit) return {};
  const auto offset = dwarf::number(unit->lines, DW_AT_stmt_list);
  auto directory = dwarf::attribute(unit->lines, DW_AT_comp_dir);
  const char* text = directory ? ::dwarf_formstring(&*directory) : nullptr;
  const LineSections sections{info_->image().unpacked_view(".debug_line"),
                              info_->image().unpacked_view(".debug_line_str"),
                              info_->image().unpacked_view(".debug_str")};
  const auto table = offset ? LineTable::read(sections, *offset, text ? text : "") : std::nullopt;
  if (!table) return {};
  std::vector<std::pair<uint32_t, uint64_t>> rows;  // by distance from the line
  const auto distance = [&](uint32_t one) {
    return one > line.line ? one - line.line : line.line - one;
  };
  std::map<uint32_t, uint64_t> first;  // addresses, by line
  table->each_row([&](const LineRow& row) {
    const bool is_of_function =
        row.address - line.function.address < line.function.size && !row.ends_sequence;
    if (is_of_function && row.is_statement && row.line != 0 && row.line != line.line &&
        row.file < table->files().size() && table->files()[row.file] == line.source)
      first.try_emplace(row.line, row.address);
    return first.size() < kMostLinesOfFunction;
  });
  for (const auto& [one, address] : first) rows.emplace_back(one, address);
  std::ranges::stable_sort(rows, {}, [&](const auto& row) { return distance(row.first); });
  const Locations locations(*frames_, *data_, file_.is_fixed());
  std::vector<uint32_t> found;
  for (size_t i = 0; i < std::min(rows.size(), kMostTriedLines); ++i) {
    CodePlace there = place;
    there.address = rows[i].second;
    const Scopes scopes(there.die, there.address, there.base, {line.source, rows[i].first});
    if (!scopes.why_unclear().empty()) continue;
    const auto named = scopes.named(dwarf::name_of(variable));
    const bool is_it = named.size() == 1 && named[0].addr == variable.addr;
    if (is_it && found.size() < kMostNearLines &&
        locations.of(variable, there, bytes_of_variable(dwarf::type_of(variable))).why_not.empty())
      found.push_back(rows[i].first);
  }
  std::ranges::sort(found);
  return found;
}

// ---- all places of a match ----

namespace {

template <class OnField> void each_variable_field(const ProbeMatch& match, OnField on_field) {
  for (const Probe& probe : match.probes)
    for (const Site& site : probe.sites) {
      if (!site.symbols) continue;
      for (const Argument& operand : *site.symbols)
        if (operand.asked_fields)
          for (const ReachedField& field : *operand.asked_fields) on_field(field);
    }
}

struct PathUse {
  size_t readable = 0, others = 0;
  Argument type;
  std::string why_not;
};

// The same operands, where what has no place here is read where nothing is.
std::shared_ptr<const Arguments> settled_operands(const Arguments& operands,
                                                  const std::map<std::string, PathUse>& uses) {
  Arguments all = operands;
  for (Argument& operand : all) {
    ReachedFields fields = *operand.asked_fields;
    for (ReachedField& field : fields) {
      const PathUse& use = uses.at(field.path);
      if (field.why_not.empty() || use.readable == 0) continue;
      field.why_not.clear();
      field.column = 0;
      field.offsets = {0};
      field.type = use.type;
    }
    operand.asked_fields = std::make_shared<const ReachedFields>(std::move(fields));
  }
  return std::make_shared<const Arguments>(std::move(all));
}

}  // namespace

void LineVariables::settle(ProbeMatch& match) const {
  if (paths_.empty()) return;
  std::map<std::string, PathUse> uses;
  each_variable_field(match, [&](const ReachedField& field) {
    PathUse& use = uses[field.path];
    if (field.why_not.empty() && use.readable++ == 0) use.type = field.type;
    if (!field.why_not.empty() && use.others++ == 0) use.why_not = field.why_not;
  });
  const auto is_split = [](const auto& use) {
    return use.second.readable > 0 && use.second.others > 0;
  };
  if (!std::ranges::any_of(uses, is_split)) return;
  for (Probe& probe : match.probes)
    for (Site& site : probe.sites)
      if (site.symbols) site.symbols = settled_operands(*site.symbols, uses);
  for (const auto& [path, use] : uses)
    if (use.readable > 0 && use.others > 0 && match.notes.size() < kMostMatchNotes)
      match.notes.push_back(path + " has no value at " + std::to_string(use.others) + " of " +
                            std::to_string(use.readable + use.others) + " places: " + use.why_not);
}

}  // namespace tracectl
