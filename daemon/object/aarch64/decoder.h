// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace tracectl {

// The A64 instruction at the start of `bytes`; nullopt if there is none. An encoding counts as an instruction unless
// the architecture leaves it unallocated as a whole group, or it is an unallocated branch: what a later extension adds
// elsewhere runs on to the next instruction, and Capstone 4 does not know all that programs use today.
std::optional<uint32_t> instruction_in(std::span<const uint8_t> bytes);

// The distance from the instruction to the target of a direct jump or call; else nullopt.
std::optional<int64_t> relative_target(uint32_t word);

// The address that adr, or the address of the page that adrp, forms at an address; else nullopt.
std::optional<uint64_t> relative_address(uint32_t word, uint64_t address);

bool is_call(uint32_t word);
// A return to the address in another register than x30 is one, too.
bool is_indirect_jump(uint32_t word);
bool is_return(uint32_t word);

bool writes_stack_pointer(uint32_t word);

// Whether it may write, or may read or write, a register x0 to x30, or its lower half. Certain if they say no. A call
// counts as one instruction here, without what the callee does.
bool may_write(uint32_t word, uint8_t number);
bool may_use(uint32_t word, uint8_t number);

// Whether a function finds the register's value again after a call.
bool survives_calls(uint8_t number);

}  // namespace tracectl
