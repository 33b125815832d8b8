// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/connection/backend.h"
#include "client/target/named_debug_files.h"
#include "daemon/protocol/messages.h"

namespace tracectl {

// What can be traced in the target, as far as this user may: with the files and the processes that it can open.
// `returns` and `types`: as in the request.
Result<protocol::ProbeListReply> list_probes(Backend& backend,
                                             const std::vector<std::string>& patterns,
                                             const std::string& scope,
                                             const protocol::TargetPart& target,
                                             NamedDebugFiles& debug_files,
                                             std::optional<std::string> returns = std::nullopt,
                                             std::optional<uint64_t> types = std::nullopt);

bool is_no_match(const Error& error);
// The error of the last of so many files in which nothing matches.
Error none_of(size_t files, Error last);

// With -a, a pattern whose OBJECT is a name or a glob stands for the files that have a probe which fits: of those that
// any process maps, or that with_mapped_objects() finds otherwise. Fails if none has. Without -a, the same patterns.
Result<std::vector<std::string>> with_objects_of_all(Backend& backend,
                                                     const std::vector<std::string>& patterns,
                                                     const std::string& scope,
                                                     const protocol::TargetPart& target,
                                                     NamedDebugFiles& debug_files);

}  // namespace tracectl
