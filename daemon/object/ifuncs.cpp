// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/ifuncs.h"

#include <algorithm>
#include <tuple>

namespace tracectl {
namespace {

constexpr size_t kMostInTable = 64;  // implementations of one function

}  // namespace

void Ifuncs::read() {
  if (!code_) code_.emplace(*object_);
  if (!data_) data_.emplace(*object_);
}

void Ifuncs::add(uint64_t address, std::vector<Function>& found) const {
  const auto routine = code_->starting_at(address);
  const auto offset = object_->elf().offset_of(address);
  if (!routine || !offset) return;
  found.push_back(routine->function ? *routine->function
                                    : Function{.name = {},
                                               .address = address,
                                               .size = routine->size,
                                               .offset = *offset,
                                               .exported = false});
}

// A word that the linker fills in, such as one of the global offset table.
void Ifuncs::add_word(uint64_t place, std::vector<Function>& found) const {
  if (const Pointer* pointer = data_->pointer_at(place))
    if (pointer->import.empty() && !pointer->by_resolver) add(pointer->target, found);
}

void Ifuncs::add_mentioned(uint64_t address, std::vector<Function>& found) const {
  if (code_->starting_at(address)) return add(address, found);
  auto table = data_->variable_around(address);
  if (!table) table = data_->pointers_from(address);
  if (!table) return;
  const auto pointers = data_->pointers_in(*table);
  for (size_t i = 0; i < std::min(pointers.size(), kMostInTable); ++i)
    add_word(pointers[i].place, found);
}

std::vector<Function> Ifuncs::implementations_of(const Function& resolver) {
  read();
  const CallTargets targets = code_->targets_of({resolver.address, resolver.size, nullptr});
  std::vector<Function> found;
  for (const uint64_t address : targets.referred) add_mentioned(address, found);
  for (const uint64_t place : targets.loaded) add_word(place, found);
  if (object_->elf().is_fixed())
    for (const uint64_t address : targets.constants) add(address, found);
  std::erase_if(found, [&](const Function& one) { return one.address == resolver.address; });
  std::ranges::sort(found, {}, &Function::address);
  const auto same = [](const Function& a, const Function& b) { return a.address == b.address; };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  return found;
}

}  // namespace tracectl
