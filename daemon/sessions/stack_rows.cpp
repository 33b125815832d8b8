// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sessions/stack_rows.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "daemon/sessions/renamed_rows.h"

namespace tracectl {
namespace {

std::vector<StackAddresses> stacks_in(const Rows& rows) {
  std::set<StackAddresses> stacks;
  for (const auto& [key, row] : rows)
    for (const KeyPart& part : key.by)
      if (const auto* addresses = std::get_if<StackAddresses>(&part.value))
        stacks.insert(*addresses);
  return {stacks.begin(), stacks.end()};
}

std::map<StackAddresses, Stack> named(const std::vector<StackAddresses>& addresses,
                                      Symbolizer& symbolizer, const std::optional<Owner>& owner) {
  std::vector<Stack> stacks = symbolizer.stacks_of(addresses, owner);
  std::map<StackAddresses, Stack> all;
  for (size_t i = 0; i < addresses.size(); ++i) {
    for (Frame& frame : stacks[i].frames)
      if (!frame.module.empty()) frame.address = 0;
    all.emplace(addresses[i], std::move(stacks[i]));
  }
  return all;
}

}  // namespace

void name_stacks(Rows& rows, Symbolizer& symbolizer, const std::optional<Owner>& owner) {
  const auto stacks = named(stacks_in(rows), symbolizer, owner);
  if (stacks.empty()) return;
  rename_keys(rows, [&](KeyPart& part) {
    const auto* addresses = std::get_if<StackAddresses>(&part.value);
    if (!addresses) return false;
    part.value = Stack{stacks.at(*addresses)};
    return true;
  });
}

}  // namespace tracectl
