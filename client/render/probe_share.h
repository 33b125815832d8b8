// SPDX-License-Identifier: BSD-2-Clause
//
// The column PROBES of tables of times.
#pragma once

#include <cstdint>
#include <string>

namespace tracectl {

// Whether most of the time that passed in the calls was that of the probes: `probes_ns` beside `total_ns` of the program.
bool is_mostly_probes(uint64_t probes_ns, uint64_t total_ns);

// Their share of that time: "93 %".
std::string probe_share_text(uint64_t probes_ns, uint64_t total_ns);

}  // namespace tracectl
