// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tracectl {

// As much code as is_code_of_file() looks at; more than the kernel writes at a probe.
inline constexpr size_t kPatchedBytes = 16;

// Whether a process runs the file's code: both spans begin at an instruction where a probe may be armed, and have the
// same size. They may differ where the kernel has written for a probe, ours or another tracer's: there, or at
// instructions shortly after it.
bool is_code_of_file(std::span<const uint8_t> file, std::span<const uint8_t> memory);

}  // namespace tracectl
