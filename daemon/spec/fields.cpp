// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/spec/fields.h"

#include <algorithm>
#include <climits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/base/nearest.h"
#include "daemon/spec/lexer.h"

namespace tracectl {
namespace {

constexpr unsigned kIntegerBits = 64;
constexpr size_t kMostEnumeratorsShown = 12;

Expr plus(Expr address, uint64_t bytes) {
  if (bytes == 0) return address;
  const size_t column = address.column;
  return Expr::of_binary(Operator::add, std::move(address), Expr::of_integer(bytes), column);
}

Expr shift_by(Operator op, Expr value, unsigned bits) {
  const size_t column = value.column;
  return Expr::of_binary(op, std::move(value), Expr::of_integer(bits), column);
}

Read read_of(unsigned size_bytes, bool is_signed) {
  switch (size_bytes) {
    case 1: return is_signed ? Read::s8 : Read::u8;
    case 2: return is_signed ? Read::s16 : Read::u16;
    case 4: return is_signed ? Read::s32 : Read::u32;
    default: return is_signed ? Read::s64 : Read::u64;
  }
}

// Reads of less than 64 bits are signed integers of 64 bits, so that a shift to the right extends the sign.
Expr signed_bits(const ReachedField& field, Expr address) {
  const bool is_whole = field.type.size_bytes == sizeof(uint64_t);
  Expr value = Expr::of_read(read_of(field.type.size_bytes, is_whole), std::move(address));
  value = shift_by(Operator::shift_left, std::move(value),
                   kIntegerBits - field.first_bit - field.bit_count);
  return shift_by(Operator::shift_right, std::move(value), kIntegerBits - field.bit_count);
}

Expr unsigned_bits(const ReachedField& field, Expr address) {
  Expr value = Expr::of_read(read_of(field.type.size_bytes, false), std::move(address));
  if (field.first_bit) value = shift_by(Operator::shift_right, std::move(value), field.first_bit);
  if (field.bit_count == kIntegerBits) return value;
  const uint64_t mask = (uint64_t{1} << field.bit_count) - 1;
  return Expr::of_binary(Operator::bit_and, std::move(value), Expr::of_integer(mask));
}

// So many bytes behind the field's start.
Expr address_of(const ReachedField& field, Expr base, uint64_t bytes = 0) {
  Expr at = std::move(base);
  for (size_t i = 0; i < field.offsets.size(); ++i) {
    const bool is_last = i + 1 == field.offsets.size();
    if (i > 0) at = Expr::of_read(Read::u64, std::move(at));
    at = plus(std::move(at), field.offsets[i] + (is_last ? bytes : 0));
  }
  return at;
}

// One of the two, without a jump: a + chooses_b * (b - a).
Expr either(Expr a, Expr b, Expr chooses_b) {
  const size_t column = a.column;
  Expr further = Expr::of_binary(Operator::subtract, std::move(b), a, column);
  Expr added =
      Expr::of_binary(Operator::multiply, std::move(chooses_b), std::move(further), column);
  return Expr::of_binary(Operator::add, std::move(a), std::move(added), column);
}

class TextLoads {
 public:
  TextLoads(const ReachedField& field, const Expr& base)
      : field_(field), place_(*field.text), base_(base) {}

  Expr text() const {
    if (field_.offsets.empty())
      return Expr::of_sized_str(
          base_, Expr::of_operand(Operand::symbol, base_.number + 1, base_.column), base_.column);
    Expr address = word(place_.pointer_at), length = word(place_.length_at);
    if (const auto& inside = place_.when_short) {
      address = either(at(inside->text_at), std::move(address), bits(inside->is_long));
      length = either(bits(inside->length), std::move(length), bits(inside->is_long));
    }
    return Expr::of_sized_str(std::move(address), std::move(length), base_.column);
  }

 private:
  Expr at(uint64_t bytes) const { return address_of(field_, base_, bytes); }
  Expr word(uint64_t bytes) const { return Expr::of_read(Read::u64, at(bytes)); }
  Expr bits(const BitsOfByte& bits) const {
    Expr value = Expr::of_read(Read::u8, at(bits.at));
    if (bits.first_bit) value = shift_by(Operator::shift_right, std::move(value), bits.first_bit);
    if (bits.first_bit + bits.bit_count == CHAR_BIT) return value;
    const uint64_t mask = (uint64_t{1} << bits.bit_count) - 1;
    return Expr::of_binary(Operator::bit_and, std::move(value), Expr::of_integer(mask));
  }

