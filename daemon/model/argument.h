// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tracectl {

// The general registers of x86-64 in the order of their numbers in instruction encodings.
enum class Register : uint8_t {
  rax,
  rcx,
  rdx,
  rbx,
  rsp,
  rbp,
  rsi,
  rdi,
  r8,
  r9,
  r10,
  r11,
  r12,
  r13,
  r14,
  r15,
  rip,  // the address of the probed instruction
  none = 255,
};

// Where the value of one argument of a probe is found when the probe is hit, and its type.
struct Argument {
  enum class Place : uint8_t {
    unreadable,  // in no place this program can read (an SSE register, say); the probe still works
    constant,    // `offset` is the value
    in_register,
    memory,  // at base + index * scale + offset
  };

  Place place = Place::unreadable;
  uint8_t size_bytes = 8;  // 1, 2, 4 or 8
  bool is_signed = false;
  bool is_float = false;       // the bits of a float or double
  bool high_byte = false;      // %ah, %bh, %ch, %dh: bits 8 to 15 of the register
  bool is_string = false;      // a value of an event: the bits count the event's strings
  bool link_relative = false;  // memory: `offset` is an address in the file's own address space
  Register base = Register::none;
  Register index = Register::none;
  uint8_t scale = 1;  // 1, 2, 4 or 8
  int64_t offset = 0;
  std::string text = {};  // the argument as the note has it, or why it cannot be read

  bool operator==(const Argument&) const = default;
};

using Arguments = std::vector<Argument>;

// s32, u64, f64: as listed to users.
std::string type_name(const Argument& argument);

}  // namespace tracectl
