// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/location.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>

#include "daemon/object/code/machine.h"
#include "daemon/object/code/stored.h"

namespace tracectl {
namespace {

using dwarf::Die;

constexpr size_t kMostOperations = 64;       // of an expression
constexpr size_t kMostPointersOnTheWay = 8;  // that it follows
constexpr size_t kMostFrameRows = 4096;      // of a function
constexpr int kDeepestExpression = 3;        // the frame's base, its address
// Of GNU's, before DWARF 5.
constexpr unsigned kGnuEntryValue = 0xf3, kGnuImplicitPointer = 0xf2, kGnuAddress = 0xfb;

using Ops = std::span<const Dwarf_Op>;

Location no_location(std::string why) {
  Location location;
  location.why_not = std::move(why);
  return location;
}

// A value of an expression: see Location.
struct Value {
  Register base = Register::none;
  std::vector<uint64_t> offsets{0};

  bool is_constant() const { return base == Register::none && offsets.size() == 1; }
};

Value value_of(uint64_t constant) { return {Register::none, {constant}}; }

// The register that an operation names, and what is added to it.
struct RegisterUse {
  uint64_t number = 0;
  uint64_t offset = 0;
};

std::optional<uint64_t> register_named(const Dwarf_Op& op) {
  if (op.atom >= DW_OP_reg0 && op.atom <= DW_OP_reg31) return op.atom - DW_OP_reg0;
  if (op.atom == DW_OP_regx) return op.number;
  return std::nullopt;
}

std::optional<RegisterUse> register_added(const Dwarf_Op& op) {
  if (op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31)
    return RegisterUse{static_cast<uint64_t>(op.atom) - DW_OP_breg0, op.number};
  if (op.atom == DW_OP_bregx) return RegisterUse{op.number, op.number2};
  return std::nullopt;
}

std::optional<uint64_t> constant_of(const Dwarf_Op& op) {
  if (op.atom >= DW_OP_lit0 && op.atom <= DW_OP_lit31) return op.atom - DW_OP_lit0;
  switch (op.atom) {
    case DW_OP_const1u:
    case DW_OP_const2u:
    case DW_OP_const4u:
    case DW_OP_const8u:
    case DW_OP_constu:
    case DW_OP_const1s:
    case DW_OP_const2s:
    case DW_OP_const4s:
    case DW_OP_const8s:
    case DW_OP_consts: return op.number;
    default: return std::nullopt;
  }
}

// Why an operation is not understood.
std::string why_refused(unsigned atom) {
  switch (atom) {
    case DW_OP_piece:
    case DW_OP_bit_piece: return "it is in several pieces here, in registers or memory";
    case DW_OP_entry_value:
    case kGnuEntryValue:
      return "here it is only known by what a register held at the function's entry, and that is "
             "not kept";
    case DW_OP_implicit_pointer:
    case kGnuImplicitPointer:
      return "it is a pointer that was optimised out, as what it points to is not in memory";
    case DW_OP_form_tls_address:
    case DW_OP_GNU_push_tls_address: return "it is thread-local, and its place is not known";
    default:
      return "its place is computed by an expression that is not understood (operation " +
             std::to_string(atom) + ")";
  }
}

bool is_location_list(Dwarf_Attribute attribute) {
  switch (::dwarf_whatform(&attribute)) {
    case DW_FORM_sec_offset:
    case DW_FORM_loclistx:
    case DW_FORM_data4:
    case DW_FORM_data8: return true;
    default: return false;
  }
}

// ---- expressions ----

class Evaluation {
 public:
  Evaluation(const FrameTable& frames, const StaticData& data, bool is_fixed,
             const CodePlace& place)
      : frames_(frames), data_(data), is_fixed_(is_fixed), place_(place) {}

  Location run(Dwarf_Attribute& attribute, Ops ops) {
    attribute_ = &attribute;
    if (ops.size() > kMostOperations) return no_location(too_long());
    if (ops.size() == 1)
      if (const auto number = register_named(ops[0])) return in_register(*number);
    if (!walk(ops, 0)) return no_location(why_not_);
    if (stack_.size() != 1) return no_location(not_understood());
    Location location;
    location.base = stack_[0].base;
    location.offsets = std::move(stack_[0].offsets);
    location.is_memory = !is_value_;
    return location;
  }

  // Whether it was computed from a register that the debug information takes for the frame's.
  bool uses_frame_register() const { return uses_frame_register_; }

  static std::string not_understood() {
    return "its place is computed by an expression that is not understood";
  }

 private:
  static std::string too_long() {
    return "the expression for its place has more than " + std::to_string(kMostOperations) +
           " operations";
  }

