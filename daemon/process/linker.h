// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>

#include "daemon/base/result.h"
#include "daemon/process/maps.h"
#include "daemon/process/process.h"

namespace tracectl {

// The file of the dynamic linker that the kernel has started the process's program by, as the process maps it.
// None where the program is static, or is the linker itself. A process can say another one of its files is it.
Result<std::optional<MappedFile>> dynamic_linker(const Process& process);

}  // namespace tracectl
