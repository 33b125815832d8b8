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

// The meaning of one aggregate in the kernel.
struct AggregateMeaning {
  RowShape shape;
  std::string name;  // as in RowKey
  // Its index among the spec's aggregates that are not plain counts of hits. An aggregate of sums
  // can stand for several; this is the first.
  size_t first = 0;
  struct Key {
    std::string name;
    ValueType type;
    uint8_t byte_count = 0;  // only for bytes
  };
  std::vector<Key> by;
};

// A spec compiled for sites with the same arguments: the part that runs in the kernel, and how to
// read its results. The numbers of sessions and tags are not filled in yet.
struct AssembledSpec {
  tc_spec kernel{};
  std::vector<AggregateMeaning> aggregates;       // by their number in the kernel
  Arguments values;                               // of a record with values of its own
  bool is_rated = false;                          // it samples or limits
  bool has_numbered_keys = false;                 // some key is a string or a stack
  bool follows_calls = false;                     // it runs at the return, too
  bool reads_memory = false;                      // beyond its arguments
  std::vector<AggregateMeaning::Key> matched_by;  // only for a side of a pair
};

// The side of a pair that the spec is for. What `spec` says about both sides runs at the end.
struct PairSide {
  uint32_t number = 0;
  uint32_t sides = 0;  // enum tc_pair_side
  const std::vector<Expr>* by = nullptr;
};

// The part of a setting that applies to sites that are these sides of its pair, if it has one.
Spec spec_of_sides(const Setting& setting, uint32_t sides);
// Like compiled_from(), and includes the keys.
Result<std::string> pair_compiled_from(const Spec& spec, const PairSide& side,
                                       const Arguments& arguments);
// Like uses_arguments(), and includes the keys.
bool uses_arguments(const Spec& spec, const PairSide& side);

// Whether the aggregate is a count of hits without keys. Every hook counts hits, so no aggregate is
// needed. False if hits are taken when the call returns.
bool counts_hits(const Spec& spec, const Aggregate& aggregate);

// Whether a hook at a site with these arguments needs an AssembledSpec. Events of all arguments in
// their plain form and counts of hits need none, because every hook has them.
bool needs_assembly(const Spec& spec, const Arguments& arguments);

// Fails if an expression does not fit the arguments, or if the spec is too long; the error has a
// spot in the expression. `result` is the type of the function's result, if it is known.
Result<std::unique_ptr<AssembledSpec>> assemble(const Spec& spec, const Arguments& arguments,
                                                const Argument* result = nullptr,
                                                const PairSide* side = nullptr);

}  // namespace tracectl
