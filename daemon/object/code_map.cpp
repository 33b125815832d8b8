// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code_map.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tracectl {
namespace {

constexpr uint64_t kMostRoutineBytes = 1 << 20;
constexpr uint64_t kUnknownExtentBytes = 4096;  // if a symbol has no size
constexpr uint64_t kStubBytes = 24;
constexpr size_t kMostParts = 16;
constexpr int kMostSymbols = 64;  // to search backwards, because some may lie within others

constexpr std::string_view kCold = ".cold";

bool is_named_as_part(const Function& function) {
  return function.name.find(kCold) != std::string::npos;
}

std::string_view name_of_whole(const Function& part) {
  return std::string_view(part.name).substr(0, part.name.find(kCold));
}

// Orders the functions at one address; the first of equals is taken.
bool stands_before(const Function* a, const Function* b) {
  const auto rank = [](const Function* function) {
    return std::tuple(is_named_as_part(*function), function->size == 0, !function->exported);
  };
  return rank(a) < rank(b);
}

}  // namespace

CodeMap::CodeMap(const ObjectFile& object) : object_(object), all_(object.elf().functions()) {
  index_names();
  index_starts();
}

void CodeMap::index_names() {
  for (const Function& function : all_) {
    names_.emplace(function.name, &function);
    if (is_named_as_part(function)) parts_.emplace(name_of_whole(function), &function);
  }
}

void CodeMap::index_starts() {
  for (const Function& function : all_) {
    if (starts_.empty() || starts_.back()->address != function.address)
      starts_.push_back(&function);
    else if (stands_before(&function, starts_.back()))
      starts_.back() = &function;
  }
}

// ---- lookups ----

std::optional<Routine> CodeMap::around(uint64_t address) const {
  if (const Function* function = function_around(address)) {
    const Function* whole = whole_of(*function);
    return routine_of(whole ? *whole : *function);
  }
  const auto range = object_.unwind_ranges().range_at(address);
  if (!range) return std::nullopt;
  if (const Function* function = function_around(range->address)) return routine_of(*function);
  return Routine{range->address, range->size, nullptr};
}

std::optional<Routine> CodeMap::starting_at(uint64_t address) const {
  const auto routine = around(address);
  return routine && routine->address == address ? routine : std::nullopt;
}

const Function* CodeMap::function_around(uint64_t address) const {
  auto after = std::ranges::upper_bound(starts_, address, {}, &Function::address);
  for (int looked = 0; after != starts_.begin() && looked < kMostSymbols; ++looked) {
    const Function* function = *--after;
    const uint64_t distance = address - function->address;
    if (distance == 0 || distance < function->size) return function;
  }
  return nullptr;
}

// Null if it is not a part, but a function with such a name.
const Function* CodeMap::whole_of(const Function& part) const {
  if (!is_named_as_part(part)) return nullptr;
  const auto found = names_.find(name_of_whole(part));
  return found == names_.end() ? nullptr : function_around(found->second->address);
}

Routine CodeMap::routine_of(const Function& function) const {
  return {function.address, extent_of(function), &function};
}

uint64_t CodeMap::extent_of(const Function& function) const {
  if (function.size != 0) return std::min(function.size, kMostRoutineBytes);
  const auto next = std::ranges::upper_bound(starts_, function.address, {}, &Function::address);
  if (next == starts_.end()) return kUnknownExtentBytes;
  return std::min((*next)->address - function.address, kUnknownExtentBytes);
}

// By each of the function's names, because the compiler named the parts after one of them.
std::vector<const Function*> CodeMap::parts_of(const Function& function) const {
  std::vector<const Function*> parts;
  auto alias = std::ranges::lower_bound(all_, function.address, {}, &Function::address);
  for (; alias != all_.end() && alias->address == function.address; ++alias) {
    const auto [first, last] = parts_.equal_range(alias->name);
    for (auto part = first; part != last && parts.size() < kMostParts; ++part)
      parts.push_back(part->second);
  }
  return parts;
}

// ---- its calls ----

std::vector<uint8_t> CodeMap::read(uint64_t address, uint64_t size) const {
  const auto offset = object_.elf().offset_of(address);
  auto bytes =
      offset ? object_.elf().read_at_most(*offset, std::min(size, kMostRoutineBytes)) : Error{};
  return bytes ? std::move(*bytes) : std::vector<uint8_t>{};
}

uint64_t CodeMap::bytes_of(const Routine& routine) const {
  uint64_t bytes = routine.size;
  if (routine.function)
    for (const Function* part : parts_of(*routine.function))
      bytes += std::min(part->size, kMostRoutineBytes);
  return bytes;
}

CallTargets CodeMap::targets_of(const Routine& routine) const {
  const auto body = read(routine.address, routine.size);
  std::vector<std::vector<uint8_t>> bytes;
  std::vector<CodeRange> others;
  if (routine.function)
    for (const Function* part : parts_of(*routine.function)) {
      bytes.push_back(read(part->address, part->size));
      others.push_back({part->address, bytes.back()});
    }
  return call_targets({{routine.address, body}, Extent::unknown, others});
}

std::optional<uint64_t> CodeMap::slot_of_stub_at(uint64_t address) const {
  if (around(address)) return std::nullopt;
  const auto bytes = read(address, kStubBytes);
  return slot_of_stub({address, bytes});
}

}  // namespace tracectl
