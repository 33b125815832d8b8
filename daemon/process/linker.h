// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>

#include "daemon/base/result.h"
#include "daemon/process/maps.h"
#include "daemon/process/process.h"

namespace tracectl {

// The file of the dynamic linker with which the kernel started the process's program, as the
// process maps it. None if the program is static, or is the linker itself. A process can make
// another of its files appear as the linker.
Result<std::optional<MappedFile>> dynamic_linker(const Process& process);

}  // namespace tracectl
