// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/parameters.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <iterator>
#include <string_view>

#include "daemon/object/arg_spec.h"
#include "daemon/object/code/calling_convention.h"
#include "daemon/object/code/machine.h"
#include "daemon/object/debug_info.h"
#include "daemon/object/elf_image.h"
#include "daemon/object/field_finder.h"
#include "daemon/object/go_parameters.h"
#include "daemon/object/language.h"
#include "daemon/object/parameter_type.h"

namespace tracectl {
namespace {

using dwarf::Die;
using Kind = Argument::Kind;

constexpr size_t kMostCounted = 64;  // parameters
constexpr int kDeepestPack = 4;
constexpr int kMostTypedefs = 32;

// ---- finding the function, and whether it follows the convention ----

// Compilers name changed copies of f `f.constprop.0`, `f.isra.0`, `f.part.0`. A copy that was only
// renamed for the linker has the declared parameters.
bool keeps_convention(std::string_view symbol) {
  const size_t dot = symbol.find('.');
  if (dot == std::string_view::npos) return true;
  const std::string_view suffix = symbol.substr(dot);
  return (suffix.starts_with(".lto_priv.") || suffix.starts_with(".llvm.")) &&
         suffix.substr(1).find_first_not_of("0123456789", suffix.find('.', 1)) ==
             std::string_view::npos;
}

std::optional<CodeEntry> choose(const std::vector<CodeEntry>& functions,
                                const std::string& symbol) {
  if (functions.size() == 1) return functions.front();
  for (const CodeEntry& one : functions)
    if (dwarf::is_of_symbol(one.die, symbol)) return one;
  return std::nullopt;
}

bool is_other_name(unsigned tag) {
  return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type;
}

std::optional<Die> unit_of_function(const Die& function) {
  Die unit;
  if (!::dwarf_diecu(const_cast<Die*>(&function), &unit, nullptr, nullptr)) return std::nullopt;
  return unit;
}

bool is_in_go(const Die& function) {
  auto unit = unit_of_function(function);
  return unit && ::dwarf_srclang(&*unit) == DW_LANG_Go;
}

bool has_usual_convention(const Die& function) {
  if (!dwarf::has(function, DW_AT_calling_convention)) return true;
  return dwarf::number(function, DW_AT_calling_convention) == DW_CC_normal;
}

// clang drops parameters of local functions that it optimises, and does not record it.
bool may_lack_parameters(const Die& function) {
  constexpr unsigned kGnuAllCallSites = 0x2117;
  const bool optimised =
      dwarf::has(function, DW_AT_call_all_calls) || dwarf::has(function, kGnuAllCallSites);
  Die unit;
  if (dwarf::flag(function, DW_AT_external) || !optimised) return false;
  if (!::dwarf_diecu(const_cast<Die*>(&function), &unit, nullptr, nullptr)) return true;
  auto producer = dwarf::attribute(unit, DW_AT_producer);
  const char* text = producer ? ::dwarf_formstring(&*producer) : nullptr;
  return !text || std::strstr(text, "GNU") == nullptr;
}

// ---- the function's list of parameters ----

// Includes those of a template's parameter pack. False if the list cannot be read.
bool add_parameters(const Die& parent, int depth, std::vector<Die>& to) {
  return dwarf::each_child(parent, [&](const Die& child) {
    const unsigned tag = dwarf::tag_of(child);
    if (tag == DW_TAG_formal_parameter) to.push_back(child);
    if (tag == DW_TAG_GNU_formal_parameter_pack && depth < kDeepestPack)
      return add_parameters(child, depth + 1, to);
    return to.size() <= kMostCounted;
  });
}

// The code of a function that is also inlined elsewhere refers to its single description.
std::optional<std::vector<Die>> parameters_of(const Die& function) {
  std::vector<Die> own, described;
  if (!add_parameters(function, 0, own)) return std::nullopt;
  const auto description = dwarf::referred(function, DW_AT_abstract_origin);
  if (!description) return own;
  if (!add_parameters(*description, 0, described) || own.size() != described.size())
    return std::nullopt;
  return own;
}

// Hidden parameters of constructors and destructors, which not all copies of them have.
bool is_of_some_copies(const std::string& name) {
  return name == "__in_chrg" || name == "__vtt_parm";
}

// Whether the name can be written in an expression.
bool is_identifier(const std::string& name) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '$'; };
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), fits);
}

