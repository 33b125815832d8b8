// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>

#include "client/options.h"
#include "daemon/recording/reader.h"

namespace tracectl {

// Whether it begins as trace files do. False also where it cannot be read.
bool is_trace_file(const std::string& path);

Result<recording::Reader> open_trace_file(const std::string& path);

enum class Prints { meanwhile, at_the_end };

// All that is in the range, in the order of time. Tells on standard error how far it has come, where
// somebody sees that, and not among what is printed meanwhile.
Status read_events(const CommonOptions& common, const std::string& path, recording::Reader& reader,
                   const recording::TimeRange& range, const recording::Reader::Take& take,
                   Prints prints = Prints::at_the_end);

// Refuses to write something made of a trace file in its place.
Status check_other_file(const std::string& trace_file, const std::string& output);

// On standard error, where there is one: of which probe no events are taken, and why.
void tell_misfit(const std::optional<Error>& misfit);

// On standard error: why it was written, if it says so.
void tell_reason(const CommonOptions& common, const std::string& path,
                 const recording::Reader& reader);

// On standard error: what of it could not be read, and why; and how it ended, where that was not in order.
void tell_damage(const std::string& path, const recording::Reader& reader);

}  // namespace tracectl
