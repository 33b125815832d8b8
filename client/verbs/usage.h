// SPDX-License-Identifier: BSD-2-Clause
//
// The messages for command lines that cannot be understood.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tracectl {

// The program and the chosen verb: "tracectl session show".
std::string words_of(const CLI::App& app);

// For App::failure_message: the error and its remedy, in the form of other errors.
std::string usage_text(const CLI::App* app, const CLI::Error& error);

}  // namespace tracectl