  const ReachedField& field_;
  const TextPlace& place_;
  const Expr& base_;
};

Expr load_of(const ReachedField& field, Expr base) {
  if (field.text) return TextLoads(field, base).text();
  if (field.offsets.empty()) return base;  // a cast of the argument or result itself
  Expr at = address_of(field, std::move(base));
  if (field.is_address) return at;
  if (field.bit_count)
    return field.type.is_signed ? signed_bits(field, std::move(at))
                                : unsigned_bits(field, std::move(at));
  return Expr::of_read(read_of(field.type.size_bytes, field.type.is_signed), std::move(at));
}

uint64_t bytes_of_float(const ReachedField& field) {
  return field.type.is_float && !field.is_address ? field.type.size_bytes : 0;
}

// The argument or result that the path begins with; null if the probe has fewer arguments.
const Argument* base_of(const Expr& base, const Arguments& arguments, const Argument* result) {
  if (base.operand == Operand::retval) return result;
  if (base.operand != Operand::arg) return nullptr;
  return base.number < count_of_probe(arguments) ? &arguments[base.number] : nullptr;
}

const ReachedField* find_field(const Argument* base, const std::string& path) {
  if (!base || !base->asked_fields) return nullptr;
  const auto found = std::ranges::find(*base->asked_fields, path, &ReachedField::path);
  return found == base->asked_fields->end() ? nullptr : &*found;
}

// A path that begins with a variable.
bool is_of_variable(const Expr& base) {
  return base.kind == Expr::Kind::operand && base.operand == Operand::symbol;
}

struct FoundVariable {
  const ReachedField* field = nullptr;  // null if it was not looked for here
  size_t place = 0;                     // among the operands
};

FoundVariable find_variable(const Arguments& operands, const std::string& path) {
  for (size_t i = count_of_probe(operands); i < operands.size(); ++i)
    if (const ReachedField* field = find_field(&operands[i], path)) return {field, i};
  return {};
}

const Enumerator* find_enumerator(const Argument* type, const std::string& name) {
  if (!type || !type->enumerators) return nullptr;
  const auto found = std::ranges::find(*type->enumerators, name, &Enumerator::name);
  return found == type->enumerators->end() ? nullptr : &*found;
}

// The check of the argument says why.
bool is_out_of_reach(const Expr& base, const Argument* type) {
  return base.operand == Operand::arg && (!type || !is_readable(*type));
}

std::string why_too_large(const Enumerator& one) {
  return one.name + " is more than names can stand for, which is a signed integer: write " +
         std::to_string(static_cast<uint64_t>(one.value));
}

std::string no_enumerator(const Expr& place, const Argument* type, const std::string& name) {
  const std::string unknown = "unknown name \"" + name + "\": ";
  if (!type || !type->enumerators)
    return unknown + to_string(place) + " is no enumeration that is known here";
  std::vector<std::string_view> names;
  std::string listed;
  for (const Enumerator& one : *type->enumerators) {
    if (names.size() < kMostEnumeratorsShown) listed += (names.empty() ? "" : ", ") + one.name;
    names.push_back(one.name);
  }
  if (names.size() > kMostEnumeratorsShown)
    listed += " and " + std::to_string(names.size() - kMostEnumeratorsShown) + " more";
  if (names.size() >= kMostEnumerators)
    return unknown + "of " + type->declared_type + " only the first " +
           std::to_string(kMostEnumerators) + " values are known by name: write the number" +
           did_you_mean(name, names);
  return unknown + type->declared_type + " has " + listed + did_you_mean(name, names);
}

}  // namespace

Status resolve_enumerator(Expr& part, const Expr& whole, const Arguments& arguments,
                          const Argument* result) {
  const Expr& place = part.children[0];
  Expr& one = part.children[1];
  const bool is_field = place.kind == Expr::Kind::field;
  const Expr& base = is_field ? place.children.back() : place;
  const Argument* type = base_of(base, arguments, result);
  if (is_out_of_reach(base, type)) return ok();
  const ReachedField* field = !is_field              ? nullptr
                              : is_of_variable(base) ? find_variable(arguments, place.text).field
                                                     : find_field(type, place.text);
  if (field) type = &field->type;
  const Enumerator* found = find_enumerator(type, one.text);
  const auto fail = [&](std::string message) {
    return error_at(to_string(whole), column_of(one, whole), std::move(message));
  };
  if (!found) return fail(no_enumerator(place, type, one.text));
  if (found->value < 0 && !type->is_signed) return fail(why_too_large(*found));
  one.number = static_cast<uint64_t>(found->value);
  return ok();
}

Status resolve_text(Expr& part, const Expr& whole, const Arguments& arguments,
                    const Argument* result) {
  const Argument* type = base_of(part, arguments, result);
  const std::string path = to_string(part);
  const FoundVariable in_registers = find_variable(arguments, path);
  const ReachedField* field = in_registers.field ? in_registers.field : find_field(type, path);
  if (!field) return ok();
  if (!field->why_not.empty())
    return error_at(to_string(whole), column_of(part, whole), field->why_not);
  // Without a way by memory it is in two operands, which only variables are.
  if (field->text && field->offsets.empty() && !in_registers.field)
    return error_at(to_string(whole), column_of(part, whole),
                    "the place of this text is not known");
  Expr text = Expr::of_field(path, part, part.column);
  const Expr base = in_registers.field
                        ? Expr::of_operand(Operand::symbol, in_registers.place, part.column)
                        : part;
  text.children.insert(text.children.begin(), load_of(*field, base));
  part = std::move(text);
  return ok();
}

Status resolve_field(Expr& part, const Expr& whole, const Arguments& arguments,
                     const Argument* result) {
  const auto fail = [&](size_t column, std::string message) {
    return error_at(to_string(whole), column_of(part, whole) + column, std::move(message));
  };
  if (part.children.size() > 1) return ok();  // it has its loads
  const Expr base = part.children[0];
  if (is_of_variable(base)) {
    const auto [field, place] = find_variable(arguments, part.text);
    if (!field) return fail(0, "variables are known at lines, as OBJECT@FILE:LINE, and not here");
    if (!field->why_not.empty()) return fail(field->column, field->why_not);
    Expr at = Expr::of_operand(Operand::symbol, place, base.column);
    part.number = bytes_of_float(*field);
    part.children.insert(part.children.begin(), load_of(*field, std::move(at)));
    return ok();
  }
  const Argument* type = base_of(base, arguments, result);
  if (is_out_of_reach(base, type)) return ok();
  const ReachedField* field = find_field(type, part.text);
  if (!field)
    return fail(0, "the fields of " + to_string(base) +
                       " are not known here: they are in the debug information of functions in C "
                       "and C++, and events do not record them");
  if (!field->why_not.empty()) return fail(field->column, field->why_not);
  part.number = bytes_of_float(*field);
  part.children.insert(part.children.begin(), load_of(*field, base));
  return ok();
}

}  // namespace tracectl
