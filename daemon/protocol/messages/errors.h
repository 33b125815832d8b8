// SPDX-License-Identifier: BSD-2-Clause
//
// Why a request was refused. The rules of these structs: daemon/protocol/messages.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tracectl::protocol {

struct ErrorData {
  std::string
      code;  // "invalid", "not_found", "denied", "busy", "exhausted", "unsupported", "kernel"
  std::optional<std::string> field;  // of the request, by path: target.pids[2]
  std::optional<std::string> text;   // what the user wrote there, and
  std::optional<uint64_t> column;    // the byte of it at which it went wrong
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("code", s.code);
    f("field", s.field);
    f("text", s.text);
    f("column", s.column);
  }
};
struct ErrorPart {
  int64_t code = 0;  // JSON-RPC's, or the number of data.code
  std::string message;
  ErrorData data;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("code", s.code);
    f("message", s.message);
    f("data", s.data);
  }
};

}  // namespace tracectl::protocol
