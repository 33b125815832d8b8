// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

namespace tracectl {

// Prints to standard output. Text that is longer than the terminal is shown in a pager, until the user leaves it:
// $TRACECTL_PAGER, $PAGER or less(1), which are commands of a shell; none if that is empty or "cat", or `is_wanted` is
// false. Under sudo and the like it is less without its commands that start others (LESSSECURE), as for systemctl.
void print_paged(const std::string& text, bool is_wanted);

}  // namespace tracectl
