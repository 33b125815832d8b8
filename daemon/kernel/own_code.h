// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"

namespace tracectl {

// A place in this program's own code, in the form that a uprobe takes.
struct OwnCode {
  Fd file;
  uint64_t offset = 0;
};

// `address` lies in the main executable's code.
Result<OwnCode> own_code(const void* address);

}  // namespace tracectl
