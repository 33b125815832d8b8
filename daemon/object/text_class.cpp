// SPDX-License-Identifier: BSD-2-Clause
//
// What the members of a string are called and where they are differs by library and version:
//
//   libstdc++      string: _M_dataplus._M_p, _M_string_length; string_view: _M_str, _M_len
//   libc++         string_view: __data, __size, later with _ behind; string: in __r_.__value_, later in __rep_, a union of
//                  __l for long texts (pointer __data_, __size_, __cap_) and __s for short ones (array __data_, __size_)
//
// One bit of libc++'s strings says which part of the union holds. Versions from 15 on name it __is_long_. Before, it has
// no name: it is the lowest bit of the first byte, beside the short length, or, where an option of the library puts the
// characters first, the highest bit of the last byte. Both are within __cap_ of the other part.
#include "daemon/object/text_class.h"

#include <climits>
#include <initializer_list>
#include <string_view>

#include "daemon/object/members.h"
#include "daemon/object/parameter_type.h"

namespace tracectl {
namespace {

using dwarf::Die;

constexpr int kDeepestOfText = 8;
constexpr size_t kMostOfText = 1000;
constexpr uint64_t kWordBytes = sizeof(uint64_t);

bool is_char_type(const std::optional<Die>& type) {
  const auto plain = stripped(type);
  return plain && dwarf::tag_of(*plain) == DW_TAG_base_type && dwarf::name_of(*plain) == "char";
}

bool leads_to_chars(const std::optional<Die>& type, unsigned tag) {
  const auto plain = stripped(type);
  return plain && dwarf::tag_of(*plain) == tag && is_char_type(dwarf::type_of(*plain));
}

// The place of a member of members, in bits from the start of the outermost.
std::optional<FoundMember> member_at(const Die& type,
                                     std::initializer_list<std::string_view> names) {
  FoundMember found{type, 0, 0};
  for (const std::string_view name : names) {
    const auto around = stripped(found.type);
    if (!around) return std::nullopt;
    auto next = MemberSearch(name, kDeepestOfText, kMostOfText).run(*around);
    if (!next) return std::nullopt;
    next->first_bit += found.first_bit;
    found = *next;
  }
  return found;
}

bool is_whole(const FoundMember& member) {
  return member.bit_count == 0 && member.first_bit % CHAR_BIT == 0;
}

uint64_t byte_of(const FoundMember& member) { return member.first_bit / CHAR_BIT; }

uint64_t size_of(const std::optional<Die>& type) {
  const auto plain = stripped(type);
  return plain ? dwarf::number(*plain, DW_AT_byte_size).value_or(0) : 0;
}

bool is_word(const std::optional<FoundMember>& member) {
  return member && is_whole(*member) && size_of(member->type) == kWordBytes;
}

bool is_pointer_to_chars(const std::optional<FoundMember>& member) {
  return member && is_whole(*member) && leads_to_chars(member->type, DW_TAG_pointer_type);
}

std::optional<TextPlace> by_pointer(const std::optional<FoundMember>& pointer,
                                    const std::optional<FoundMember>& length) {
  if (!is_pointer_to_chars(pointer) || !is_word(length)) return std::nullopt;
  return TextPlace{byte_of(*pointer), byte_of(*length)};
}

// ---- libc++'s string ----

BitsOfByte bits_of(const FoundMember& member) {
  return {byte_of(member), static_cast<uint8_t>(member.first_bit % CHAR_BIT),
          static_cast<uint8_t>(member.bit_count)};
}

bool is_in_one_byte(const FoundMember& member) {
  return member.bit_count > 0 && member.first_bit % CHAR_BIT + member.bit_count <= CHAR_BIT;
}

class LibcxxString {
 public:
  LibcxxString(const Die& parts, uint64_t first_bit)
      : long_text_(member(parts, first_bit, "__l", "__data_")),
        long_length_(member(parts, first_bit, "__l", "__size_")),
        capacity_(member(parts, first_bit, "__l", "__cap_")),
        long_flag_(member(parts, first_bit, "__l", "__is_long_")),
        short_text_(member(parts, first_bit, "__s", "__data_")),
        short_length_(member(parts, first_bit, "__s", "__size_")),
        short_flag_(member(parts, first_bit, "__s", "__is_long_")) {}

