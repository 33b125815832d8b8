// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/model/argument.h"
#include "daemon/object/elf_file.h"

namespace tracectl {

// One place at which a USDT probe fires.
struct UsdtSite {
  std::string provider;
  std::string name;
  uint64_t address = 0;               // in the file's own address space, as now linked
  uint64_t offset = 0;                // in the file
  std::optional<uint64_t> semaphore;  // in the file; none if the probe has none
  Arguments args;
  std::string args_text;
};

// The contents of a note in .note.stapsdt: three addresses at link time, three strings.
struct RawNote {
  uint64_t location = 0;
  uint64_t base = 0;       // of .stapsdt.base, at link time
  uint64_t semaphore = 0;  // 0 if there is none
  std::string provider;
  std::string name;
  std::string args;
};

// Splits the bytes of the section. The error names the offset of the malformed note.
Result<std::vector<RawNote>> parse_notes(std::span<const uint8_t> section);

// All sites in all notes of the file.
Result<std::vector<UsdtSite>> read_usdt_sites(const ElfFile& file);

}  // namespace tracectl
