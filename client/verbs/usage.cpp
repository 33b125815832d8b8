// SPDX-License-Identifier: BSD-2-Clause
#include "client/verbs/usage.h"

#include <cctype>
#include <string_view>
#include <vector>

#include "daemon/base/nearest.h"

namespace tracectl {
namespace {

const CLI::App& verb_of(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : verb_of(*chosen.front());
}

// For a sentence that continues another; names keep their capitals.
std::string in_lower_case(std::string text) {
  const auto letter = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.size() > 1 && !std::isupper(letter(1)))
    text[0] = static_cast<char>(std::tolower(letter(0)));
  return text;
}

std::string no_such_verb(const CLI::App& verb, const std::string& wrong) {
  std::vector<std::string_view> names;
  for (const CLI::App* one : verb.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(one->get_name());
  return "there is no verb \"" + wrong + '"' + did_you_mean(wrong, names);
}

// CLI11 says "Could not convert: --pid = 1x".
std::string no_number(const std::string& what) {
  const size_t name = what.find(": ") + 2, equals = what.find(" = ", name);
  return what.substr(name, equals - name) + " takes a number, not \"" + what.substr(equals + 3) +
         '"';
}

std::string text_of(const CLI::Error& error) {
  const std::string what = error.what();
  const bool is_value = error.get_name() == "ConversionError" && what.find(" = ") != what.npos;
  return is_value ? no_number(what) : in_lower_case(what);
}

}  // namespace

std::string words_of(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return app.get_name() + (chosen.empty() ? "" : ' ' + words_of(*chosen.front()));
}

std::string usage_text(const CLI::App* app, const CLI::Error& error) {
  const CLI::App& verb = verb_of(*app);
  std::string what = text_of(error);
  const auto rest = app->remaining(true);
  const bool lacks_verb =
      verb.get_require_subcommand_min() > 0 && error.get_name() == "RequiredError";
  if (lacks_verb && !rest.empty()) what = no_such_verb(verb, rest.front());
  return "tracectl: " + what + "; see " + words_of(*app) + " --help\n";
}

}  // namespace tracectl
