// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/base/binary.h"

#include <algorithm>

#include "daemon/base/narrow_integer.h"

namespace tracectl::binary {
namespace {

using Kind = Type::Kind;

const std::string kNoName;

const void* member_of(const void* message, const Field& field) {
  return static_cast<const char*>(message) + field.offset_bytes;
}
void* member_of(void* message, const Field& field) {
  return static_cast<char*>(message) + field.offset_bytes;
}

// The entry of a type; made if there is none. There are few.
template <class T> T& of_type(std::vector<std::pair<const Type*, T>>& all, const Type& type) {
  for (auto& [known, value] : all)
    if (known == &type) return value;
  return all.emplace_back(&type, T{}).second;
}

}  // namespace

// ---- writing ----

void Writer::write(const Type& type, const void* value) {
  switch (type.kind) {
    case Kind::nothing: return;
    case Kind::boolean: return to_.fixed(static_cast<uint8_t>(*static_cast<const bool*>(value)));
    case Kind::int64: return to_.varint(zigzag(*static_cast<const int64_t*>(value)));
    case Kind::uint64: return to_.varint(*static_cast<const uint64_t*>(value));
    case Kind::real: return to_.fixed(value_at<uint64_t>(value));
    case Kind::text: return to_.text(*static_cast<const std::string*>(value));
    case Kind::bytes: return to_.text(type.bytes->get(value));
    case Kind::integer: return write_integer(type, value);
    case Kind::choice: return to_.fixed(static_cast<uint8_t>(unsigned_at(value, type.width.bytes)));
    case Kind::optional:
      to_.fixed(static_cast<uint8_t>(type.elements->count(value)));
      return write_elements(*type.elements, value);
    case Kind::list:
      write_count(type.elements->count(value));
      return write_elements(*type.elements, value);
    case Kind::array: return write_elements(*type.elements, value);
    case Kind::named:
    case Kind::map: return write_entries(*type.entries, value);
    case Kind::shared: return write_shared(type, value);
    case Kind::variant: {
      const Alternatives& held = *type.alternatives;
      const size_t index = held.index(value);
      to_.fixed(static_cast<uint8_t>(index));
      return write(held.types[index](), held.get(value));
    }
    case Kind::message:
      for (const Field& field : type.message->fields())
        write(field.type(), member_of(value, field));
  }
}

void Writer::write_integer(const Type& type, const void* value) {
  const auto [bytes, is_signed, last] = type.width;
  if (bytes == 1)
    to_.fixed(value_at<uint8_t>(value));
  else
    to_.varint(is_signed ? zigzag(signed_at(value, bytes)) : unsigned_at(value, bytes));
}

void Writer::write_elements(const Elements& elements, const void* all) {
  const size_t count = elements.count(all);
  const Type& type = elements.type();
  for (size_t i = 0; i < count; ++i) write(type, elements.at(all, i));
}

void Writer::write_entries(const Entries& entries, const void* all) {
  write_count(entries.count(all));
  entries.each(all, [&](const void* key, const void* value) {
    write(entries.key(), key);
    write(entries.value(), value);
  });
}

// An object has its number when it is complete, as for the reader.
void Writer::write_shared(const Type& type, const void* pointer) {
  const void* object = type.shared->get(pointer);
  if (!object) return to_.varint(0);
  const Numbers& known = numbers_of(type);
  if (const auto at = known.find(object); at != known.end()) return to_.varint(at->second);
  to_.varint(known.size() + 1);
  write(type.shared->type(), object);
  Numbers& numbers = numbers_of(type);
  numbers.emplace(object, numbers.size() + 1);
}

Writer::Numbers& Writer::numbers_of(const Type& type) { return of_type(numbers_, type); }

// ---- reading ----

bool Reader::read(const Type& type, void* value) {
  return (read_in(type, value) && !from_.failed()) || fail();
}

bool Reader::read_in(const Type& type, void* value) {
  switch (type.kind) {
    case Kind::nothing: return true;
    case Kind::boolean: return read_boolean(*static_cast<bool*>(value));
    case Kind::int64: return *static_cast<int64_t*>(value) = unzigzag(from_.varint()), true;
    case Kind::uint64: return *static_cast<uint64_t*>(value) = from_.varint(), true;
    case Kind::real: return put(from_.fixed<uint64_t>(), value, sizeof(double)), true;
    case Kind::integer: return read_integer(type, value);
    case Kind::choice: return read_choice(type, value);
    case Kind::text: {
      std::string_view text;
      return read_text(text) && (static_cast<std::string*>(value)->assign(text), true);
    }
    case Kind::bytes: {
      std::string_view bytes;
      return read_text(bytes) && (type.bytes->set(value, bytes), true);
    }
    case Kind::optional: return read_optional(type, value);
    case Kind::list: return read_list(*type.elements, value);
    case Kind::array: return read_array(*type.elements, value);
    case Kind::named:
    case Kind::map: return read_entries(type, value);
    case Kind::variant: return read_variant(*type.alternatives, value);
    case Kind::message: return read_message(*type.message, value);
    case Kind::shared: return read_shared(type, value);
  }
  return false;
}

bool Reader::read_boolean(bool& value) {
  const auto byte = from_.fixed<uint8_t>();
  value = byte == 1;
  return byte <= 1;
}

bool Reader::read_integer(const Type& type, void* value) {
  const auto [bytes, is_signed, last] = type.width;
  if (bytes == 1) return put(from_.fixed<uint8_t>(), value, bytes), true;
  const uint64_t coded = from_.varint();
  const uint64_t number = is_signed ? static_cast<uint64_t>(unzigzag(coded)) : coded;
  put(number, value, bytes);
  return number ==
         (is_signed ? static_cast<uint64_t>(signed_at(value, bytes)) : unsigned_at(value, bytes));
}

bool Reader::read_choice(const Type& type, void* value) {
  const auto number = from_.fixed<uint8_t>();
  put(number, value, type.width.bytes);
  return number <= type.width.last;
}

bool Reader::read_text(std::string_view& text) {
  const uint64_t size = from_.varint();
  text = from_.take(size <= bounds_.text_bytes ? size : UINT64_MAX);
  return !from_.failed();
}

bool Reader::read_optional(const Type& type, void* value) {
  bool is_there = false;
  if (!read_boolean(is_there) || from_.failed()) return false;
  type.elements->clear(value);
  return !is_there || read_in(type.elements->type(), type.elements->add(value, kNoName));
}

bool Reader::take_items(uint64_t count) {
  if (count > items_left_ || count > bounds_.items_of_list) return false;
  items_left_ -= count;
  return true;
}

std::optional<uint64_t> Reader::read_count() {
  const uint64_t count = from_.varint();
  if (from_.failed() || !take_items(count)) return fail(), std::nullopt;
  return count;
}

// Makes an element only when the one before it was read, so a false count allocates nothing.
bool Reader::read_list(const Elements& elements, void* value) {
  const auto count = read_count();
  if (!count) return false;
  elements.clear(value);
  const Type& type = elements.type();
  for (uint64_t i = 0; i < *count; ++i)
    if (!read(type, elements.add(value, kNoName))) return false;
  return true;
}

bool Reader::read_array(const Elements& elements, void* value) {
  const Type& type = elements.type();
  // The element is a part of `value`, which is not const.
  for (size_t i = 0; i < elements.count(value); ++i)
    if (!read(type, const_cast<void*>(elements.at(value, i)))) return false;
  return true;
}

bool Reader::read_entries(const Type& type, void* value) {
  const Entries& entries = *type.entries;
  const auto count = read_count();
  if (!count) return false;
  const auto read_entry = [&](void* key, void* held) {
    return read(entries.key(), key) && read(entries.value(), held);
  };
  for (uint64_t i = 0; i < *count; ++i)
    if (!entries.add(value, read_entry)) return false;
  return true;
}

bool Reader::read_variant(const Alternatives& held, void* value) {
  const auto index = from_.fixed<uint8_t>();
  return index < held.types.size() && read(held.types[index](), held.emplace(value, index));
}

bool Reader::read_message(const Message& message, void* value) {
  if (depth_ == kMostDepth) return false;
  ++depth_;
  const auto& fields = message.fields();
  const bool are_read = std::all_of(fields.begin(), fields.end(), [&](const Field& field) {
    return read_in(field.type(), member_of(value, field));
  });
  --depth_;
  return are_read;
}

bool Reader::read_shared(const Type& type, void* value) {
  const uint64_t number = from_.varint();
  const Objects& known = objects_of(type);
  if (from_.failed() || number > known.size() + 1) return false;
  if (number == 0) return type.shared->set(value, nullptr), true;
  if (number <= known.size()) return type.shared->set(value, known[number - 1]), true;
  if (!take_items(1)) return false;
  auto made = type.shared->make();
  if (!read(type.shared->type(), made.get())) return false;
  type.shared->set(value, made);
  objects_of(type).push_back(std::move(made));
  return true;
}

Reader::Objects& Reader::objects_of(const Type& type) { return of_type(objects_, type); }

}  // namespace tracectl::binary
