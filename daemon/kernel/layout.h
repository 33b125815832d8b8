// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "bpf/abi.h"
#include "daemon/model/probe.h"

namespace tracectl {

// Tells the BPF programs where the first TC_MAX_ARGS arguments of a probe are.
tc_layout layout_of(const Arguments& arguments);

}  // namespace tracectl
