// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <string>

#include "daemon/base/result.h"

namespace tracectl {

// All of a file that has at most so many bytes. Fails with Code::not_found where there is none.
Result<std::string> read_text_file(const std::string& path, size_t most_bytes);

}  // namespace tracectl
