// SPDX-License-Identifier: BSD-2-Clause
#include "client/output/output.h"
#include "client/render/metrics.h"
#include "client/verbs.h"
#include "daemon/protocol/schema.h"

namespace tracectl {

using namespace protocol;

int run_status(const CommonOptions& common) {
  return ask(common, Backend::Needs::daemon, DaemonStatus{}, status_text);
}

int run_stats(const CommonOptions& common) {
  return ask(common, Backend::Needs::daemon, DaemonStats{}, stats_text);
}

int run_metrics(const CommonOptions& common) {
  return with_backend(common, Backend::Needs::daemon, [](Backend& backend) -> int {
    auto status = backend.call(DaemonStatus{});
    if (!status) return fail(status.error());
    auto stats = backend.call(DaemonStats{});
    if (!stats) return fail(stats.error());
    print(metrics_text(*status, *stats));
    return kDone;
  });
}

int run_doctor(const CommonOptions& common) {
  return ask(common, Backend::Needs::any_engine, DaemonDoctor{}, doctor_text);
}

int run_schema() {
  print(schema_text());
  return kDone;
}

}  // namespace tracectl
