// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/examination.h"

#include "daemon/base/clock.h"
#include "daemon/kernel/doctor.h"

namespace tracectl {
namespace {

// The kernel's features stay the same while this process runs. Only measured times, and tests that could not be
// made, can have other results later.
constexpr uint64_t kHoldsNs = 10'000'000'000;

const char* name_of(Finding::Verdict verdict) {
  switch (verdict) {
    case Finding::Verdict::yes: return "yes";
    case Finding::Verdict::no: return "no";
    case Finding::Verdict::unknown: return "unknown";
  }
  return "unknown";
}

protocol::DoctorReply examined_now() {
  protocol::DoctorReply reply{.kernel = kernel_release(), .checks = {}};
  for (const Finding& finding : examine_kernel())
    reply.checks.push_back({finding.name, name_of(finding.verdict), finding.found, finding.means});
  return reply;
}

}  // namespace

protocol::DoctorReply Examination::last() {
  if (!found_ || boot_ns() - found_->at_ns > kHoldsNs) found_ = Found{boot_ns(), examined_now()};
  return found_->reply;
}

}  // namespace tracectl