  bool fail(std::string why) {
    why_not_ = std::move(why);
    return false;
  }

  static Location in_register(uint64_t number) {
    const auto reg = register_of_dwarf(number);
    if (!reg) return no_location("it is in a vector register");
    Location location;
    location.base = *reg;
    location.offsets = {0};
    location.is_register = true;
    return location;
  }

  bool walk(Ops ops, int depth) {
    for (size_t i = 0; i < ops.size(); ++i) {
      if (is_value_) return fail(not_understood());
      if (ops[i].atom == DW_OP_stack_value && depth == 0)
        is_value_ = true;
      else if (!take(ops[i], depth))
        return false;
    }
    return true;
  }

  bool push(Value value) {
    stack_.push_back(std::move(value));
    return true;
  }

  bool take(const Dwarf_Op& op, int depth) {
    if (const auto constant = constant_of(op)) return push(value_of(*constant));
    if (const auto added = register_added(op)) return push_register(*added, depth);
    switch (op.atom) {
      case DW_OP_nop: return true;
      case DW_OP_addr: return push_address(op.number);
      case DW_OP_addrx:
      case kGnuAddress: return push_listed_address(op);
      case DW_OP_call_frame_cfa: return push_frame(depth);
      case DW_OP_fbreg: return push_from_base(op.number, depth);
      case DW_OP_plus_uconst: return add(op.number);
      case DW_OP_plus:
      case DW_OP_minus: return combine(op.atom == DW_OP_minus);
      case DW_OP_deref: return follow_pointer();
      case DW_OP_implicit_value: return push_bytes(op, depth);
      default: return fail(why_refused(op.atom));
    }
  }

  bool push_register(const RegisterUse& use, int depth) {
    const auto reg = register_of_dwarf(use.number);
    if (!reg) return fail(not_understood());
    uses_frame_register_ |= depth < kDeepestExpression;
    return push({*reg, {use.offset}});
  }

  // An address of the file is known by its distance from the code, wherever it is loaded.
  bool push_address(uint64_t address) {
    if (std::string why = data_.why_not(address); !why.empty()) return fail(std::move(why));
    if (is_fixed_) return push(value_of(address));
    return push({kInstructionPointer, {address - place_.address}});
  }

  bool push_listed_address(const Dwarf_Op& op) {
    Dwarf_Attribute listed;
    Dwarf_Addr address = 0;
    if (::dwarf_getlocation_attr(attribute_, &op, &listed) != 0 ||
        ::dwarf_formaddr(&listed, &address) != 0)
      return fail("its address is not in the file's table of addresses");
    return push_address(address + place_.base);
  }

  bool push_frame(int depth) {
    if (depth >= kDeepestExpression) return fail(not_understood());
    const auto row = frames_.row_at(place_.address);
    if (!row) return fail("the file's unwind tables do not say where the frame is here");
    return walk(row->place, kDeepestExpression);
  }

  bool push_from_base(uint64_t offset, int depth) {
    auto base = dwarf::attribute(place_.die, DW_AT_frame_base);
    Dwarf_Op* ops = nullptr;
    size_t count = 0;
    if (depth > 0 || !base ||
        ::dwarf_getlocation_addr(&*base, place_.address - place_.base, &ops, &count, 1) != 1 ||
        count == 0 || count > kMostOperations)
      return fail("the debug information does not say where the frame is here");
    if (const auto number = count == 1 ? register_named(ops[0]) : std::nullopt) {
      if (!push_register({*number, 0}, 1)) return false;
    } else if (!walk({ops, count}, 1)) {
      return false;
    }
    return add(offset);
  }

  bool add(uint64_t constant) {
    if (stack_.empty()) return fail(not_understood());
    stack_.back().offsets.back() += constant;
    return true;
  }

  bool combine(bool is_minus) {
    if (stack_.size() < 2) return fail(not_understood());
    Value last = std::move(stack_.back());
    stack_.pop_back();
    Value& first = stack_.back();
    if (!last.is_constant() && first.is_constant() && !is_minus) std::swap(first, last);
    if (!last.is_constant()) return fail("its place is computed from several registers");
    first.offsets.back() += is_minus ? -last.offsets[0] : last.offsets[0];
    return true;
  }

  bool follow_pointer() {
    if (stack_.empty() || stack_.back().offsets.size() > kMostPointersOnTheWay)
      return fail(not_understood());
    stack_.back().offsets.push_back(0);
    return true;
  }

