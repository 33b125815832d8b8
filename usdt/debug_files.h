// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/fd.h"
#include "usdt/elf_image.h"

namespace tracectl {

// For a process that may not open files: who does it instead, from now on. None is returned for what
// cannot be had.
void open_debug_files_by(std::function<Fd(const std::string& path)> opener);

// Where the symbols of a stripped file are: its debug file, found by build id, else by debug link,
// and the small table in its own .gnu_debugdata. What does not belong to the file is left out.
std::vector<ElfImage> open_debug_files(const ElfImage& image, const std::string& path,
                                       const std::string& build_id, const std::string& debug_root);

// The file to which dwz has moved what several debug files have in common, by the image's
// .gnu_debugaltlink; of its name only what lies in `debug_root`/.dwz is believed.
std::optional<ElfImage> open_common_file(const ElfImage& image, const std::string& debug_root);

}  // namespace tracectl
