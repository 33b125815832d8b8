// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "client/ui/requests.h"

namespace tracectl::ui {

enum class View { counts, times, stacks };

// The probes that are marked: single ones, and all that patterns stand for. A pattern is one setting however many
// probes it has; a single probe is one, too.
class Marks {
 public:
  // A pattern of more probes is not taken apart.
  static constexpr size_t kMostTakenApart = 64;

  bool has(const std::string& probe) const;
  bool has_pattern(const std::string& pattern) const { return groups_.contains(pattern); }
  size_t size() const;  // in probes
  void add(const std::string& probe) { singles_.insert(probe); }
  void add_all(const FoundProbes& found);
  // Returns the pattern that keeps it marked; empty: it is not marked any more.
  std::string remove(const std::string& probe);
  void remove_all(const std::string& pattern) { groups_.erase(pattern); }
  void clear() { *this = {}; }

  struct Wanted {
    View view = View::counts;
    std::string stacks_of = {};  // a probe
    bool events = false;
  };
  WantedSettings settings(const Wanted& wanted) const;

 private:
  bool is_in_group(const std::string& probe) const;

  std::set<std::string> singles_;
  std::map<std::string, std::set<std::string>> groups_;  // by pattern
};

}  // namespace tracectl::ui
