// SPDX-License-Identifier: BSD-2-Clause
//
// tracectl -H HOST: the same command, run by the tracectl of another host over ssh.
//
// Without a terminal there, ssh hands no ^C on; what it does hand on is the end of its input. So the
// local tracectl keeps ssh from ^C, holds its input open, and closes it when it is interrupted itself; the
// one at the other end, which is started with --end-with-input, takes that for ^C and prints its results.
// It does so, too, when the connection breaks.
#pragma once

#include <string>

#include "client/shell_text.h"
#include "daemon/base/result.h"

namespace tracectl {

// The words of a command line without its -H, which stands before any --.
Result<Words> without_host(const Words& words);

// Runs tracectl with these words on a host, as `ssh HOST` or $TRACECTL_SSH reaches it; its exit status.
int run_remote(const std::string& host, const Words& words);

// From here on this process and its children are told of the end of standard input as of ^C. They read
// nothing of it.
Status end_with_input();

}  // namespace tracectl
