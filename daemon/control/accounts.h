// SPDX-License-Identifier: BSD-2-Clause
//
// Which account a user's number is of, so that a saved session does not go on for another account that has got the
// number. Only the system's own file is asked: others' databases take their time to answer.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace tracectl {

// The name that /etc/passwd has for the number, the first of several; none: it has none, or cannot be read.
std::optional<std::string> account_of(uid_t user);

// Whether /etc/passwd still has this name for the number; also where it cannot be read.
bool is_account_of(uid_t user, const std::string& name);

}  // namespace tracectl
