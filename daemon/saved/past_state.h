// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "daemon/recording/bytes.h"
#include "daemon/switching/session.h"

namespace tracectl {

// Writes the counts of former hooks, as a part of the engine's state.
void write_past(const Results& past, recording::ByteWriter& to);
// Returns false if the bytes are not valid.
bool read_past(recording::ByteReader& from, Results& past);

}  // namespace tracectl
