// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "usdt/generator/provider_file.h"

namespace tracectl::generator {

// The text of the header for C and C++ that declares the probes. `made_from` appears in its first
// line.
std::string header_text(const ProviderFile& file, const std::string& made_from);

}  // namespace tracectl::generator
