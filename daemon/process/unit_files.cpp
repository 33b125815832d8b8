// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/unit_files.h"

#include <filesystem>
#include <system_error>

namespace tracectl {
namespace {

// A link to a file of another name is that unit's alias, or forbids the unit by /dev/null.
bool is_of_its_name(const std::filesystem::directory_entry& entry) {
  std::error_code error;
  if (!entry.is_symlink(error)) return true;
  return std::filesystem::read_symlink(entry.path(), error).filename() == entry.path().filename();
}

}  // namespace

std::set<std::string> installed_units() {
  namespace fs = std::filesystem;
  std::set<std::string> units;
  for (const char* folder : {"/etc/systemd/system", "/run/systemd/system",
                             "/usr/local/lib/systemd/system", "/usr/lib/systemd/system"}) {
    std::error_code none;
    for (fs::directory_iterator entry(folder, none), end; !none && entry != end;
         entry.increment(none))
      if (entry->path().extension() == ".service" && is_of_its_name(*entry))
        units.insert(entry->path().filename());
  }
  return units;
}

}  // namespace tracectl
