// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string_view>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"

namespace tracectl {

// A file in memory with these bytes, which nobody can change any more. `name`: shown in /proc/PID/fd. `action` says in
// an error what was being done.
Result<Fd> file_in_memory(const char* name, std::string_view bytes, const char* action);

}  // namespace tracectl
