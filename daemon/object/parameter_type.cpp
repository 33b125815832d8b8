// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/parameter_type.h"

#include <algorithm>

#include "daemon/object/code/machine.h"
#include "daemon/object/copying.h"

namespace tracectl {
namespace {

using dwarf::Die;
using Kind = Argument::Kind;

constexpr int kMostStripped = 32;

Passing integers(uint64_t size) {
  if (size != 1 && size != 2 && size != 4 && size != 8 && size != 16) return {};
  // Compilers have differed in how they put an __int128 onto the stack.
  return {
      Passing::Way::registers, static_cast<uint8_t>(size > 8 ? 2 : 1), 0, size <= 8, size, size};
}

Passing vectors(uint64_t size, uint8_t count = 1) {
  return {Passing::Way::registers, 0, count, true, size, size / count};
}

// Only the x87 format of `long double` has a class of its own.
Passing x87(uint64_t size) {
  Passing passing{.way = Passing::Way::stack, .size_bytes = size, .alignment = 16};
  passing.is_x87 = true;
  return passing;
}

Passing passing_of_float(const std::string& name, uint64_t size) {
  if (size == 2 || size == 4 || size == 8) return vectors(size);
  if (size != 16) return {};
  if (name == "long double") return x87(16);
  if (name == "_Float128" || name == "__float128" || name == "_Decimal128") return vectors(16);
  return {};
}

Passing passing_of_complex(const std::string& name, uint64_t size) {
  if (size == 8) {  // two floats in one register
    Passing passing = vectors(8);
    passing.alignment = 4;
    return passing;
  }
  if (size == 16) return vectors(16, 2);
  if (size == 32 && name.ends_with("long double")) return x87(32);
  return {};
}

Passing passing_of_base(const Die& type) {
  const auto size = dwarf::number(type, DW_AT_byte_size);
  if (!size) return {};
  switch (dwarf::number(type, DW_AT_encoding).value_or(0)) {
    case DW_ATE_boolean:
    case DW_ATE_signed:
    case DW_ATE_signed_char:
    case DW_ATE_unsigned:
    case DW_ATE_unsigned_char:
    case DW_ATE_UTF: return integers(*size);
    case DW_ATE_float:
    case DW_ATE_decimal_float: return passing_of_float(dwarf::name_of(type), *size);
    case DW_ATE_complex_float: return passing_of_complex(dwarf::name_of(type), *size);
    default: return {};
  }
}

// A pointer to a member function: an address, and an offset to add to `this`.
Passing passing_of_member_pointer(const Die& type) {
  const auto target = stripped(dwarf::type_of(type));
  if (!target) return {};
  if (dwarf::tag_of(*target) != DW_TAG_subroutine_type) return integers(8);
  return {Passing::Way::registers, 2, 0, true, 16, 8};
}

uint64_t size_of_enumeration(const Die& type) {
  if (const auto size = dwarf::number(type, DW_AT_byte_size)) return *size;
  const auto underlying = stripped(dwarf::type_of(type));
  return underlying ? dwarf::number(*underlying, DW_AT_byte_size).value_or(0) : 0;
}

}  // namespace

std::optional<Die> stripped(std::optional<Die> type) {
  bool atomic = false;  // an atomic struct may be longer than the struct
  for (int i = 0; type && i < kMostStripped; ++i) {
    atomic |= dwarf::tag_of(*type) == DW_TAG_atomic_type;
    switch (dwarf::tag_of(*type)) {
      case DW_TAG_typedef:
      case DW_TAG_const_type:
      case DW_TAG_volatile_type:
      case DW_TAG_restrict_type:
      case DW_TAG_atomic_type: type = dwarf::type_of(*type); break;
      case DW_TAG_structure_type:
      case DW_TAG_class_type:
      case DW_TAG_union_type:
      case DW_TAG_enumeration_type:
        if (atomic && dwarf::tag_of(*type) != DW_TAG_enumeration_type) return std::nullopt;
        // The complete type is in a type unit.
        if (!dwarf::has(*type, DW_AT_signature)) return type;
        type = dwarf::referred(*type, DW_AT_signature);
        break;
      default: return type;
    }
  }
  return std::nullopt;
}

Passing passing_of_scalar(const Die& type) {
  switch (dwarf::tag_of(type)) {
    case DW_TAG_base_type: return passing_of_base(type);
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
      return integers(dwarf::number(type, DW_AT_byte_size).value_or(8));
    case DW_TAG_enumeration_type: return integers(size_of_enumeration(type));
    case DW_TAG_ptr_to_member_type: return passing_of_member_pointer(type);
    case DW_TAG_unspecified_type:
      return dwarf::name_of(type) == "decltype(nullptr)" ? integers(8) : Passing{};
    default: return {};
  }
}

// ---- how a value is shown ----

namespace {

bool is_signed_encoding(const Die& type) {
  const auto encoding = dwarf::number(type, DW_AT_encoding);
  return encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
}

bool has_negative_enumerator(const Die& type) {
  return !dwarf::each_child(type, [](const Die& one) {
    auto value = dwarf::attribute(one, DW_AT_const_value);
    return !value || ::dwarf_whatform(&*value) != DW_FORM_sdata ||
           static_cast<int64_t>(dwarf::number(one, DW_AT_const_value).value_or(0)) >= 0;
  });
}

bool is_signed_enumeration(const Die& type) {
  if (const auto underlying = stripped(dwarf::type_of(type)))
    return is_signed_encoding(*underlying);
  if (dwarf::has(type, DW_AT_encoding)) return is_signed_encoding(type);
  return has_negative_enumerator(type);
}

Kind kind_of_base(const Die& type) {
  switch (dwarf::number(type, DW_AT_encoding).value_or(0)) {
    case DW_ATE_boolean: return Kind::boolean;
    case DW_ATE_complex_float:
    case DW_ATE_decimal_float: return Kind::aggregate;
    default: return dwarf::name_of(type) == "char" ? Kind::character : Kind::integer;
  }
}

bool is_char(const std::optional<Die>& type) {
  return type && dwarf::tag_of(*type) == DW_TAG_base_type && dwarf::name_of(*type) == "char";
}

Kind kind_of(const Die& type) {
  switch (dwarf::tag_of(type)) {
    case DW_TAG_base_type: return kind_of_base(type);
    case DW_TAG_enumeration_type: return Kind::enumeration;
    case DW_TAG_pointer_type:
      return is_char(stripped(dwarf::type_of(type))) ? Kind::text : Kind::pointer;
    case DW_TAG_ptr_to_member_type: return Kind::integer;  // an offset
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
    case DW_TAG_unspecified_type: return Kind::pointer;
    default: return Kind::aggregate;
  }
}

bool is_float(const Die& type) {
  const auto encoding = dwarf::number(type, DW_AT_encoding);
  return dwarf::tag_of(type) == DW_TAG_base_type && encoding == DW_ATE_float;
}

bool is_signed(const Die& type) {
  if (dwarf::tag_of(type) == DW_TAG_enumeration_type) return is_signed_enumeration(type);
  if (dwarf::tag_of(type) == DW_TAG_ptr_to_member_type) return true;
  return dwarf::tag_of(type) == DW_TAG_base_type && is_signed_encoding(type);
}

// An integer of C23's _BitInt(N) has undefined bits above N.
bool has_loose_bits(const Die& type) {
  return dwarf::has(type, DW_AT_bit_size) ||
         dwarf::name_of(type).find("BitInt") != std::string::npos;
}

bool is_aggregate(const Die& type) {
  const unsigned tag = dwarf::tag_of(type);
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

// ---- objects ----

Copying said_copying(const Die& type, bool cxx) {
  if (!cxx) return Copying::by_bytes;
  switch (dwarf::number(type, DW_AT_calling_convention).value_or(DW_CC_normal)) {
    case DW_CC_pass_by_value: return Copying::by_bytes;
    case DW_CC_pass_by_reference: return Copying::by_address;
    default: return copying_of(type);
  }
}

void read_aggregate(const Die& type, bool cxx, ParameterType& to) {
  const Copying copying = said_copying(type, cxx);
  to.by_reference = copying == Copying::by_address;
  if (copying == Copying::by_bytes) {
    to.passing = passing_of_aggregate(type);
    to.passing.is_aggregate = true;
  }
  if (!to.by_reference) return;
  to.passing = integers(8);
  to.value.kind = Kind::pointer;
  to.value.declared_type += " &";
}

// __m128 and the like. Compilers have passed shorter and longer ones in several ways.
void read_array(const Die& type, ParameterType& to) {
  Dwarf_Word size = 0;
  if (!dwarf::has(type, DW_AT_GNU_vector)) return;
  if (::dwarf_aggregate_size(const_cast<Die*>(&type), &size) == 0 && size == 16)
    to.passing = vectors(16);
}

void read_scalar(const Die& type, ParameterType& to) {
  to.passing = passing_of_scalar(type);
  const uint64_t size = to.passing.size_bytes;
  to.value.kind = kind_of(type);
  to.value.is_signed = is_signed(type);
  to.value.is_float = is_float(type) && (size == 4 || size == 8);
  const bool readable =
      size <= 8 && !has_loose_bits(type) && (to.value.is_float || !is_float(type));
  if (!readable || to.passing.way == Passing::Way::unknown) to.value.kind = Kind::aggregate;
  if (to.value.kind != Kind::aggregate) to.value.size_bytes = static_cast<uint8_t>(size);
}

}  // namespace

ParameterType TypeReader::read(const std::optional<Die>& type, bool cxx) {
  ParameterType result;
  result.value.declared_type = text_of_type(type);
  result.value.kind = Kind::aggregate;
  const auto plain = stripped(type);
  if (!plain) return result;
  if (is_aggregate(*plain))
    read_aggregate(*plain, cxx, result);
  else if (dwarf::tag_of(*plain) == DW_TAG_array_type)
    read_array(*plain, result);
  else
    read_scalar(*plain, result);
  if (result.value.kind == Kind::enumeration)
    result.value.enumerators = enumerators_of(*plain, result.value.is_signed);
  return result;
}

namespace {

constexpr unsigned kWordBits = 64;

Member register_as_member(Register reg, uint8_t first_bit) {
  Member member{.name = plain_name_of(reg), .first_bit = first_bit};
  member.type.place = Argument::Place::in_register;
  member.type.base = kResult;
  member.bit_count = kWordBits;
  return member;
}

bool fits_a_register(const AggregateMember& listed) {
  if (listed.bit_count == 0 || listed.bit_count > kWordBits) return false;
  return listed.first_bit / kWordBits == (listed.first_bit + listed.bit_count - 1) / kWordBits &&
         listed.first_bit < 2 * kWordBits;
}

}  // namespace

Member TypeReader::member_of(const AggregateMember& listed, bool cxx, const ResultWords& words) {
  Member member{.name = listed.name};
  if (!listed.type || !fits_a_register(listed)) return member;
  const auto word = words[listed.first_bit / kWordBits];
  ParameterType type = read(listed.type, cxx);
  if (!word || type.value.kind == Kind::aggregate) return member;
  member.type = std::move(type.value);
  member.type.place = Argument::Place::in_register;
  member.type.base = kResult;
  member.first_bit = static_cast<uint8_t>(*word * kWordBits + listed.first_bit % kWordBits);
  member.bit_count = static_cast<uint8_t>(listed.bit_count);
  return member;
}

std::shared_ptr<const Members> TypeReader::members_in_registers(const std::optional<Die>& type,
                                                                bool cxx,
                                                                const ResultWords& words) {
  const auto plain = stripped(type);
  if (!plain) return nullptr;
  if (!is_aggregate(*plain))
    return std::make_shared<const Members>(
        Members{register_as_member(kResult, 0), register_as_member(kSecondResult, kWordBits)});
  std::vector<AggregateMember> listed;
  passing_of_aggregate(*plain, &listed);
  Members members;
  for (const AggregateMember& one : listed) members.push_back(member_of(one, cxx, words));
  if (std::ranges::none_of(members, [](const Member& one) { return is_readable(one.type); }))
    return nullptr;
  return std::make_shared<const Members>(std::move(members));
}

std::shared_ptr<const Enumerators> TypeReader::enumerators_of(const Die& type, bool is_signed) {
  const auto [known, fresh] = enumerators_.try_emplace(type.addr, nullptr);
  if (!fresh) return known->second;
  const uint64_t size = size_of_enumeration(type);
  const unsigned unused_bits = 64 - 8 * static_cast<unsigned>(size);
  Enumerators all;
  dwarf::each_child(type, [&](const Die& child) {
    const auto value = dwarf::number(child, DW_AT_const_value);
    if (dwarf::tag_of(child) != DW_TAG_enumerator || !value) return true;
    const auto shifted = *value << unused_bits;
    all.push_back({dwarf::name_of(child), is_signed
                                              ? static_cast<int64_t>(shifted) >> unused_bits
                                              : static_cast<int64_t>(shifted >> unused_bits)});
    return all.size() < kMostEnumerators;
  });
  return known->second = std::make_shared<const Enumerators>(std::move(all));
}

}  // namespace tracectl
