// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "daemon/object/elf_file.h"
#include "daemon/object/elf_image.h"

namespace tracectl {

// Where variables with a fixed place in a file are, for certain.
class StaticData {
 public:
  // `image` is of the file.
  StaticData(const ElfFile& file, const ElfImage& image);

  // Why a variable that the debug information has at the address may be elsewhere; empty if it is there.
  std::string why_not(uint64_t address) const;

 private:
  std::vector<Section> sections_;
  std::unordered_set<uint64_t> may_be_copied_;
};

}  // namespace tracectl