  std::optional<TextPlace> place() const {
    auto text = by_pointer(long_text_, long_length_);
    const bool has_short = short_text_ && is_whole(*short_text_) &&
                           leads_to_chars(short_text_->type, DW_TAG_array_type) && short_length_;
    if (!text || !has_short) return std::nullopt;
    text->when_short = short_flag_ ? with_named_flag() : with_unnamed_flag();
    return text->when_short ? text : std::nullopt;
  }

 private:
  static std::optional<FoundMember> member(const Die& parts, uint64_t first_bit,
                                           std::string_view part, std::string_view name) {
    auto found = member_at(parts, {part, name});
    if (found) found->first_bit += first_bit;
    return found;
  }

  std::optional<ShortText> with_named_flag() const {
    const bool is_known = long_flag_ && long_flag_->first_bit == short_flag_->first_bit &&
                          long_flag_->bit_count == 1 && short_flag_->bit_count == 1 &&
                          is_in_one_byte(*short_length_) && short_length_->bit_count == 7 &&
                          byte_of(*short_length_) == byte_of(*short_flag_) &&
                          short_length_->first_bit != short_flag_->first_bit;
    if (!is_known) return std::nullopt;
    return ShortText{bits_of(*short_flag_), bits_of(*short_length_), byte_of(*short_text_)};
  }

  // Of the byte with the short length, which is within the capacity of a long text.
  std::optional<ShortText> with_unnamed_flag() const {
    const bool is_byte = is_whole(*short_length_) && size_of(short_length_->type) == 1;
    if (!is_byte || long_flag_ || !is_word(capacity_)) return std::nullopt;
    const uint64_t at = byte_of(*short_length_), capacity = byte_of(*capacity_);
    if (at == capacity && byte_of(*short_text_) == at + 1)
      return ShortText{{at, 0, 1}, {at, 1, 7}, byte_of(*short_text_)};
    if (at == capacity + kWordBytes - 1 && byte_of(*short_text_) == byte_of(*long_text_))
      return ShortText{{at, 7, 1}, {at, 0, 7}, byte_of(*short_text_)};
    return std::nullopt;
  }

  std::optional<FoundMember> long_text_, long_length_, capacity_, long_flag_;
  std::optional<FoundMember> short_text_, short_length_, short_flag_;
};

std::optional<TextPlace> text_of_libcxx(const Die& type) {
  auto parts = member_at(type, {"__r_", "__value_"});
  if (!parts) parts = member_at(type, {"__rep_"});
  const auto plain = parts && is_whole(*parts) ? stripped(parts->type) : std::nullopt;
  return plain ? LibcxxString(*plain, parts->first_bit).place() : std::nullopt;
}

bool is_named(const Die& type, std::string_view name) {
  const std::string own = dwarf::name_of(type);
  return own == name || (own.starts_with(name) && own[name.size()] == '<');
}

}  // namespace

bool is_text_class(const Die& type) {
  const unsigned tag = dwarf::tag_of(type);
  return (tag == DW_TAG_structure_type || tag == DW_TAG_class_type) &&
         (is_named(type, "basic_string") || is_named(type, "basic_string_view"));
}

TextOfClass text_of_class(const Die& type) {
  const auto member = [&](std::string_view name) { return member_at(type, {name}); };
  const auto pointer = member_at(type, {"_M_dataplus", "_M_p"});
  if (auto place = by_pointer(pointer, member("_M_string_length"))) return {place};
  if (auto place = by_pointer(member("_M_str"), member("_M_len"))) return {place};
  if (auto place = by_pointer(member("__data_"), member("__size_"))) return {place};
  if (auto place = by_pointer(member("__data"), member("__size"))) return {place};
  if (auto place = text_of_libcxx(type)) return {place};
  if (pointer && !member("_M_string_length"))
    return {{},
            "this is a string of the old kind of libstdc++, which has its length before its "
            "characters: cstr() of its address reads up to the first 0"};
  if (pointer) return {{}, "this is a string of other characters than char"};
  return {{}, "this is a string whose members are not those of a known library, or not of char"};
}

}  // namespace tracectl
