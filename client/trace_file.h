// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "daemon/recording/reader.h"

namespace tracectl {

// Whether it begins as trace files do. False also where it cannot be read.
bool is_trace_file(const std::string& path);

Result<recording::Reader> open_trace_file(const std::string& path);

// On standard error: what of it could not be read, and why.
void tell_damage(const std::string& path, const recording::Damage& damage);

}  // namespace tracectl
