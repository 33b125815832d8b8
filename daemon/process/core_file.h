// SPDX-License-Identifier: BSD-2-Clause
//
// The place where the kernel put the core of a process: core(5), "Naming of core dump files".
#pragma once

#include <string>

#include "daemon/model/process_end.h"

namespace tracectl {

// As in /proc/sys/kernel. Read anew each time, because it may change.
struct CoreNaming {
  std::string pattern;
  bool uses_pid = false;

  static CoreNaming of_machine();
};

// Part of a sentence: `its core is ...`, or that there is none. Parts of the name that are no
// longer known, such as the time of the dump or which thread it was, are `*`.
std::string core_text(const CoreNaming& naming, const ProcessEnd& end);
// "process 123 (nginx) was killed by SIGSEGV; its core is /cores/core.123", "process 123 (nginx) has exited with status 3"
std::string text(const CoreNaming& naming, const ProcessEnd& end);

}  // namespace tracectl
