// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "daemon/model/pattern.h"
#include "daemon/object/object_file.h"

namespace tracectl {

// For a pattern that fits no probe of the file: which rule excludes what it does fit, or else the nearest names. Empty
// if nothing is near.
std::string why_none_fits(const ObjectFile& object, const Pattern& pattern);

}  // namespace tracectl
