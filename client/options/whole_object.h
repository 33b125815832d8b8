// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

namespace tracectl {

// The pattern, or OBJECT:FUNCTION, with an OBJECT that depends on the working directory made whole: ./x is the file
// that it leads to.
std::string with_whole_object(const std::string& pattern);

}  // namespace tracectl
