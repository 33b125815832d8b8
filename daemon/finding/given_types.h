// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "daemon/finding/resolver.h"
#include "daemon/model/probe_types.h"

namespace tracectl {

// Gives the arguments of USDT probes their types and names. A note names each probe that has another number of
// arguments, which stay as they are.
void give_types(const GivenTypes& types, Resolution& resolution);

}  // namespace tracectl
