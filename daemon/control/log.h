// SPDX-License-Identifier: BSD-2-Clause
//
// The daemon's log: lines on standard error, or entries with fields where that is the journal.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tracectl {

void open_log();
void set_log_verbose(bool verbose);

// The error that this process ends with. The journal looks into /proc to learn of which unit an entry is, and
// finds nothing of a process that has ended; of standard error it knows.
void log_last(const std::string& message);

// What a line says that begins like `commit session=s uid=0 pid=25194 epoch=1`, as fields of the
// journal: TRACECTL_ACTION=commit, TRACECTL_SESSION=s, and so on to the first other word. None of
// any other line.
using JournalField = std::pair<std::string, std::string>;
std::vector<JournalField> journal_fields(std::string_view line);

}  // namespace tracectl
