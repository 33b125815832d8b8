// SPDX-License-Identifier: BSD-2-Clause
//
// Structs to JSON and back, driven by the structs' own `fields` lists (messages.h). Reading is
// strict: what is missing, ill-typed, out of range or unknown is refused by its path, as in
// `target.pids[2]`. Nothing here throws on bad input.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "daemon/base/nearest.h"
#include "daemon/base/result.h"
#include "daemon/protocol/messages.h"

namespace tracectl::protocol {

inline constexpr size_t kMaxDepth = 32;  // of arrays and objects within one another

// Parses one JSON text of at most kMaxDepth levels.
Result<nlohmann::json> parse_json(std::string_view text);

// The text of a value on one line. Bytes that are not UTF-8 become U+FFFD.
std::string text_of(const nlohmann::json& value);

// Where in a document the reader is; its text is made only for an error.
struct Path {
  const Path* parent = nullptr;
  std::string_view name = {};  // of a member; empty for an element
  size_t index = 0;            // of an element

  std::string text() const;
};

namespace codec {

using nlohmann::json;

Error ill_typed(const Path& path, const char* expected, const json& got);
Error out_of_range(const Path& path, const char* range);
Error too_many(const Path& path, size_t most);
Error missing(const Path& path);
Error unknown(const Path& path, std::span<const std::string_view> known);

// A visitor for the fields of a default-made T that only wants a type's list.
struct AnyField {
  template <class V> void operator()(const char*, const V&) {}
  template <class V> void optional(const char*, const V&) {}
};

template <class T>
concept Message = requires(T& value) {
  T::fields(value, AnyField{});
};

template <class T> struct IsOptional : std::false_type {};
template <class T> struct IsOptional<std::optional<T>> : std::true_type {};

// ---- writing ----

inline json write(bool value) { return value; }
inline json write(int64_t value) { return value; }
inline json write(uint64_t value) { return value; }
inline json write(double value) { return value; }
inline json write(const std::string& value) { return value; }
inline json write(std::monostate) { return nullptr; }
template <class... T> json write(const std::variant<T...>& value);
template <class V> json write(const Named<V>& values);
template <Message T> json write(const T& value);

template <class... T> json write(const std::variant<T...>& value) {
  return std::visit([](const auto& held) { return write(held); }, value);
}

template <class V> json write(const Named<V>& values) {
  json out = json::object();
  for (const auto& [name, value] : values) out[name] = write(value);
  return out;
}

template <class T> json write(const std::vector<T>& values) {
  json out = json::array();
  for (const T& value : values) out.push_back(write(value));
  return out;
}

class Writer {
 public:
  explicit Writer(json& out) : out_(out) {}

  template <class V> void operator()(const char* name, const V& value) {
    out_[name] = write(value);
  }
  template <class V> void operator()(const char* name, const std::optional<V>& value) {
    if (value) out_[name] = write(*value);
  }
  template <class V> void optional(const char* name, const V& value) { (*this)(name, value); }

 private:
  json& out_;
};

template <Message T> json write(const T& value) {
  json out = json::object();
  T::fields(value, Writer{out});
  return out;
}

// ---- reading ----

Status read(const json& in, const Path& path, bool& out);
Status read(const json& in, const Path& path, int64_t& out);
Status read(const json& in, const Path& path, uint64_t& out);
Status read(const json& in, const Path& path, double& out);
Status read(const json& in, const Path& path, std::string& out);
Status read(const json& in, const Path& path, Integer& out);
Status read(const json& in, const Path& path, Key& out);
Status read(const json& in, const Path& path, Scalar& out);
template <Message T> Status read(const json& in, const Path& path, T& out);
template <class T> Status read(const json& in, const Path& path, std::vector<T>& out);
template <class V> Status read(const json& in, const Path& path, Named<V>& out);

template <class T> Status read(const json& in, const Path& path, std::optional<T>& out) {
  return read(in, path, out.emplace());
}

template <class T> Status read(const json& in, const Path& path, std::vector<T>& out) {
  if (!in.is_array()) return ill_typed(path, "an array", in);
  out.clear();
  out.reserve(in.size());
  for (const json& element : in) {
    Path at{&path, {}, out.size()};
    if (Status status = read(element, at, out.emplace_back()); !status) return status;
  }
  return ok();
}

template <class V> Status read(const json& in, const Path& path, Named<V>& out) {
  if (!in.is_object()) return ill_typed(path, "an object", in);
  if (in.size() > kMaxNamed) return too_many(path, kMaxNamed);
  out.clear();
  for (const auto& [name, value] : in.items()) {
    Path at{&path, name};
    if (Status status = read(value, at, out[name]); !status) return status;
  }
  return ok();
}

// Reads each listed field, remembers the names for the check of unknown ones, stops at the first
// error.
class Reader {
 public:
  Reader(const json& in, const Path& path) : in_(in), path_(path) {}

  template <class V> void operator()(const char* name, V& value) {
    take(name, value, !IsOptional<V>::value);
  }
  template <class V> void optional(const char* name, V& value) { take(name, value, false); }

  Status finish();

 private:
  template <class V> void take(const char* name, V& value, bool required) {
    known_.push_back(name);
    if (!status_) return;
    Path at{&path_, name};
    auto found = in_.find(name);
    if (found != in_.end())
      status_ = read(*found, at, value);
    else if (required)
      status_ = missing(at);
  }

  const json& in_;
  const Path& path_;
  std::vector<std::string_view> known_;
  Status status_ = ok();
};

template <Message T> Status read(const json& in, const Path& path, T& out) {
  if (!in.is_object()) return ill_typed(path, "an object", in);
  Reader reader{in, path};
  T::fields(out, reader);
  return reader.finish();
}

}  // namespace codec

template <class T> nlohmann::json to_json(const T& value) { return codec::write(value); }

template <class T> Result<T> from_json(const nlohmann::json& in) {
  T out;
  if (Status status = codec::read(in, Path{}, out); !status) return status.error();
  return out;
}

}  // namespace tracectl::protocol
