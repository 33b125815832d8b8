// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "daemon/model/setting.h"

namespace tracectl {

// Returns all that a user has said in a setting, as text: settings with different meanings have different
// texts. It leaves out which processes the numbers mean, and what the setting has come to since.
std::string said_in(const Setting& setting);

}  // namespace tracectl
