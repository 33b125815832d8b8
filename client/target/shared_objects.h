// SPDX-License-Identifier: BSD-2-Clause
//
// Looks for shared objects by the names of their files.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace tracectl {

std::string real_path(const std::filesystem::path& path);  // empty if there is none
// Regular files of 64-bit ELF: programs and shared objects.
bool is_elf_file(const std::string& path);
// The absolute directories in $LD_LIBRARY_PATH.
std::vector<std::filesystem::path> library_path();

class SharedObjects {
 public:
  // `name`: a glob.
  explicit SharedObjects(std::string name) : name_(std::move(name)) {}

  void add(const std::filesystem::path& path);  // whatever its name is
  void look_in(const std::filesystem::path& directory);
  // A few levels deep, at not more than some 10,000 entries.
  void look_below(const std::filesystem::path& directory);
  // Their real paths.
  std::set<std::string> take() { return std::move(found_); }

 private:
  void look_at(const std::filesystem::directory_entry& entry);

  std::string name_;
  std::set<std::string> looked_, found_;
};

}  // namespace tracectl
