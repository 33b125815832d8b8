// SPDX-License-Identifier: BSD-2-Clause
//
// Names of probes for people: canonical names in which functions of C++ and Rust are demangled. A name is a pattern, too,
// that names the probe in the same target.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tracectl {

// With its parameters; none if its linkage name is what everybody calls it. `probe` is a canonical name.
std::optional<std::string> demangled_function(const std::string& probe);

// Adds it to rows that have a probe's name.
template <class Row> void add_demangled(std::vector<Row>& rows) {
  for (Row& row : rows)
    if (!row.demangled) row.demangled = demangled_function(row.probe);
}

// Without parameters: `uprobe:/usr/bin/prog:ns::parse`.
std::string readable_name(const std::string& probe);

// The names of a table's probes. OBJECT is the file's name if no other file of the table has it; FUNCTION is without
// parameters if no other probe of the table would have the same name, and the linkage name if parameters make no
// difference.
class TableNames {
 public:
  explicit TableNames(const std::vector<std::string_view>& probes);

  const std::string& of(const std::string& probe) const { return names_.at(probe); }

 private:
  std::unordered_map<std::string, std::string> names_;  // by canonical name
};

template <class Row> TableNames names_of_all(const std::vector<Row>& rows) {
  std::vector<std::string_view> probes;
  for (const Row& row : rows) probes.emplace_back(row.probe);
  return TableNames(probes);
}

// The same for what comes one by one, with whole OBJECTs: among probes with the same name, the first keeps it.
class StreamNames {
 public:
  const std::string& of(const std::string& probe);
  // With its parameters; empty if its linkage name is what everybody calls it.
  const std::string& demangled(const std::string& probe);

 private:
  std::string free_name_of(const std::string& probe) const;

  std::unordered_map<std::string, std::string> names_;  // by canonical name
  std::set<std::string> taken_;
  std::unordered_map<std::string, std::string> demangled_;  // by canonical name
};

}  // namespace tracectl
