// SPDX-License-Identifier: BSD-2-Clause
//
// tracectl -H HOST: the same command, run by the tracectl of another host over ssh.
//
// Without a terminal on the remote side, ssh does not forward ^C, but it does forward the end of its input.
// So the local tracectl protects ssh from ^C, holds its input open, and closes it when it is interrupted
// itself; the remote tracectl, which is started with --end-with-input, treats that like ^C and prints its
// results. It also does so when the connection breaks.
#pragma once

#include <string>

#include "client/options/shell_text.h"
#include "daemon/base/result.h"

namespace tracectl {

// The words of a command line without its -H option, which comes before any --.
Result<Words> without_host(const Words& words);

// Runs tracectl with these words on a host, by `ssh HOST` or $TRACECTL_SSH; returns its exit status.
int run_remote(const std::string& host, const Words& words);

// From now on the end of standard input interrupts this process and its children, like ^C. They read nothing
// from it.
Status end_with_input();

}  // namespace tracectl
