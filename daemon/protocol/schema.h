// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <span>
#include <string>

#include "daemon/protocol/json.h"

namespace tracectl::protocol {

// JSON Schema (draft 2020-12) of every message's content, made from the lists of fields in
// messages.h. `$defs` holds METHOD.request and METHOD.reply for each method, the notifications
// `event` and `lost`, and `error`. Any of them validates the document itself.
Json schema();
// The same of these of its $defs only; all of them are there.
Json schema_of(std::span<const std::string> names);
std::string schema_text(const Json& schema);  // indented, with a line feed at the end

}  // namespace tracectl::protocol
