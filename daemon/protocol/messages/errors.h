// SPDX-License-Identifier: BSD-2-Clause
//
// Why a request was refused. The rules for these structs: daemon/protocol/messages.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tracectl::protocol {

struct ErrorData {
  // "invalid", "not_found", "denied", "busy", "exhausted", "unsupported", "kernel".
  std::string code;
  std::optional<std::string> field;  // of the request, by path: target.pids[2]
  std::optional<std::string> text;   // the user's text in that field,
  std::optional<uint64_t> column;    // and the offset in bytes of the error in it
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("code", s.code);
    f("field", s.field);
    f("text", s.text);
    f("column", s.column);
  }
};
struct ErrorPart {
  int64_t code = 0;  // a JSON-RPC code, or the number of data.code
  std::string message;
  ErrorData data;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("code", s.code);
    f("message", s.message);
    f("data", s.data);
  }
};

}  // namespace tracectl::protocol
