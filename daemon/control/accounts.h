// SPDX-License-Identifier: BSD-2-Clause
//
// The account that has a user's number, so that a saved session does not go on for another account that got the
// number later. Only /etc/passwd is read: other databases can take long to answer.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace tracectl {

// The name that /etc/passwd has for the number, the first if there are several; none if it has none or cannot be read.
std::optional<std::string> account_of(uid_t user);

// Whether /etc/passwd still has this name for the number; true if it cannot be read.
bool is_account_of(uid_t user, const std::string& name);

}  // namespace tracectl
