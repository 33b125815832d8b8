// SPDX-License-Identifier: BSD-2-Clause
//
// report --html: a recording as one page for a browser. The page is a single file that needs no network:
// client/page/ merged into one, and the recording's data.
#pragma once

#include "client/verbs.h"

namespace tracectl {

int run_report_page(const CommonOptions& common, const ReportOptions& options);

}  // namespace tracectl
