// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>

#include "client/options/options.h"
#include "daemon/recording/reader.h"

namespace tracectl {

// The file begins like a trace file. False also if it cannot be read.
bool is_trace_file(const std::string& path);

Result<recording::Reader> open_trace_file(const std::string& path);

enum class Prints { meanwhile, at_the_end };

// Reads all items in the range, in time order. Shows its progress on standard error if that is a terminal,
// but not in between what is printed meanwhile.
Status read_events(const CommonOptions& common, const std::string& path, recording::Reader& reader,
                   const recording::TimeRange& range, const recording::Reader::Take& take,
                   Prints prints = Prints::at_the_end);

// Reads all items, and reports damage.
Status read_trace_file(const CommonOptions& common, const std::string& path,
                       const recording::Reader::Take& take);

// Refuses an output that would overwrite its own trace file.
Status check_other_file(const std::string& trace_file, const std::string& output);

// On standard error, if set: the probe whose events are not used, and why.
void report_misfit(const std::optional<Error>& misfit);

// On standard error: why the file was written, if it has a reason.
void report_reason(const CommonOptions& common, const std::string& path,
                   const recording::Reader& reader);

// On standard error: the parts that could not be read, and why; and how the file ended, unless in order.
void report_damage(const std::string& path, const recording::Reader& reader);

}  // namespace tracectl
