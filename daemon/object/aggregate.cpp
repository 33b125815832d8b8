// SPDX-License-Identifier: BSD-2-Clause
//
// Classes of structs and unions passed by value: psABI 3.2.3, "Classification". One of at most 16
// bytes is passed like its two eightbytes: one with an integer in it in an integer register, one
// with only floating-point numbers in a vector register. A longer one, or one with an unaligned
// member, goes onto the stack; so does one of `long double`, which is returned in registers if it has nothing else. If this interpretation of the rules is not certain, the answer is
// `unknown`.
#include <algorithm>
#include <array>
#include <climits>

#include "daemon/object/member_place.h"
#include "daemon/object/parameter_type.h"

namespace tracectl {
namespace {

using dwarf::Die;

constexpr uint64_t kMostInRegisters = 16;
constexpr int kDeepestMember = 16;
constexpr uint64_t kMostMembers = 4096;

enum class Class : uint8_t { none, vector, integer };  // an eightbyte takes the later one

// Where a type lies in the aggregate.
struct Within {
  uint64_t offset = 0;
  int depth = 0;
  std::string name = {};  // of the members around it; empty if nobody wants names

  Within at(uint64_t bytes, const std::string& more = {}) const {
    return {offset + bytes, depth + 1, name + more};
  }
};

class Classifier {
 public:
  explicit Classifier(std::vector<AggregateMember>* members) : listed_(members) {}

  Passing run(const Die& type, uint64_t size) {
    if (dwarf::tag_of(type) == DW_TAG_union_type) list_union({});
    add_members(type, {});
    if (size > kMostInRegisters) in_memory_ = true;
    Passing passing;
    passing.size_bytes = size;
    passing.alignment = std::max<uint64_t>(alignment_, 8);
    passing.way = way(size);
    passing.integer_registers = count(Class::integer);
    passing.vector_registers = count(Class::vector);
    passing.vector_first = eightbytes_[0] == Class::vector && eightbytes_[1] == Class::integer;
    passing.is_x87 = has_long_double_ && !has_others_ && size == kMostInRegisters;
    return passing;
  }

 private:
  uint8_t count(Class what) const {
    return static_cast<uint8_t>(std::count(eightbytes_.begin(), eightbytes_.end(), what));
  }

  Passing::Way way(uint64_t size) const {
    if (unknown_) return Passing::Way::unknown;
    if (in_memory_) return Passing::Way::stack;
    const bool has_first = eightbytes_[0] != Class::none;
    const bool has_second = eightbytes_[1] != Class::none;
    if (!has_first && !has_second && size <= 1) return Passing::Way::nothing;
    // An eightbyte of only padding: rare, and compilers differ.
    if (!has_first || has_second != (size > 8)) return Passing::Way::unknown;
    return Passing::Way::registers;
  }

  void add_members(const Die& type, const Within& within) {
    align_as_declared(type);
    const bool whole = dwarf::each_child(type, [&](const Die& member) {
      add_member(member, within);
      return !unknown_;
    });
    if (!whole || within.depth > kDeepestMember) unknown_ = true;
  }

  // What is within a union overlaps, so that nothing says which of it holds.
  void list_union(const std::string& name) {
    list({name.empty() ? "union" : name, std::nullopt, 0, 0});
    ++unions_;
  }

  void list(AggregateMember member) {
    if (listed_ && unions_ == 0 && listed_->size() < kMostInRegisters * CHAR_BIT)
      listed_->push_back(std::move(member));
  }

  std::string name_within(const Within& within, const Die& member) const {
    const std::string name = listed_ ? dwarf::name_of(member) : "";
    return name.empty() || within.name.empty() ? name : "." + name;
  }

  void align_as_declared(const Die& die) {
    if (const auto alignment = dwarf::number(die, DW_AT_alignment))
      alignment_ = std::max(alignment_, *alignment);
  }

  void add_member(const Die& member, const Within& within) {
    if (!is_in_struct(member)) return;
    align_as_declared(member);
    const bool is_base = dwarf::tag_of(member) == DW_TAG_inheritance;
    const std::string name = is_base ? "" : name_within(within, member);  // a base class adds none
    const auto place = place_of_member(member);
    if (!place) return give_up();
    if (place->bit_count) return add_bits(member, *place, within.at(0, name));
    add(dwarf::type_of(member), within.at(place->first_bit / CHAR_BIT, name));
  }

