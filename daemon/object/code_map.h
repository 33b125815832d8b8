// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "daemon/object/code/call_targets.h"
#include "daemon/object/object_file.h"

namespace tracectl {

// Code that is called as one unit: a function with its parts, or code that only the unwind table
// shows, such as functions of a stripped file that are not exported.
struct Routine {
  uint64_t address = 0;
  uint64_t size = 0;                   // bytes, without its parts elsewhere
  const Function* function = nullptr;  // of the object's; null if no symbol names it
};

// Finds the routine that the code at an address belongs to.
//
// If there are several symbols at an address, the routine's function is one with a size, of those
// one that is exported, of those the first by name. A part (`f.cold`, `f.cold.N`) belongs to the
// function f. If several functions have that name, all parts of that name belong to each of them,
// because nothing distinguishes them.
class CodeMap {
 public:
  // Borrows the object.
  explicit CodeMap(const ObjectFile& object);

  std::optional<Routine> around(uint64_t address) const;
  std::optional<Routine> starting_at(uint64_t address) const;

  // How many bytes targets_of() decodes.
  uint64_t bytes_of(const Routine& routine) const;

  // The calls and references of the routine's code, as far as it can be read.
  CallTargets targets_of(const Routine& routine) const;

  // The word through which the linker's stub at the address jumps, if there is a stub.
  std::optional<uint64_t> slot_of_stub_at(uint64_t address) const;

 private:
  void index_names();
  void index_starts();
  const Function* function_around(uint64_t address) const;
  const Function* whole_of(const Function& part) const;
  Routine routine_of(const Function& function) const;
  uint64_t extent_of(const Function& function) const;
  std::vector<const Function*> parts_of(const Function& function) const;
  std::vector<uint8_t> read(uint64_t address, uint64_t size) const;

  const ObjectFile& object_;
  const std::vector<Function>& all_;
  std::vector<const Function*> starts_;  // one for each address, sorted
  std::unordered_map<std::string_view, const Function*> names_;
  std::unordered_multimap<std::string_view, const Function*> parts_;  // by the function's name
};

}  // namespace tracectl
