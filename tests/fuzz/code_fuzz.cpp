// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>

#include "daemon/object/code/call_targets.h"
#include "daemon/object/code/emulation.h"
#include "daemon/object/code/exits.h"
#include "daemon/object/code/instruction.h"
#include "daemon/object/code/patched_code.h"
#include "daemon/object/code/placement.h"

namespace {

using namespace tracectl;

bool is_in(const CodeRange& range, uint64_t address) {
  return address - range.address < range.bytes.size();
}

// Exits are in order, without duplicates, and each is an instruction of the function; a jump that leaves the
// function may lead back only to its entry.
void check_exits(const FunctionCode& function, std::span<const uint8_t> code,
                 const Surroundings& surroundings) {
  auto exits = find_exits(function, surroundings);
  if (!exits) return;
  uint64_t free_from = 0;
  for (const Exit& exit : *exits) {
    if (exit.address < free_from) std::abort();
    free_from = exit.address + 1;
    auto instruction = decode_instruction(code.subspan(exit.address - function.body.address));
    if (!instruction || instruction->length != exit.length || instruction->cost != exit.cost)
      std::abort();
    if (is_in(function.body, exit.target) && exit.target != function.body.address) std::abort();
  }
}

void check_exits(const FunctionCode& function, std::span<const uint8_t> code) {
  CodeRange all{function.body.address, code};
  Surroundings surroundings{
      .read =
          [&](uint64_t address, std::span<uint8_t> into) {
            for (size_t i = 0; i < into.size(); ++i) into[i] = code[(address + i) % code.size()];
            return into.size();
          },
      .part_at =
          [&](uint64_t address) { return is_in(all, address) ? std::optional{all} : std::nullopt; },
      .is_function = [](uint64_t address) { return address % 2 == 0; }};
  check_exits(function, code, {});
  check_exits(function, code, surroundings);
}

// Call targets are outside of the function, whose parts are all of `code`.
void check_call_targets(const FunctionCode& function, std::span<const uint8_t> code) {
  const CodeRange all{function.body.address, code};
  const auto found = call_targets(function);
  for (const auto* list : {&found.called, &found.loaded, &found.referred, &found.constants})
    if (std::ranges::any_of(*list, [&](uint64_t address) { return is_in(all, address); }))
      std::abort();
  static_cast<void>(slot_of_stub(all).has_value());
}

// Each kernel's nops: places lie within the code, and are the same when they are asked for directly.
void check_places(const FunctionCode& function, std::span<const uint8_t> code, uint64_t offset) {
  for (const SiteCosts& costs :
       {SiteCosts{}, SiteCosts{CostClass::normal, CostClass::fast},
        SiteCosts{CostClass::slow, std::nullopt}, SiteCosts{.emulates = Emulates::all}}) {
    if (auto placement = place_entry(function, costs)) {
      auto again = place(function.body.bytes, placement->moved_bytes, costs);
      if (!again || again->cost != placement->cost || again->length != placement->length)
        std::abort();
      if (placement->moved_bytes + placement->length > function.body.bytes.size()) std::abort();
    }
    if (auto placement = place(code, offset, costs);
        placement && offset + placement->length > code.size())
      std::abort();
    if (is_header_site(code)) {
      const auto placement = place_in_header_site(costs);
      const auto again = place(code, placement.moved_bytes, costs);
      if (!again || again->cost != placement.cost || again->length != placement.length)
        std::abort();
    }
  }
}

bool is_register(uint8_t number) { return number < 16 || number == TC_NO_REGISTER; }

// The emulator's program trusts a form: its registers are there, and its sizes are those of operands.
void check_emulated_form(std::span<const uint8_t> code) {
  for (const Standing standing : {Standing::within, Standing::at_exit}) {
    const auto form = emulated_form(code, standing, Emulates::all);
    if (!form) continue;
    const auto decoded = decode_instruction(code);
    if (!decoded || decoded->length != form->length || form->length > sizeof(form->code))
      std::abort();
    if (form->left_register > 15 || form->right_register > 15 || !is_register(form->index) ||
        (!is_register(form->base) && form->base != TC_INSTRUCTION_POINTER) || form->shift > 3)
      std::abort();
    for (const uint8_t size : {form->size, form->right_size})
      if (form->operation != TC_DO_NOTHING && size != 1 && size != 2 && size != 4 && size != 8)
        std::abort();
  }
}

}  // namespace

// Input: one byte where to cut off the function's other part, one byte of offset, then code. Answers must be
// within the function, and instructions that the decoder accepts.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  std::span<const uint8_t> code{data + 2, size - 2};
  size_t cut = data[0] < code.size() ? data[0] : code.size();
  CodeRange other{0x1000 + cut, code.subspan(cut)};
  FunctionCode function{
      .body = {0x1000, code.first(cut)}, .extent = Extent::whole, .others = {&other, 1}};
  check_places(function, code, data[1]);
  check_emulated_form(code);
  static_cast<void>(
      is_code_of_file(code.first(code.size() / 2), code.subspan(code.size() - code.size() / 2)));
  if (!is_code_of_file(code, code)) std::abort();
  check_exits(function, code);
  check_call_targets(function, code);
  static_cast<void>(nop5_is_safe(function, data[1]).has_value());
  return 0;
}
