// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "client/ui/model.h"

namespace tracectl::ui {

// The keys that do something now, and what.
std::string key_names(const Model& model);

}  // namespace tracectl::ui
