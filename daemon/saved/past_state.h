// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "daemon/recording/bytes.h"
#include "daemon/switching/session.h"

namespace tracectl {

// What hooks that are gone have counted, as a part of the engine's state.
void write_past(const Results& past, recording::ByteWriter& to);
// False where that cannot be.
bool read_past(recording::ByteReader& from, Results& past);

}  // namespace tracectl
