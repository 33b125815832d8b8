// SPDX-License-Identifier: BSD-2-Clause
//
// What systemd hands to a service that it starts, and is told by it. In a process that it has not
// started nothing is handed over, and nobody is told.
#pragma once

#include <optional>
#include <string>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"

namespace tracectl {

// The listening Unix stream socket of the service's socket unit. None where it has no such unit.
Result<std::optional<Fd>> socket_of_service();

// Whether standard error leads into the journal.
bool logs_to_journal();

// `status` is what `systemctl status` shows.
void tell_service_ready(const std::string& status);
void tell_service_reloading();
void tell_service_stopping();

}  // namespace tracectl
