// SPDX-License-Identifier: BSD-2-Clause
//
// User stacks. The rules of these structs: daemon/protocol/messages.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tracectl::protocol {

// What is not known is not there. Of functions inlined at one address the innermost comes first.
struct FramePart {
  // In the process: of the probed instruction, else where a call returns to. Not of what rows are kept
  // by: they are of the code, whatever process runs it.
  std::optional<uint64_t> address = {};
  std::optional<std::string> module = {};        // path of the file, as the process had it
  std::optional<std::string> build_id = {};      // of it, hex
  std::optional<uint64_t> offset = {};           // `address` in the file's own address space
  std::optional<std::string> function = {};      // demangled
  std::optional<uint64_t> function_offset = {};  // bytes from its start; not of what is inlined
  std::optional<std::string> file = {};          // source
  std::optional<uint64_t> line = {};
  bool inlined = false;  // into the next frame
  // Bytes of the stack that it takes up, with its return address; of stacks by unwind tables, and not
  // of the last frame or what is inlined.
  std::optional<uint64_t> size_bytes = {};
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("address", s.address);
    f("module", s.module);
    f("build_id", s.build_id);
    f("offset", s.offset);
    f("function", s.function);
    f("function_offset", s.function_offset);
    f("file", s.file);
    f("line", s.line);
    f.optional("inlined", s.inlined);
    f("size_bytes", s.size_bytes);
  }
};

}  // namespace tracectl::protocol
