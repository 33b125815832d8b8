// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <elf.h>

#include "daemon/object/elf_file.h"

namespace tracectl {

// A program can be linked so that it has a copy of a library's variable, which the library then uses, too
// (R_X86_64_COPY, R_AARCH64_COPY).
inline bool may_be_copied(const ElfFile::Definition& one, bool is_library) {
  return is_library && one.exported && one.type == STT_OBJECT && one.visibility == STV_DEFAULT;
}

}  // namespace tracectl
