// SPDX-License-Identifier: BSD-2-Clause
//
// The encoding of numbers and texts in trace files (docs/trace-file.md) and in binary.h. Integers of fixed size are
// little endian; a varint is LEB128: seven bits a byte, the least significant first, the high bit
// set in all bytes but the last; signed numbers are zigzag-coded varints.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tracectl {

inline constexpr size_t kMostVarintBytes = 10;
inline size_t varint_bytes(uint64_t value) {
  return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7;
}

inline uint64_t zigzag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}
inline int64_t unzigzag(uint64_t coded) {
  return static_cast<int64_t>(coded >> 1 ^ (~(coded & 1) + 1));
}
// The distance from `from` to `to`, around the end of the range if that is shorter.
inline uint64_t coded_way(uint64_t from, uint64_t to) {
  return zigzag(static_cast<int64_t>(to - from));
}
inline uint64_t after_way(uint64_t from, uint64_t coded) {
  return from + static_cast<uint64_t>(unzigzag(coded));
}

class ByteWriter {
 public:
  explicit ByteWriter(std::string& out) : out_(out) {}

  template <std::unsigned_integral T> void fixed(T value) {
    for (size_t i = 0; i < sizeof(T); ++i) out_ += static_cast<char>(value >> (8 * i));
  }
  void varint(uint64_t value) {
    if (value < 0x80) return fixed(static_cast<uint8_t>(value));  // most of them
    char bytes[kMostVarintBytes];
    size_t size = 0;
    for (; value >= 0x80; value >>= 7) bytes[size++] = static_cast<char>(value | 0x80);
    bytes[size++] = static_cast<char>(value);
    out_.append(bytes, size);
  }
  void text(std::string_view bytes) {
    varint(bytes.size());
    out_ += bytes;
  }

 private:
  std::string& out_;
};

// Writes into memory that has room for all of it. Pass it by value: its writes could alias any
// memory, so the compiler would reload a writer that is in memory after each byte.
class PlaceWriter {
 public:
  explicit PlaceWriter(char* at) : at_(at) {}

  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) *at_++ = static_cast<char>(value | 0x80);
    *at_++ = static_cast<char>(value);
  }
  void text(std::string_view bytes) {
    varint(bytes.size());
    if (!bytes.empty()) std::memcpy(at_, bytes.data(), bytes.size());
    at_ += bytes.size();
  }
  char* at() const { return at_; }

 private:
  char* at_;
};

// Reads untrusted bytes. After the first failed read all later ones fail and return 0. Check
// failed() before you use what was read.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  template <std::unsigned_integral T> T fixed() {
    const std::string_view bytes = take(sizeof(T));
    T value = 0;
    for (size_t i = 0; i < bytes.size(); ++i)
      value = static_cast<T>(value | static_cast<T>(static_cast<uint8_t>(bytes[i])) << (8 * i));
    return value;
  }
  uint64_t varint() {
    // Most varints have one byte.
    if (at_ != end_ && static_cast<uint8_t>(*at_) < 0x80) return static_cast<uint8_t>(*at_++);
    return longer_varint();
  }
  // A varint; fails if it does not fit the type.
  template <std::unsigned_integral T> T small() {
    const uint64_t value = varint();
    if (static_cast<T>(value) == value) return static_cast<T>(value);
    return fail(), T{0};
  }
  std::string_view text() { return take(varint()); }
  // The next `size` bytes. Empty, and failed(), if there are fewer.
  std::string_view take(uint64_t size) {
    if (size > left()) return fail(), std::string_view{};
    const std::string_view bytes(at_, static_cast<size_t>(size));
    at_ += size;
    return bytes;
  }

  std::string_view rest() { return take(left()); }

  bool failed() const { return failed_; }
  bool at_end() const { return at_ == end_; }

 private:
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  uint64_t longer_varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at_ != end_; shift += 7) {
      const auto bits = static_cast<uint8_t>(*at_++);
      if (shift == 63 && bits > 1) break;  // more than 64 bits
      value |= static_cast<uint64_t>(bits & 0x7f) << shift;
      if (!(bits & 0x80)) return value;
    }
    return fail(), 0;
  }
  void fail() {
    failed_ = true;
    at_ = end_;
  }

  const char* at_;
  const char* end_;
  bool failed_ = false;
};

}  // namespace tracectl
