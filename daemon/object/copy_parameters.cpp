// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/copy_parameters.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "daemon/object/code/machine.h"
#include "daemon/object/demangle.h"
#include "daemon/object/language.h"
#include "daemon/object/line_variables.h"

namespace tracectl {
namespace {

using dwarf::Die;

constexpr size_t kMostEntriesOfList = 100'000;
constexpr size_t kMostParameters = 6;  // as many as functions have in registers
// No program has memory there: reading it always fails.
constexpr int64_t kNoMemory = INT64_MIN;

bool can_be_written(const std::string& name) {
  for (const unsigned char c : name)
    if (!std::isalnum(c) && c != '_' && c != '$') return false;
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]));
}

// How many entries of the list of locations begin or end there. A second one is of a value that was assigned before the
// first instruction.
size_t begin_or_end_there(Dwarf_Attribute& list, Dwarf_Addr address) {
  Dwarf_Addr base = 0, start = 0, end = 0;
  Dwarf_Op* ops = nullptr;
  size_t count = 0, seen = 0, found = 0;
  for (ptrdiff_t at = 0; ++seen <= kMostEntriesOfList;) {
    at = ::dwarf_getlocations(&list, at, &base, &start, &end, &ops, &count);
    if (at <= 0) return found;
    found += (start == address) + (end == address);
  }
  return found;
}

bool is_sum(const Location& location) {
  return !location.is_memory && location.base != Register::none && location.offsets.size() == 1 &&
         location.offsets[0] != 0;
}

bool is_constant(const Location& location) {
  return !location.is_memory && location.base == Register::none;
}

// Whether the list also has the values that no instruction lies between, as gcc's do.
bool has_empty_entries(const Die& variable) {
  return dwarf::attribute(variable, DW_AT_GNU_locviews).has_value();
}

// Where expressions read the value of a number; none if they cannot.
bool seat_value(const Location& location, Argument& value) {
  if (value.kind == Argument::Kind::aggregate || location.offsets.size() != 1) return false;
  value.base = location.base;
  value.offset = static_cast<int64_t>(location.offsets[0]);
  if (location.is_memory) {
    value.place = Argument::Place::memory;
    value.text = "in memory";
    return location.base != kInstructionPointer;
  }
  if (location.base == Register::none) {
    value.place = Argument::Place::constant;
    value.text = "constant";
    return true;
  }
  value.place = Argument::Place::in_register;
  value.text = name_of(location.base);
  return value.offset == 0 && location.base != kInstructionPointer;
}

}  // namespace

std::string why_not_as_given(const Die& parameter, const Location& location,
                             const CodePlace& place) {
  if (dwarf::tag_of(parameter) != DW_TAG_formal_parameter || !location.is_of_list) return "";
  auto list = dwarf::attribute(parameter, DW_AT_location);
  if (!list) return "";
  const size_t there = begin_or_end_there(*list, place.address - place.base);
  if (there > 1) return "it is assigned another value at the same instruction";
  const bool is_of_others = is_constant(location) && !has_empty_entries(parameter);
  if (there == 1 && (is_sum(location) || is_of_others))
    return "it may be assigned another value at the same instruction";
  return "";
}

std::string beginning_text(const InlinedCopy& copy, const Function& host) {
  return "the beginning of " + demangle_name(copy.function).value_or(copy.function) + " in " +
         demangle_name(host.name).value_or(host.name);
}

Argument LineVariables::argument_of(const Die& parameter, const CodePlace& place) {
  const bool is_cxx = language_of(parameter) == Language::cxx;
  const auto type = dwarf::type_of(parameter);
  const ParameterType read = types_.read(type, is_cxx);
  Dwarf_Word size = 0;
  auto plain = stripped(type);
  if (!plain || ::dwarf_aggregate_size(&*plain, &size) != 0) size = 0;
  const Locations locations(*frames_, *data_, file_.is_fixed());
  const Location location = locations.of(parameter, place, size);
  Argument argument = read.value;
  if (read.by_reference) argument.kind = Argument::Kind::aggregate;
  std::string why =
      location.why_not.empty() ? why_not_as_given(parameter, location, place) : location.why_not;
  Argument seated = argument;
  if (why.empty() && seat_value(location, seated)) return seated;
  argument.text = !why.empty()                                 ? why
                  : argument.kind == Argument::Kind::aggregate ? "a whole object: var.NAME reads it"
                                                               : "computed: var.NAME reads it";
  return argument;
}

