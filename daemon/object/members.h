// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/object/die.h"

namespace tracectl {

struct FoundMember {
  std::optional<dwarf::Die> type;
  uint64_t first_bit = 0;
  uint64_t bit_count = 0;  // 0: it is no bit field
};

// A search for the member of a struct, class or union by its name: in it, in its unnamed members, and then in its base
// classes.
class MemberSearch {
 public:
  MemberSearch(std::string_view name, int deepest, size_t most)
      : name_(name), deepest_(deepest), most_(most) {}

  // None if there is no such member, or if the limits were reached.
  std::optional<FoundMember> run(const dwarf::Die& type);

  // The names that were seen, if it was not found.
  const std::vector<std::string>& names() const { return names_; }
  // Which limit was reached; empty if none was.
  const std::string& limit() const { return limit_; }
  bool has_virtual_base() const { return has_virtual_base_; }

 private:
  bool search(const dwarf::Die& type, uint64_t at_bit, int depth);
  bool look_at(const dwarf::Die& member, uint64_t at_bit, int depth);
  bool look_below(const dwarf::Die& member, uint64_t at_bit, int depth);
  bool is_within(int depth);

  std::string_view name_;
  int deepest_;
  size_t most_;
  size_t seen_ = 0;
  std::optional<FoundMember> found_;
  std::vector<std::string> names_;
  std::string limit_;
  bool has_virtual_base_ = false;
};

}  // namespace tracectl
