// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "usdt/elf_image.h"

namespace tracectl {

// Where the symbols of a stripped file are: its debug file, found by build id, else by debug link,
// and the small table in its own .gnu_debugdata. What does not belong to the file is left out.
std::vector<ElfImage> open_debug_files(const ElfImage& image, const std::string& path,
                                       const std::string& build_id, const std::string& debug_root);

}  // namespace tracectl
