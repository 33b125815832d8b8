// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <span>
#include <string>

namespace CLI {
class App;
}

namespace tracectl {

// What shells offer for the word with the number `cursor` of a command line, that of tracectl itself not counted. Words are
// as they were typed, in quotes or not. Prints a candidate a line, with a tab and its description where it has one. Before
// them are lines for what the shell itself can list: `:files`, `:directories`, `:commands`, `:units`.
void print_completions(const CLI::App& app, size_t cursor, std::span<const std::string> typed);

}  // namespace tracectl
