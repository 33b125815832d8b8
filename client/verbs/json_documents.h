// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tracectl {

// The documents that a verb prints with --json, by their names in the schema's $defs; none of a verb that prints no JSON,
// nullopt if there is no such verb. `verb`: its words, as "session new".
std::optional<std::vector<std::string>> json_documents_of(const std::string& verb);

}  // namespace tracectl
