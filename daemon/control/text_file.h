// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <string>

#include "daemon/base/result.h"

namespace tracectl {

// Reads a whole file of at most `most_bytes`. Fails with Code::not_found if there is none.
Result<std::string> read_text_file(const std::string& path, size_t most_bytes);

}  // namespace tracectl
