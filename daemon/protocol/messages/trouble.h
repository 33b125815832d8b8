// SPDX-License-Identifier: BSD-2-Clause
//
// What `tracectl --json` prints if tracing fails while its command runs. The rules for these structs:
// daemon/protocol/messages.h.
#pragma once

#include "daemon/protocol/messages/errors.h"

namespace tracectl::protocol {

struct TroublePart {
  ErrorPart trouble;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("trouble", s.trouble); }
};

}  // namespace tracectl::protocol
