// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/static_data.h"

#include <algorithm>

#include "daemon/object/copied_data.h"

namespace tracectl {

StaticData::StaticData(const ElfFile& file, const ElfImage& image)
    : sections_(image.data_sections()) {
  const bool is_library = !file.is_program();
  file.each_definition([&](const ElfFile::Definition& one) {
    if (may_be_copied(one, is_library)) may_be_copied_.insert(one.address);
  });
}

std::string StaticData::why_not(uint64_t address) const {
  const bool is_there = std::any_of(sections_.begin(), sections_.end(), [&](const Section& one) {
    return address - one.address < one.size;
  });
  if (!is_there) return "the file has no data at its address: the linker may have removed it";
  if (may_be_copied_.contains(address))
    return "the library exports it: the program may have a copy of it, which both use then";
  return "";
}

}  // namespace tracectl
