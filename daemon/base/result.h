// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cerrno>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace tracectl {

// The stable classes of failure; the protocol gives each one number (docs: tracectl-protocol(7)).
enum class Code { invalid, not_found, denied, busy, exhausted, unsupported, kernel };
constexpr Code last_of(Code) { return Code::kernel; }

// A place in a text that the user wrote, for the caret under it.
struct Spot {
  std::string text;
  size_t column = 0;  // bytes from the start of `text`

  bool operator==(const Spot&) const = default;
};

struct Error {
  Code code = Code::invalid;
  std::string message;
  std::string field = {};         // the protocol field at fault, if one is
  std::optional<Spot> spot = {};  // where in that field's text

  static Error from_errno(const std::string& what, int err = errno);

  // The same error, with the action that failed put before its message.
  Error in(const std::string& context) const;

  // Not the spot: it is found where the user's text is read.
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("code", s.code);
    f("message", s.message);
    f("field", s.field);
  }
};

// A value or an error, with the member names of std::expected so that C++23 can replace it.
// To access the half that is not there is a bug, and throws bad_variant_access.
template <class T = std::monostate> class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }

  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

using Status = Result<>;
inline Status ok() { return std::monostate{}; }

// Moves the value to its place, or returns the error.
template <class T> Status assign(T& place, Result<T> made) {
  if (!made) return made.error();
  place = *std::move(made);
  return ok();
}

}  // namespace tracectl