// ---- the place at the entry, according to the compiler ----

bool passes_parameters(Register reg) {
  return std::ranges::find(kArgumentRegisters, reg) != kArgumentRegisters.end();
}

enum class Said { nothing, this_place, another_place };

// A location list has a place for each instruction. A single expression for the whole function is
// not valid before its prologue, unless it is a register that passes parameters.
Said said_of(const Die& parameter, uint64_t entry, const Seat& seat) {
  auto location = dwarf::attribute(parameter, DW_AT_location);
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (!location || ::dwarf_getlocation_addr(&*location, entry, &ops, &count, 1) != 1 || count != 1)
    return Said::nothing;
  const bool is_register = ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31;
  if (!is_register) return Said::nothing;
  const auto reg = register_of_dwarf(ops[0].atom - DW_OP_reg0);
  if (reg && *reg == seat.integer) return Said::this_place;
  const bool is_list = ::dwarf_whatform(&*location) == DW_FORM_sec_offset ||
                       ::dwarf_whatform(&*location) == DW_FORM_loclistx;
  const bool holds_at_entry = is_list || (reg && passes_parameters(*reg));
  return holds_at_entry && (reg || seat.integer != Register::none) ? Said::another_place
                                                                   : Said::nothing;
}

// ---- from seats to arguments ----

std::string unreadable_because(const Argument& value, const Seat& seat) {
  switch (seat.where) {
    case Seat::Where::lost: return "its place depends on a type that is not understood";
    case Seat::Where::nothing: return "an empty object: nothing is passed";
    case Seat::Where::stack: return "passed by value, on the stack";
    case Seat::Where::registers: break;
  }
  return value.is_float || seat.integer == Register::none ? "in a vector register"
                                                          : "passed by value, in registers";
}

Argument seated(Argument value, const Seat& seat) {
  const bool is_number = value.kind != Kind::aggregate;
  if (is_number && seat.where == Seat::Where::registers && seat.integer != Register::none) {
    value.place = Argument::Place::in_register;
    value.base = seat.integer;
    value.text = name_of(seat.integer);
  } else if (is_number && seat.where == Seat::Where::stack) {
    value.place = Argument::Place::memory;
    value.base = kStackPointer;
    value.offset = static_cast<int64_t>(seat.stack_offset);
    value.text = text_of_stack_place(seat.stack_offset);
  } else {
    value.text = unreadable_because(value, seat);
  }
  return value;
}

// The two registers that a value of 16 bytes is passed in, unless the compiler says something else of them.
std::optional<std::array<Register, 2>> pair_of(const Die& parameter, uint64_t entry,
                                               const Seat& seat) {
  const auto first = std::ranges::find(kArgumentRegisters, seat.integer);
  if (seat.where != Seat::Where::registers || first == kArgumentRegisters.end() ||
      first + 1 == kArgumentRegisters.end())
    return std::nullopt;
  const std::array<Register, 2> pair{*first, *(first + 1)};
  auto location = dwarf::attribute(parameter, DW_AT_location);
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (!location || ::dwarf_getlocation_addr(&*location, entry, &ops, &count, 1) != 1) return pair;
  uint64_t bytes = 0;
  for (size_t i = 0; i < count; ++i) {
    if (ops[i].atom == DW_OP_piece) bytes += ops[i].number;
    if (ops[i].atom < DW_OP_reg0 || ops[i].atom > DW_OP_reg31) continue;
    const auto reg = register_of_dwarf(ops[i].atom - DW_OP_reg0);
    const uint64_t word = bytes / sizeof(uint64_t);
    if (bytes % sizeof(uint64_t) || word > 1 || !reg || *reg != pair[word]) return std::nullopt;
  }
  return pair;
}

// An operand that is no argument of its own: the pointer or the length of a text that is passed by value.
Argument part_of_text(Register reg, ReachedFields fields) {
  Argument part{.place = Argument::Place::symbol, .kind = Kind::pointer, .base = reg};
  part.asked_fields = std::make_shared<const ReachedFields>(std::move(fields));
  return part;
}

class ParameterReading {
 public:
  ParameterReading(const Die& function, uint64_t entry, bool cxx, TypeReader& types,
                   AskedFields& asked)
      : function_(function),
        entry_(entry),
        cxx_(cxx),
        must_be_said_(may_lack_parameters(function)),
        types_(types),
        asked_(asked) {}