  bool push_bytes(const Dwarf_Op& op, int depth) {
    Dwarf_Block block{};
    if (depth > 0 || ::dwarf_getlocation_implicit_value(attribute_, &op, &block) != 0 ||
        block.length == 0 || block.length > sizeof(uint64_t))
      return fail("it is a constant of more than 8 bytes");
    uint64_t value = 0;
    std::memcpy(&value, block.data, block.length);
    is_value_ = true;
    return push(value_of(value));
  }

  const FrameTable& frames_;
  const StaticData& data_;
  const bool is_fixed_;
  const CodePlace& place_;
  Dwarf_Attribute* attribute_ = nullptr;
  std::vector<Value> stack_;
  bool is_value_ = false;
  bool uses_frame_register_ = false;
  std::string why_not_;
};

// ---- whether it is so here ----

// The frame's address as a register's value and a number; none if it is not so simple.
struct SimpleFrame {
  Register base = Register::none;
  int64_t offset = 0;
};

std::optional<SimpleFrame> simple_frame(std::span<const Dwarf_Op> place) {
  const auto use = place.size() == 1 ? register_added(place[0]) : std::nullopt;
  const auto reg = use ? register_of_dwarf(use->number) : std::nullopt;
  if (!reg) return std::nullopt;
  return SimpleFrame{*reg, static_cast<int64_t>(use->offset)};
}

// Whether the stack pointer is where most of the function has it, and nowhere lower: the frame is complete.
bool is_frame_complete(const FrameTable& frames, const CodePlace& place, int64_t here) {
  std::map<int64_t, uint64_t> bytes;  // of code, by distance
  const uint64_t end = place.function.address + place.function.size;
  uint64_t at = place.function.address;
  for (size_t i = 0; at < end; ++i) {
    const auto row = i < kMostFrameRows ? frames.row_at(at) : std::nullopt;
    const auto frame = row ? simple_frame(row->place) : std::nullopt;
    if (!frame || frame->base != kStackPointer || row->end <= at) return false;
    bytes[frame->offset] += std::min(row->end, end) - at;
    at = row->end;
  }
  const auto most = std::ranges::max_element(bytes, {}, [](const auto& one) { return one.second; });
  return most != bytes.end() && most->first == here && bytes.rbegin()->first == here;
}

bool is_parameter(const Die& variable) {
  return dwarf::tag_of(variable) == DW_TAG_formal_parameter;
}

bool is_of_function(const Die& variable, const CodePlace& place) {
  bool is_child = false;
  dwarf::each_child(place.die, [&](const Die& child) {
    is_child = child.addr == variable.addr;
    return !is_child;
  });
  return is_child;
}

bool passes_arguments(Register reg) {
  return std::ranges::find(kArgumentRegisters, reg) != kArgumentRegisters.end();
}

// gcc's, which then gives the register that a variable has for a part of the function as one for all of it.
bool is_without_tracking(const Die& function) {
  Die unit;
  if (!::dwarf_diecu(const_cast<Die*>(&function), &unit, nullptr, nullptr)) return true;
  auto producer = dwarf::attribute(unit, DW_AT_producer);
  const char* text = producer ? ::dwarf_formstring(&*producer) : nullptr;
  return text && std::strstr(text, "-fno-var-tracking") != nullptr;
}

class Proof {
 public:
  Proof(const FrameTable& frames, const Die& variable, const CodePlace& place, uint64_t size)
      : frames_(frames), variable_(variable), place_(place), size_(size) {
    if (const auto row = frames.row_at(place.address)) frame_ = simple_frame(row->place);
  }

  // Why a single location for all of the variable's scope may be wrong here; empty if it is right.
  std::string why_not(const Location& location, bool uses_frame_register) const {
    if (location.is_register) return why_not_in_register(location.base);
    if (location.base == Register::none || location.base == kInstructionPointer) return "";
    if (uses_frame_register && !has_frame_in(location.base))
      return "its place counts from " + name_of(location.base) +
             ", and it is not proven that the frame is complete here";
    if (!location.is_memory) return "";
    const Stored stored = stored_at(location);
    if (is_parameter(variable_) && stored != Stored::all)
      return "it is a parameter whose value may not be stored in its place yet";
    return stored == Stored::none ? "it may not be stored in its place yet" : "";
  }

  // The same for one of a list, which clang makes for whole functions: what they push and pop is left out.
  std::string why_not_of_list(const Location& location, bool uses_frame_register) const {
    if (location.is_register || location.base != kStackPointer || !uses_frame_register ||
        has_frame_in(kStackPointer))
      return "";
    return "its place counts from the stack pointer, and it is not proven that the frame is "
           "complete here";
  }