std::shared_ptr<const Arguments> LineVariables::parameters_of(const LineCode& line) {
  Arguments all;
  const Die& copy = line.copy->entry.die;
  const auto described = dwarf::referred(copy, DW_AT_abstract_origin);
  std::unordered_map<const void*, Die> own;  // by what they are copies of
  dwarf::each_child(copy, [&](const Die& child) {
    if (dwarf::tag_of(child) != DW_TAG_formal_parameter) return true;
    if (const auto of = dwarf::referred(child, DW_AT_abstract_origin)) own.emplace(of->addr, child);
    return own.size() < kMostEntriesOfList;
  });
  const auto place = place_of(line);
  if (!described || !place) return std::make_shared<const Arguments>();
  dwarf::each_child(*described, [&](const Die& child) {
    if (dwarf::tag_of(child) != DW_TAG_formal_parameter) return true;
    const std::string name = dwarf::name_of(child);
    Argument& argument = all.emplace_back();
    const auto found = own.find(child.addr);
    const bool is_cxx = language_of(child) == Language::cxx;
    const auto type = dwarf::type_of(child);
    if (found != own.end() && !line.copy->others_there) {
      argument = argument_of(found->second, *place);
    } else {
      argument = types_.read(type, is_cxx).value;
      argument.text = line.copy->others_there ? kSeveralBegin : "it is optimised out of this copy";
    }
    if (can_be_written(name)) argument.name = name;
    Die unit;
    const bool has_unit = ::dwarf_diecu(const_cast<Die*>(&child), &unit, nullptr, nullptr);
    if (is_readable(argument))
      argument.asked_fields = asked_.of_argument(
          all.size() - 1, argument.name,
          {type, false, is_cxx, has_unit ? std::optional(unit) : std::nullopt}, types_);
    return all.size() < kMostParameters;
  });
  return std::make_shared<const Arguments>(std::move(all));
}

// ---- all places of a match ----

namespace {

using Parameter = std::tuple<std::string, size_t, std::string>;  // function, number and name

struct ParameterUse {
  std::optional<Argument> readable;  // at one of the places
  size_t places = 0, others = 0;
  std::string why_not;
};

using ParameterUses = std::map<Parameter, ParameterUse>;

std::string function_of_probe(const Probe& probe) {
  const auto name = parse_pattern(probe.name);
  return name ? name->function : "";
}

ParameterUses uses_of_parameters(const std::vector<Probe>& probes) {
  ParameterUses uses;
  for (const Probe& probe : probes) {
    const std::string function = function_of_probe(probe);
    for (const Site& site : probe.sites)
      for (size_t i = 0; i < site.args->size(); ++i) {
        const Argument& argument = (*site.args)[i];
        if (argument.name.empty()) continue;
        ParameterUse& use = uses[{function, i, argument.name}];
        ++use.places;
        if (is_readable(argument))
          use.readable = argument;
        else if (use.others++ == 0)
          use.why_not = argument.text;
      }
  }
  return uses;
}

// The same arguments, where what has no place here is read where nothing is.
std::shared_ptr<const Arguments> settled_arguments(const Arguments& arguments,
                                                   const std::string& function,
                                                   const ParameterUses& uses) {
  Arguments all = arguments;
  for (size_t i = 0; i < all.size(); ++i) {
    const auto use = uses.find({function, i, all[i].name});
    if (is_readable(all[i]) || use == uses.end() || !use->second.readable) continue;
    const std::string why = all[i].text;
    all[i] = *use->second.readable;
    all[i].place = Argument::Place::memory;
    all[i].base = Register::none;
    all[i].index = Register::none;
    all[i].offset = kNoMemory;
    all[i].text = why;
  }
  return std::make_shared<const Arguments>(std::move(all));
}

}  // namespace

void settle_parameters(ProbeMatch& match) {
  const ParameterUses uses = uses_of_parameters(match.probes);
  const auto is_split = [](const auto& use) {
    return use.second.readable && use.second.others > 0;
  };
  const auto first = std::ranges::find_if(uses, is_split);
  if (first == uses.end()) return;
  for (Probe& probe : match.probes) {
    const std::string function = function_of_probe(probe);
    for (Site& site : probe.sites) site.args = settled_arguments(*site.args, function, uses);
  }
  if (match.notes.size() >= kMostMatchNotes) return;
  const auto& [parameter, use] = *first;
  const auto count = std::ranges::count_if(uses, is_split);
  match.notes.push_back(
      "arg." + std::get<2>(parameter) + " has no value at " + std::to_string(use.others) + " of " +
      std::to_string(use.places) + " places of " +
      demangle_name(std::get<0>(parameter)).value_or(std::get<0>(parameter)) + ": " + use.why_not +
      (count > 1 ? "; so it is with " + std::to_string(count - 1) + " more arguments of functions"
                 : ""));
}

}  // namespace tracectl