  std::optional<Arguments> run() {
    const auto parameters = parameters_of(function_);
    if (!parameters || !seat_result()) return std::nullopt;
    for (const Die& parameter : *parameters)
      if (arguments_.size() < kMostArguments && !add(parameter)) return std::nullopt;
    std::ranges::move(parts_of_texts_, std::back_inserter(arguments_));
    return std::move(arguments_);
  }

 private:
  // False if it is not certain whether the result's address is passed.
  bool seat_result() {
    if (!dwarf::has(function_, DW_AT_type)) return true;
    const ParameterType result = types_.read(dwarf::type_of(function_), cxx_);
    if (result.passing.way == Passing::Way::unknown) return false;
    const ResultSeat seat = seat_of_result(result.passing, result.by_reference);
    if (seat.where == ResultSeat::Where::address) seating_.take_result_address();
    return true;
  }

  bool add(const Die& parameter) {
    const std::string name = dwarf::name_of(parameter);
    if (is_of_some_copies(name) || dwarf::has(parameter, DW_AT_const_value)) return false;
    const ParameterType type = types_.read(dwarf::type_of(parameter), cxx_);
    const Seat seat = seating_.next(type.passing);
    Argument argument = seated(type.value, seat);
    if (argument.kind != Kind::aggregate && seat.where != Seat::Where::lost) {
      const Said said = said_of(parameter, entry_, seat);
      if (said == Said::another_place) return false;
      if (must_be_said_ && said != Said::this_place) return false;
    }
    if (is_identifier(name)) argument.name = name;
    if (is_readable(argument))
      argument.asked_fields = asked_.of_argument(
          arguments_.size(), argument.name,
          {dwarf::type_of(parameter), type.by_reference, cxx_, unit_of_function(function_)},
          types_);
    else if (type.passing.integer_registers == 2 && !must_be_said_)
      add_text(parameter, seat, argument);
    arguments_.push_back(std::move(argument));
    return true;
  }

  // A std::string_view in two registers.
  void add_text(const Die& parameter, const Seat& seat, Argument& argument) {
    const auto type = dwarf::type_of(parameter);
    const auto text = asked_.of_text_by_value(argument.name, type);
    const auto pair = pair_of(parameter, entry_, seat);
    if (!text || !pair || text->when_short || text->pointer_at > 8 || text->length_at > 8) return;
    ReachedField field{.path = "arg." + argument.name, .is_address = true, .text = text};
    field.type.kind = Kind::text;
    field.type.declared_type = text_of_type(type);
    if (asked_.lists_all()) {
      argument.asked_fields = std::make_shared<const ReachedFields>(ReachedFields{field});
      return;
    }
    parts_of_texts_.push_back(part_of_text((*pair)[text->pointer_at / 8], {field}));
    parts_of_texts_.push_back(part_of_text((*pair)[text->length_at / 8], {}));
  }

  const Die& function_;
  const uint64_t entry_;
  const bool cxx_;
  const bool must_be_said_;
  TypeReader& types_;
  AskedFields& asked_;
  Seating seating_;
  Arguments arguments_, parts_of_texts_;
};

// A function that follows the calling convention.
struct Known {
  Die die;
  bool is_cxx;
  uint64_t base;  // from which its entry counts addresses
};

// ---- the result ----

Argument result_register() {
  Argument result = bare_register(plain_name_of(kResult));
  result.base = kResult;
  return result;
}

// Also by a typedef.
bool returns_void(const Die& function) {
  std::optional<Die> type = function;
  for (int i = 0; type && i < kMostTypedefs; ++i) {
    if (!dwarf::has(*type, DW_AT_type)) return true;
    type = dwarf::type_of(*type);
    if (!type || !is_other_name(dwarf::tag_of(*type))) return false;
  }
  return false;
}

Argument no_result() {
  Argument none{.place = Argument::Place::nothing};
  none.text = "nothing";
  none.declared_type = "void";
  return none;
}

Argument unreadable_result(Argument type, const std::string& why) {
  type.text = type.declared_type + " " + why;
  return type;
}

Argument in_result_register(Argument type) {
  type.place = Argument::Place::in_register;
  type.base = kResult;
  type.text = name_of(kResult);
  return type;
}

Argument pointer_to(const std::string& declared_type) {
  Argument pointer{.kind = Kind::pointer};
  pointer.declared_type = declared_type + " *";
  return pointer;
}

