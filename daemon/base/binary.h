// SPDX-License-Identifier: BSD-2-Clause
//
// Values to bytes and back, by the structs' lists of fields (fields.h).
//
//   boolean, integer of 8 bits    one byte
//   wider integer                 a varint (bytes.h), zigzag-coded if the type is signed
//   enumerator                    one byte: its number
//   double                        8 bytes, little endian
//   text, bytes                   their number as a varint, and they
//   optional                      one byte, 0 or 1, and the value if it is 1
//   list                          the number of elements as a varint, and they
//   array                         its elements
//   map                           the number of entries as a varint, and keys and values in turn, sorted by key
//   variant                       one byte: the index of the alternative, and its value
//   struct                        its fields, in the order of the list
//   shared object                 a varint: 0 for null, or the number of the object among those of its type; a
//                                 number that is one more than those so far is followed by the object
//
// The bytes say nothing of types, so both sides must have the same lists. What is kept for another version of the
// program begins with a version of its own.
//
// The reader trusts nothing. It refuses what ends early or late, numbers that do not fit their types, enumerators
// and alternatives that do not exist, and keys that occur twice; and what exceeds its bounds.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "daemon/base/bytes.h"
#include "daemon/base/fields.h"

namespace tracectl::binary {

// Structs lie within each other this deep at most: only a type that contains itself can be deeper.
inline constexpr unsigned kMostDepth = 64;

struct Bounds {
  size_t items = 1 << 20;  // elements of all lists, entries of all maps and shared objects together
  size_t items_of_list = 1 << 20;
  size_t text_bytes = 64 << 10;  // of one text
};

class Writer {
 public:
  explicit Writer(std::string& bytes) : to_(bytes) {}

  template <class T> void write(const T& value) { write(type_of<T>(), &value); }
  // Begins a list, whose elements are then written one by one.
  void write_count(size_t count) { to_.varint(count); }

 private:
  void write(const Type& type, const void* value);
  void write_integer(const Type& type, const void* value);
  void write_elements(const Elements& elements, const void* all);
  void write_entries(const Entries& entries, const void* all);
  void write_shared(const Type& type, const void* pointer);

  using Numbers = std::unordered_map<const void*, uint64_t>;
  Numbers& numbers_of(const Type& type);

  ByteWriter to_;
  std::vector<std::pair<const Type*, Numbers>> numbers_;  // of shared objects
};

// After the first failed read all later ones fail.
class Reader {
 public:
  explicit Reader(std::string_view bytes, const Bounds& bounds = {})
      : from_(bytes), bounds_(bounds), items_left_(bounds.items) {}

  template <class T> bool read(T& value) { return read(type_of<T>(), &value); }
  // The number of elements of a list, which are then read one by one.
  std::optional<uint64_t> read_count();

  // The shared objects of a type that were read so far, so that each can be checked once.
  using Objects = std::vector<std::shared_ptr<void>>;
  template <class T> const Objects& objects() {
    return objects_of(type_of<std::shared_ptr<const T>>());
  }

  // All that was not read.
  std::string_view rest() { return from_.rest(); }
  bool at_end() const { return !from_.failed() && from_.at_end(); }

 private:
  bool read(const Type& type, void* value);
  // May return true for a value that was cut off.
  bool read_in(const Type& type, void* value);
  bool read_boolean(bool& value);
  bool read_integer(const Type& type, void* value);
  bool read_choice(const Type& type, void* value);
  bool read_text(std::string_view& text);
  bool read_optional(const Type& type, void* value);
  bool read_list(const Elements& elements, void* value);
  bool read_array(const Elements& elements, void* value);
  bool read_entries(const Type& type, void* value);
  bool read_variant(const Alternatives& held, void* value);
  bool read_message(const Message& message, void* value);
  bool read_shared(const Type& type, void* value);
  bool take_items(uint64_t count);
  Objects& objects_of(const Type& type);
  bool fail() { return from_.take(UINT64_MAX), false; }

  ByteReader from_;
  Bounds bounds_;
  size_t items_left_;
  unsigned depth_ = 0;
  std::vector<std::pair<const Type*, Objects>> objects_;  // shared, in the order of their numbers
};

template <class T> std::string encode(const T& value) {
  std::string bytes;
  Writer(bytes).write(value);
  return bytes;
}

template <class T> std::optional<T> decode(std::string_view bytes, const Bounds& bounds = {}) {
  Reader reader(bytes, bounds);
  T value{};
  if (!reader.read(value) || !reader.at_end()) return std::nullopt;
  return value;
}

}  // namespace tracectl::binary
