// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/call_changes.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tracectl {
namespace {

bool grew_more(const CallChange& a, const CallChange& b) {
  return std::pair(a.self_ns(), a.average_ns()) > std::pair(b.self_ns(), b.average_ns());
}

}  // namespace

double CallChange::self_ns() const {
  return static_cast<double>(after.figures.self_ns) - static_cast<double>(before.figures.self_ns);
}

std::vector<CallChange> changes_of(const CallTree& before, const CallTree& after) {
  std::map<std::string, CallChange> by_name;
  for (CallTree::Function& function : before.functions())
    by_name[function.name].before = std::move(function);
  for (CallTree::Function& function : after.functions())
    by_name[function.name].after = std::move(function);
  std::vector<CallChange> changes;
  for (auto& [name, change] : by_name) {
    change.name = name;
    changes.push_back(std::move(change));
  }
  std::stable_sort(changes.begin(), changes.end(), grew_more);
  return changes;
}

}  // namespace tracectl
