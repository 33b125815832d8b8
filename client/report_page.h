// SPDX-License-Identifier: BSD-2-Clause
//
// report --html: a recording as one page that people look at in a browser. The page is a file that
// needs no other, and no network: client/page/ joined into one, and the recording's data.
#pragma once

#include "client/verbs.h"

namespace tracectl {

int run_report_page(const CommonOptions& common, const ReportOptions& options);

}  // namespace tracectl
