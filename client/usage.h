// SPDX-License-Identifier: BSD-2-Clause
//
// How a command line that cannot be understood is told of.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tracectl {

// The program and the verb that was chosen: "tracectl session show".
std::string words_of(const CLI::App& app);

// As App::failure_message wants it: like other errors, what is wrong and what to do.
std::string usage_text(const CLI::App* app, const CLI::Error& error);

}  // namespace tracectl
