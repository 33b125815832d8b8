// SPDX-License-Identifier: BSD-2-Clause
//
// report --html: a recording as one page for a browser. The page is a single file that needs no network:
// the scripts and the styles of this folder, and the recording's data.
#pragma once

#include <string>

#include "client/options/options.h"

namespace tracectl {

// Returns the exit status.
int write_report_page(const CommonOptions& common, const std::string& trace_file,
                      const std::string& page);

}  // namespace tracectl