  void add_bits(const Die& member, const MemberPlace& place, const Within& within) {
    has_others_ = true;
    const uint64_t start = within.offset * 8 + place.first_bit;
    list({within.name, stripped(dwarf::type_of(member)), start, place.bit_count});
    put(Class::integer, start / 8, (start + place.bit_count - 1) / 8 - start / 8 + 1);
  }

  void add(const std::optional<Die>& declared, const Within& within) {
    const auto type = stripped(declared);
    if (!type || within.depth > kDeepestMember || ++members_ > kMostMembers) return give_up();
    switch (dwarf::tag_of(*type)) {
      case DW_TAG_union_type: return add_union(*type, within);
      case DW_TAG_structure_type:
      case DW_TAG_class_type: return add_struct(*type, within);
      case DW_TAG_array_type: return add_array(*type, within);
      default: return add_scalar(*type, within);
    }
  }

  void add_struct(const Die& type, const Within& within) {
    if (dwarf::flag(type, DW_AT_declaration)) return give_up();
    add_members(type, within);
  }

  void add_union(const Die& type, const Within& within) {
    list_union(within.name);
    add_struct(type, within);
    --unions_;
  }

  void add_scalar(const Die& type, const Within& within) {
    const uint64_t offset = within.offset;
    const Passing passing = passing_of_scalar(type);
    if (passing.way == Passing::Way::unknown) return give_up();
    // long double, which fits no register's class
    if (passing.way == Passing::Way::stack) in_memory_ = true;
    (passing.is_x87 ? has_long_double_ : has_others_) = true;
    const uint64_t natural = std::min(passing.size_bytes, passing.alignment);
    if (natural && offset % natural) in_memory_ = true;
    alignment_ = std::max(alignment_, natural);
    list({within.name, type, offset * 8, passing.size_bytes * 8});
    put(passing.integer_registers ? Class::integer : Class::vector, offset, passing.size_bytes);
  }

  void add_array(const Die& type, const Within& within) {
    if (dwarf::has(type, DW_AT_GNU_vector)) return give_up();
    const auto element = stripped(dwarf::type_of(type));
    const auto count = count_of(type);
    Dwarf_Word size = 0;
    if (!element || !count || ::dwarf_aggregate_size(const_cast<Die*>(&*element), &size) != 0)
      return give_up();
    // An array that is too long for registers affects only the alignment, and each element has the
    // same.
    const uint64_t looked_at = std::min<uint64_t>(*count, kMostInRegisters);
    if (size > (1u << 30) || *count > (1u << 30)) return give_up();
    for (uint64_t i = 0; i < looked_at && !unknown_; ++i)
      add(element, within.at(i * size, listed_ ? "[" + std::to_string(i) + "]" : ""));
  }

  // The number of elements in all dimensions; none if a dimension is not a number, as for a
  // flexible member.
  static std::optional<uint64_t> count_of(const Die& array) {
    std::optional<uint64_t> all;
    const bool whole = dwarf::each_child(array, [&](const Die& range) {
      if (dwarf::tag_of(range) != DW_TAG_subrange_type) return true;
      auto count = dwarf::number(range, DW_AT_count);
      if (!count)
        if (const auto last = dwarf::number(range, DW_AT_upper_bound)) count = *last + 1;
      const bool sound = count && *count <= (1u << 30) && all.value_or(1) <= (1u << 30);
      all = sound ? std::optional(all.value_or(1) * *count) : std::nullopt;
      return sound;
    });
    return whole ? all : std::nullopt;
  }

  void put(Class what, uint64_t offset, uint64_t size) {
    if (size == 0 || offset >= kMostInRegisters || size > kMostInRegisters - offset) {
      in_memory_ = true;
      return;
    }
    for (uint64_t i = offset / 8; i <= (offset + size - 1) / 8; ++i)
      eightbytes_[i] = std::max(eightbytes_[i], what);
  }

  void give_up() { unknown_ = true; }

  std::vector<AggregateMember>* listed_;  // null: nobody wants them
  int unions_ = 0;                        // around the member
  std::array<Class, 2> eightbytes_{};
  uint64_t alignment_ = 1;
  uint64_t members_ = 0;
  bool in_memory_ = false;
  bool unknown_ = false;
  bool has_long_double_ = false;
  bool has_others_ = false;
};

}  // namespace

Passing passing_of_aggregate(const Die& type, std::vector<AggregateMember>* members) {
  const auto size = dwarf::number(type, DW_AT_byte_size);
  if (!size || dwarf::flag(type, DW_AT_declaration)) return {};
  return Classifier{members}.run(type, *size);
}

}  // namespace tracectl