// A struct, whose members an event shows as one text.
Argument with_members(Argument type, const ResultSeat& seat,
                      std::shared_ptr<const Members> members) {
  if (!members)
    return unreadable_result(std::move(type),
                             seat.text + ", and nothing says which of its members it has");
  type = in_result_register(std::move(type));
  type.text = seat.text;
  type.is_string = true;
  type.members = std::move(members);
  return type;
}

// Everything except a struct in registers.
Argument seated_result(Argument type, const ResultSeat& seat) {
  switch (seat.where) {
    case ResultSeat::Where::lost:
      return unreadable_result(std::move(type), "in a place that is not understood");
    case ResultSeat::Where::nothing: return no_result();
    case ResultSeat::Where::number: return in_result_register(std::move(type));
    case ResultSeat::Where::address: return in_result_register(pointer_to(type.declared_type));
    case ResultSeat::Where::members:
    case ResultSeat::Where::elsewhere: return unreadable_result(std::move(type), seat.text);
  }
  return type;
}

}  // namespace

struct FunctionParameters::Impl {
  std::optional<Known> find(const Function& function);
  std::optional<Die> find_go(const Function& function);

  std::optional<DebugInfo> info;
  TypeReader types;
  AskedFields asked;
};

FunctionParameters::FunctionParameters(const ElfFile& file, const FieldsAsked& fields)
    : impl_(std::make_unique<Impl>()) {
  impl_->asked = AskedFields(fields);
  if (auto image = file.open_debug_info())
    impl_->info = DebugInfo::open(std::move(*image), file.path(), file.debug_root());
}
FunctionParameters::FunctionParameters(FunctionParameters&&) noexcept = default;
FunctionParameters& FunctionParameters::operator=(FunctionParameters&&) noexcept = default;
FunctionParameters::~FunctionParameters() = default;

const std::vector<std::string>& FunctionParameters::left_out() const {
  static const std::vector<std::string> none;
  return impl_->info ? impl_->info->left_out() : none;
}

std::optional<Known> FunctionParameters::Impl::find(const Function& function) {
  if (!info || !keeps_convention(function.name)) return std::nullopt;
  const auto found = choose(info->functions_at(function.address), function.name);
  if (!found || !has_usual_convention(found->die)) return std::nullopt;
  const Language language = language_of(found->die);
  if (language == Language::other) return std::nullopt;
  return Known{found->die, language == Language::cxx, found->base};
}

std::optional<Die> FunctionParameters::Impl::find_go(const Function& function) {
  if (!info) return std::nullopt;
  const auto found = info->functions_at(function.address);
  if (found.size() != 1 || !is_in_go(found.front().die)) return std::nullopt;
  return found.front().die;
}

std::optional<Arguments> FunctionParameters::of_go(const Function& function) {
  const auto known = impl_->find_go(function);
  if (!known) return std::nullopt;
  return go_arguments(*known, function.address, impl_->types);
}

Argument FunctionParameters::result_of_go(const Function& function) {
  const auto known = impl_->find_go(function);
  return known ? go_result(*known, impl_->types) : result_register();
}

std::optional<Arguments> FunctionParameters::of(const Function& function) {
  const auto known = impl_->find(function);
  if (!known) return std::nullopt;
  return ParameterReading(known->die, function.address - known->base, known->is_cxx, impl_->types,
                          impl_->asked)
      .run();
}

Argument FunctionParameters::result_of(const Function& function) {
  const auto known = impl_->find(function);
  if (!known) return result_register();
  if (returns_void(known->die)) return no_result();
  const auto declared = dwarf::type_of(known->die);
  ParameterType type = impl_->types.read(declared, known->is_cxx);
  type.value.declared_type = text_of_type(declared);
  const ResultSeat seat = seat_of_result(type.passing, type.by_reference);
  Argument result =
      seat.where == ResultSeat::Where::members
          ? with_members(std::move(type.value), seat,
                         impl_->types.members_in_registers(declared, known->is_cxx, seat.words))
          : seated_result(std::move(type.value), seat);
  if (is_readable(result) && result.kind != Kind::aggregate)
    result.asked_fields =
        impl_->asked.of_result({declared, seat.where == ResultSeat::Where::address, known->is_cxx,
                                unit_of_function(known->die)},
                               impl_->types);
  // clang makes such a function return nothing if nobody uses its result, and does not record it.
  return is_readable(result) && may_lack_parameters(known->die) ? result_register() : result;
}

}  // namespace tracectl
