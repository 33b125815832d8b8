// SPDX-License-Identifier: BSD-2-Clause
//
// User stacks. The rules for these structs: daemon/protocol/messages.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tracectl::protocol {

// Unknown members are absent. Among functions inlined at one address, the innermost comes first.
struct FramePart {
  // In the process: of the probed instruction, or else the return address. Absent in keys of rows: these are
  // about code, whatever process runs it.
  std::optional<uint64_t> address = {};
  std::optional<std::string> module = {};        // path of the file, as the process had it
  std::optional<std::string> build_id = {};      // of that file, hex
  std::optional<uint64_t> offset = {};           // `address` in the file's own address space
  std::optional<std::string> function = {};      // demangled
  std::optional<uint64_t> function_offset = {};  // bytes from its start; not if inlined
  std::optional<std::string> file = {};          // source
  std::optional<uint64_t> line = {};
  bool inlined = false;  // into the next frame
  // The frame's size on the stack in bytes, with its return address; only for stacks by unwind tables, and
  // not for the last frame or inlined functions.
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
