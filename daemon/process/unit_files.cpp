// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/unit_files.h"

#include <filesystem>
#include <system_error>

namespace tracectl {

std::set<std::string> installed_units() {
  namespace fs = std::filesystem;
  std::set<std::string> units;
  for (const char* folder : {"/etc/systemd/system", "/run/systemd/system",
                             "/usr/local/lib/systemd/system", "/usr/lib/systemd/system"}) {
    std::error_code none;
    for (fs::directory_iterator entry(folder, none), end; !none && entry != end;
         entry.increment(none))
      if (entry->path().extension() == ".service") units.insert(entry->path().filename());
  }
  return units;
}

}  // namespace tracectl
