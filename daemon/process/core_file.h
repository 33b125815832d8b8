// SPDX-License-Identifier: BSD-2-Clause
//
// Where the kernel has put the core of a process: core(5), "Naming of core dump files".
#pragma once

#include <string>

#include "daemon/model/crash.h"

namespace tracectl {

// As in /proc/sys/kernel. Read when it is needed: it may change at any time.
struct CoreNaming {
  std::string pattern;
  bool uses_pid = false;

  static CoreNaming of_machine();
};

// A sentence's part: `its core is ...`, or that it left none. What of a name nobody knows any more is a
// `*` in it: the moment of the dump, say, or which of the threads it was.
std::string core_text(const CoreNaming& naming, const Crash& crash);
// process 123 (nginx) was killed by SIGSEGV; its core is /cores/core.123
std::string text(const CoreNaming& naming, const Crash& crash);

}  // namespace tracectl
