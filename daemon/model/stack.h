// SPDX-License-Identifier: BSD-2-Clause
//
// User stacks: raw as from a hit, and as shown.
#pragma once

#include <sys/types.h>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/model/register.h"

namespace tracectl {

constexpr unsigned kMostFrames = 127;
constexpr unsigned kDefaultFrames = 32;

// How the frames are found.
enum class StackBy : uint8_t {
  frame_pointers,  // the frame pointer and the frames it leads to
  unwind_tables,   // .eh_frame, from a copied piece of the stack
};
constexpr StackBy last_of(StackBy) { return StackBy::unwind_tables; }

// Why the frames end.
enum class StackEnd : uint8_t {
  outermost,          // there are none
  limit,              // the requested number was reached
  unreadable,         // a frame pointer leads to memory that cannot be read
  bad_frame_pointer,  // it does not lead up the stack: code without frame pointers was there
  end_of_copy,        // the rest of the stack was not copied
  no_table,           // the last frame has no unwind information
  unknown_process,    // it had ended or executed another program before its maps were read
};
constexpr StackEnd last_of(StackEnd) { return StackEnd::unknown_process; }

std::string_view name_of(StackBy by);
std::string_view name_of(StackEnd end);
std::optional<StackBy> stack_by_named(std::string_view name);
std::optional<StackEnd> stack_end_named(std::string_view name);

// A place in code. Functions inlined there have frames with the same address: the innermost first,
// the function itself last.
struct Frame {
  // In the process: of the probed instruction, or a return address. 0 if it does not belong to one
  // process.
  uint64_t address = 0;
  std::string module;            // path of the file in the process; empty if not known
  std::string build_id;          // hex; empty if the file has none
  uint64_t offset = 0;           // `address` in the file's own address space
  std::string function;          // demangled; empty if there is no symbol
  uint64_t function_offset = 0;  // from the symbol's start; 0 if inlined
  std::string file;              // source; empty without debug information
  unsigned line = 0;
  bool inlined = false;  // into the next frame
  // The bytes of stack that it uses, with its return address. Not known for the outermost frame,
  // for inlined functions, and for frames found by frame pointers.
  std::optional<uint64_t> size_bytes = {};

  auto operator<=>(const Frame&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("address", s.address);
    f("module", s.module);
    f("build_id", s.build_id);
    f("offset", s.offset);
    f("function", s.function);
    f("function_offset", s.function_offset);
    f("file", s.file);
    f("line", s.line);
    f("inlined", s.inlined);
    f("size_bytes", s.size_bytes);
  }
};

// "main+0x1b", its module and source, on one line; with its address only if there is no name. Frames without
// names are "0x7f12", or "BUILDID+0x12".
std::string to_string(const Frame& frame);

struct Stack {
  StackBy by = StackBy::frame_pointers;
  StackEnd end = StackEnd::outermost;
  std::vector<Frame> frames;  // innermost first

  auto operator<=>(const Stack&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("by", s.by);
    f("end", s.end);
    f("frames", s.frames);
  }
};

// What is shown of frames.
enum class StackFormat : uint8_t {
  symbols,   // all that is known
  raw,       // addresses in the process
  build_id,  // build ids of files, and the addresses in their own address spaces
};
constexpr StackFormat last_of(StackFormat) { return StackFormat::build_id; }

// "symbols", "raw", "build-id"
std::optional<StackFormat> stack_format_named(std::string_view name);
// Without names, except for StackFormat::symbols: a frame for each address. What the format shows and is not known
// is 0, or empty.
Stack shown_as(StackFormat format, Stack stack);
Frame shown_as(StackFormat format, const Frame& frame);

// A stack that is a key of rows, before its addresses are resolved.
struct StackAddresses {
  pid_t pid = 0;                    // the process that had it
  uint64_t image = 0;               // the program it executed: Process::image()
  bool begins_with_caller = false;  // otherwise with the probed instruction
  StackEnd end = StackEnd::outermost;
  std::vector<uint64_t> addresses = {};

  auto operator<=>(const StackAddresses&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("pid", s.pid);
    f("image", s.image);
    f("begins_with_caller", s.begins_with_caller);
    f("end", s.end);
    f("addresses", s.addresses);
  }
};

// A stack as it came with a hit.
struct RawStack {
  uint64_t image = 0;  // the program that the process executed: Process::image()
  unsigned most_frames = kDefaultFrames;
  StackEnd end = StackEnd::outermost;            // of `addresses`
  std::vector<uint64_t> addresses;               // by frame pointers; if empty, use the rest
  bool begins_with_caller = false;               // the first address is a return address
  std::array<uint64_t, kRegisters> registers{};  // by their numbers
  uint64_t start = 0;                            // address of the first byte
  std::vector<std::byte> bytes;                  // of the stack, upwards

  uint64_t value_of(Register reg) const { return registers[static_cast<size_t>(reg)]; }

  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("image", s.image);
    f("most_frames", s.most_frames);
    f("end", s.end);
    f("addresses", s.addresses);
    f("begins_with_caller", s.begins_with_caller);
    f("registers", s.registers);
    f("start", s.start);
    f("bytes", s.bytes);
  }
};

}  // namespace tracectl
