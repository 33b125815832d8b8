// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "daemon/model/setting.h"

namespace tracectl {

// All of a setting that a user has said, so that no two of different meaning have the same. Not which processes the
// numbers mean, nor what it has come to since.
std::string said_in(const Setting& setting);

}  // namespace tracectl
