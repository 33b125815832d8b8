// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/arg_spec.h"

#include <algorithm>
#include <string>

namespace tracectl {
namespace {

// Parses one argument; each step returns whether it matched.
class ArgumentReader {
 public:
  ArgumentReader(std::string_view text, const SymbolLookup& symbol)
      : cursor_(text), symbol_(symbol) {
    argument_.text = text;
  }

  Argument read() {
    explicit_size_ = text_has_size();
    if (explicit_size_ && !read_size()) return unreadable();
    if (!read_operand(cursor_, explicit_size_, symbol_, argument_) || !cursor_.at_end())
      return unreadable();
    return argument_;
  }

 private:
  Argument unreadable() {
    argument_.place = Argument::Place::unreadable;
    return argument_;
  }

  bool text_has_size() const {
    const size_t at = argument_.text.find('@');
    return at != std::string::npos && at > 0 &&
           argument_.text.find_first_not_of("-0123456789f") == at;
  }

  bool read_size() {
    const auto size = cursor_.number();
    if (!size) return false;
    argument_.is_float = cursor_.skip('f');
    argument_.is_signed = *size < 0;
    const uint64_t bytes =
        *size < 0 ? uint64_t{0} - static_cast<uint64_t>(*size) : static_cast<uint64_t>(*size);
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) {
      set_other_size(bytes);
      return false;
    }
    argument_.size_bytes = static_cast<uint8_t>(bytes);
    return cursor_.skip('@');
  }

  // A struct, or a number of 16 bytes: reading its first 8 bytes would give another value.
  void set_other_size(uint64_t bytes) {
    const std::string size = std::to_string(bytes);
    const bool is_number = argument_.is_float || argument_.is_signed;
    argument_.declared_type = !is_number           ? size + " bytes"
                              : argument_.is_float ? size + "-byte float"
                                                   : size + "-byte integer";
    argument_.kind = Argument::Kind::aggregate;
    argument_.is_float = argument_.is_signed = false;
  }

  OperandText cursor_;
  const SymbolLookup& symbol_;
  Argument argument_;
  bool explicit_size_ = false;
};

// A space ends an argument, except between brackets: `[sp, 16]`.
size_t end_of_argument(std::string_view text) {
  bool inside = false;
  const auto ends = [&](char c) {
    if (c == '[' || c == ']') inside = c == '[';
    return !inside && (c == ' ' || c == '\t');
  };
  return static_cast<size_t>(std::ranges::find_if(text, ends) - text.begin());
}

}  // namespace

Arguments parse_arguments(std::string_view text, const SymbolLookup& symbol) {
  Arguments arguments;
  while (arguments.size() < kMostArguments) {
    const size_t start = text.find_first_not_of(" \t");
    if (start == std::string_view::npos) break;
    text.remove_prefix(start);
    const size_t end = end_of_argument(text);
    arguments.push_back(ArgumentReader(text.substr(0, end), symbol).read());
    text.remove_prefix(end);
  }
  return arguments;
}

}  // namespace tracectl
