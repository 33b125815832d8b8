// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace tracectl {

// Whether this program runs for somebody as another user: by sudo, pkexec, doas or its file's mode. Who may run only tracectl
// as that user must not get a shell, or another program, of that user.
bool is_lent();

}  // namespace tracectl
