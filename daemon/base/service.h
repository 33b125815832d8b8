// SPDX-License-Identifier: BSD-2-Clause
//
// The socket that systemd passes to a service that it starts, and the reports of the service to systemd. In a
// process that systemd has not started, nothing is passed, and reports have no effect.
#pragma once

#include <optional>
#include <string>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"

namespace tracectl {

// The listening Unix stream socket of the service's socket unit, or none if it has no such unit.
Result<std::optional<Fd>> socket_of_service();

// Whether standard error goes to the journal.
bool logs_to_journal();

// `systemctl status` shows `status`.
void notify_service_ready(const std::string& status);
void notify_service_reloading();
void notify_service_stopping();

}  // namespace tracectl