 private:
  std::string why_not_in_register(Register reg) const {
    if (is_parameter(variable_) && is_of_function(variable_, place_) && !passes_arguments(reg))
      return "it is a parameter whose value may not be in " + name_of(reg) + " yet";
    return is_without_tracking(place_.die)
               ? "it was compiled with -fno-var-tracking, so it may not be in " + name_of(reg) +
                     " here"
               : "";
  }

  bool has_frame_in(Register reg) const {
    if (!frame_ || frame_->base != reg) return false;
    return reg != kStackPointer || is_frame_complete(frames_, place_, frame_->offset);
  }

  // The caller has stored what it passed on the stack.
  Stored stored_at(const Location& location) const {
    if (!frame_ || frame_->base != location.base) return Stored::unknown;
    if (!place_.is_entry) return Stored::unknown;
    const auto from_caller =
        static_cast<int64_t>(location.offsets[0] - static_cast<uint64_t>(frame_->offset));
    if (is_parameter(variable_) && !is_of_function(variable_, place_)) return Stored::unknown;
    if (from_caller >= 0) return Stored::all;
    const uint64_t behind = place_.address - place_.function.address;
    const uint64_t bytes = location.offsets.size() > 1 ? sizeof(uint64_t) : size_;
    return behind <= place_.code.size() ? stored_by(place_.code.first(behind), {from_caller, bytes})
                                        : Stored::unknown;
  }

  const FrameTable& frames_;
  const Die& variable_;
  const CodePlace& place_;
  const uint64_t size_;
  std::optional<SimpleFrame> frame_;
};

Location constant_or_none(const Die& variable) {
  Location location;
  if (!dwarf::has(variable, DW_AT_const_value)) {
    location.is_optimised_out = true;
    location.why_not = "it is optimised out";
    return location;
  }
  const auto value = dwarf::number(variable, DW_AT_const_value);
  if (!value) return no_location("it is a constant that is no integer");
  location.offsets = {*value};
  return location;
}

// Whether an entry of the list of locations begins at the address: views tell at which of several lines there, and
// libdw does not read them.
bool begins_at(Dwarf_Attribute& attribute, Dwarf_Addr address) {
  constexpr size_t kMostEntries = 100'000;
  if (!is_location_list(attribute)) return false;
  Dwarf_Addr base = 0, start = 0, end = 0;
  Dwarf_Op* ops = nullptr;
  size_t count = 0, seen = 0;
  for (ptrdiff_t at = 0; ++seen <= kMostEntries;) {
    at = ::dwarf_getlocations(&attribute, at, &base, &start, &end, &ops, &count);
    if (at <= 0) return false;
    if (start == address) return true;
  }
  return true;
}

bool are_same(Ops a, Ops b) {
  return std::ranges::equal(a, b, [](const Dwarf_Op& one, const Dwarf_Op& other) {
    return one.atom == other.atom && one.number == other.number && one.number2 == other.number2;
  });
}

}  // namespace

Location Locations::of(const Die& variable, const CodePlace& place, uint64_t size) const {
  auto attribute = dwarf::attribute(variable, DW_AT_location);
  if (!attribute) return constant_or_none(variable);
  std::array<Dwarf_Op*, 2> ops{};
  std::array<size_t, 2> counts{};
  const int found = ::dwarf_getlocation_addr(&*attribute, place.address - place.base, ops.data(),
                                             counts.data(), ops.size());
  if (found < 0) return no_location("the debug information of its place is damaged");
  if (found == 0 || counts[0] == 0) {
    Location none = no_location("it is optimised out here");
    none.is_optimised_out = true;
    return none;
  }
  const Ops first{ops[0], counts[0]};
  if (found > 1 && !are_same(first, {ops[1], counts[1]}))
    return no_location("the debug information has two places for it here");
  const bool is_passed = is_parameter(variable) && is_of_function(variable, place) &&
                         place.address == place.function.address;
  if (place.is_shared && !is_passed && begins_at(*attribute, place.address - place.base))
    return no_location(
        "it gets its value at one of several lines that begin at the same instruction");
  Evaluation evaluation(frames_, data_, is_fixed_, place);
  Location location = evaluation.run(*attribute, first);
  location.is_of_list = is_location_list(*attribute);
  if (!location.why_not.empty()) return location;
  const Proof proof(frames_, variable, place, size);
  std::string why = location.is_of_list
                        ? proof.why_not_of_list(location, evaluation.uses_frame_register())
                        : proof.why_not(location, evaluation.uses_frame_register());
  return why.empty() ? location : no_location(std::move(why));
}

}  // namespace tracectl
