// SPDX-License-Identifier: BSD-2-Clause
//
// User stacks: as a hit brings them, and as they are shown.
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

namespace tracectl {

constexpr unsigned kMostFrames = 127;
constexpr unsigned kDefaultFrames = 32;

// How the frames were found.
enum class StackBy : uint8_t {
  frame_pointers,  // rbp and what it leads to
  unwind_tables,   // .eh_frame, from a copied piece of the stack
};

// Why there are no more frames.
enum class StackEnd : uint8_t {
  outermost,          // there are none
  limit,              // as many were asked for
  unreadable,         // memory that a frame pointer leads to
  bad_frame_pointer,  // it does not lead up the stack: code without frame pointers has been there
  end_of_copy,        // what lies further up was not copied
  no_table,           // nothing says how to unwind the last frame
  unknown_process,    // it had ended or executed another program before anybody saw what it maps
};

std::string_view name_of(StackBy by);
std::string_view name_of(StackEnd end);
std::optional<StackBy> stack_by_named(std::string_view name);
std::optional<StackEnd> stack_end_named(std::string_view name);

// A place in code. Of code inlined into a function there are several with one address: the
// innermost first, the function's own last.
struct Frame {
  // In the process: of the probed instruction, else where a call returns to. 0 if it is of no one
  // process.
  uint64_t address = 0;
  std::string module;    // path of the file as the process had it; empty: in none that is known
  std::string build_id;  // hex; empty if the file has none
  uint64_t offset = 0;   // `address` in the file's own address space
  std::string function;  // demangled; empty if no symbol says
  uint64_t function_offset = 0;  // from the symbol's start; 0 of what is inlined
  std::string file;              // source; empty without debug information
  unsigned line = 0;
  bool inlined = false;  // into the next frame
  // Bytes of the stack that it takes up, with its return address. Not known of the outermost frame,
  // of what is inlined, and where frames were found by frame pointers.
  std::optional<uint64_t> size_bytes = {};

  auto operator<=>(const Frame&) const = default;
};

// main+0x1b, its module, its source: on one line, without its address where there is a name.
std::string to_string(const Frame& frame);

struct Stack {
  StackBy by = StackBy::frame_pointers;
  StackEnd end = StackEnd::outermost;
  std::vector<Frame> frames;  // innermost first

  auto operator<=>(const Stack&) const = default;
};

// A stack that rows are kept by, before anybody has looked up what is at its addresses.
struct StackAddresses {
  pid_t pid = 0;                    // of the process that had it
  uint64_t image = 0;               // which of its programs: Process::image()
  bool begins_with_caller = false;  // else with the probed instruction
  StackEnd end = StackEnd::outermost;
  std::vector<uint64_t> addresses = {};

  auto operator<=>(const StackAddresses&) const = default;
};

// As a hit brought it.
struct RawStack {
  static constexpr size_t kRegisters = 17;  // numbered as instructions do; the last is rip

  uint64_t image = 0;  // which of the process's programs has it: Process::image()
  unsigned most_frames = kDefaultFrames;
  StackEnd end = StackEnd::outermost;  // of addresses
  std::vector<uint64_t> addresses;     // by frame pointers; none: the rest is what there is
  bool begins_with_caller = false;     // the first of them is where a call returns to
  std::array<uint64_t, kRegisters> registers{};
  uint64_t start = 0;            // address of the first byte
  std::vector<std::byte> bytes;  // of the stack, upwards
};

}  // namespace tracectl
