// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/object/elf_image.h"
#include "daemon/object/named_debug_file.h"

namespace tracectl {

// For a process that may not open files: `opener` opens them from now on. It returns no descriptor
// if it cannot. Without an opener they are opened here again.
void open_debug_files_by(std::function<Fd(const std::string& path)> opener);

// The files with the symbols of a stripped file: `named`, or else its debug file, found by build id, else
// by debug link; and the small table in its own .gnu_debugdata. Files that do not belong to it are left out.
std::vector<ElfImage> open_debug_files(const ElfImage& image, const std::string& path,
                                       const std::string& build_id, const std::string& debug_root,
                                       const NamedDebugFile* named = nullptr);

// Opens it once more. Fails if its build id is not `build_id`, that of the file at `path`.
Result<ElfImage> open_named(const NamedDebugFile& named, const std::string& path,
                            const std::string& build_id);

// The file to which dwz has moved the common parts of several debug files, by the image's
// .gnu_debugaltlink. Only the part of its name after /.dwz/ is used, below `debug_root`/.dwz.
std::optional<ElfImage> open_common_file(const ElfImage& image, const std::string& debug_root);

// A file with split debug information. None if it is too large.
std::optional<ElfImage> open_split_file(const std::string& path);

// Whether the debug sections can be read by libdw: not too large when they are unpacked, and none of
// the old compressed kind.
bool may_read_debug_info(const ElfImage& image);

}  // namespace tracectl
