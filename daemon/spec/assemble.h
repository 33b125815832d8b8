// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bpf/abi.h"
#include "daemon/base/result.h"
#include "daemon/model/argument.h"
#include "daemon/model/rows.h"
#include "daemon/model/setting.h"
#include "daemon/spec/check.h"

namespace tracectl {

// What an aggregate of the kernel stands for.
struct AggregateMeaning {
  RowShape shape;
  std::string name;  // as in RowKey
  // Among those of the spec that are no plain counts of hits; of sums it can stand for several.
  size_t first = 0;
  struct Key {
    std::string name;
    ValueType type;
    uint8_t byte_count = 0;  // of bytes
  };
  std::vector<Key> by;
};

// A spec at sites with the same arguments: what runs in the kernel, and what comes of it. The numbers
// of sessions and tags are not in it yet.
struct AssembledSpec {
  tc_spec kernel{};
  std::vector<AggregateMeaning> aggregates;       // by their number in the kernel
  Arguments values;                               // of a record that has values of its own
  bool is_rated = false;                          // it samples or limits
  bool has_numbered_keys = false;                 // a key is a string or a stack
  bool follows_calls = false;                     // it does at the return too
  bool reads_memory = false;                      // for more than its arguments
  std::vector<AggregateMeaning::Key> matched_by;  // of a side of a pair
};

// Of which side of a pair the spec is; what `spec` says of both is said at the end.
struct PairSide {
  uint32_t number = 0;
  uint32_t sides = 0;  // enum tc_pair_side
  const std::vector<Expr>* by = nullptr;
};

// What a setting says at sites that are these sides of its pair, if it has one.
Spec spec_of_sides(const Setting& setting, uint32_t sides);
// As compiled_from(), of the keys as well.
Result<std::string> pair_compiled_from(const Spec& spec, const PairSide& side,
                                       const Arguments& arguments);
// As uses_arguments(), of the keys as well.
bool uses_arguments(const Spec& spec, const PairSide& side);

// A count of hits without keys: each hook has it, and no aggregate is kept. It is none where hits are
// taken when the call returns.
bool counts_hits(const Spec& spec, const Aggregate& aggregate);

// Whether a hook at a site with these arguments needs an AssembledSpec; an event of all arguments as
// they are and a count of hits, which every hook has, do not.
bool needs_assembly(const Spec& spec, const Arguments& arguments);

// Fails where an expression does not fit the arguments, or the spec is too long; the error has a
// spot in the expression. `result` is the type of the function's result, if it is known.
Result<std::unique_ptr<AssembledSpec>> assemble(const Spec& spec, const Arguments& arguments,
                                                const Argument* result = nullptr,
                                                const PairSide* side = nullptr);

}  // namespace tracectl
