// SPDX-License-Identifier: BSD-2-Clause
//
// tracectl-usdt: converts a DTrace provider file to a header of typed probes.
#include <cstdio>

#include "usdt/generator/empty_object.h"
#include "usdt/generator/files.h"
#include "usdt/generator/header.h"
#include "usdt/generator/options.h"
#include "usdt/generator/provider_file.h"

namespace {

using namespace tracectl;
using namespace tracectl::generator;

// Adds a caret under the line. Keeps tabs, so that the caret is under the error.
std::string with_caret(const Spot& spot) {
  std::string blank = spot.text.substr(0, spot.column);
  for (char& c : blank)
    if (c != '\t') c = ' ';
  return "  " + spot.text + "\n  " + blank + "^\n";
}

constexpr int kBadUsage = 2;

int fail(const Error& error) {
  const std::string text = error.spot ? error.message + "\n" + with_caret(*error.spot)
                                      : "tracectl-usdt: " + error.message + "\n";
  std::fputs(text.c_str(), stderr);
  return 1;
}

// The provider file is read for an object, too, so that the first build step reports its errors.
Result<std::string> make(const Options& options) {
  auto text = options.is_preprocessed ? preprocess(options.input, options.preprocessor)
                                      : read_file(options.input);
  if (!text) return text.error();
  const auto file = parse_provider_file(*text, options.input);
  if (!file) return file.error();
  if (options.action == Options::Action::object) return empty_object();
  return header_text(*file, options.input);
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = read_options({argv + 1, argv + argc});
  if (!options) return fail(options.error()), kBadUsage;
  if (options->action == Options::Action::help) return std::fputs(help_text().c_str(), stdout), 0;
  if (options->action == Options::Action::version) return std::puts(TRACECTL_VERSION), 0;
  const auto made = make(*options);
  if (!made) return fail(made.error());
  if (auto written = write_file(options->output, *made); !written) return fail(written.error());
  return 0;
}
