// SPDX-License-Identifier: BSD-2-Clause
#include "client/verbs/usage.h"

#include <algorithm>
#include <array>
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

// Words of other tools, and what is typed here instead.
struct OtherWord {
  std::string_view word, instead;
};

constexpr std::array kOtherWords = std::to_array<OtherWord>({
    {"-e", "tracectl trace PATTERN -p PID --when CONDITION --do ACTION"},
    {"-l", "tracectl list PATTERN"},
    {"attach", "tracectl trace PATTERN -p PID"},
    {"detach", "tracectl session delete SESSION"},
    {"start", "tracectl commit SESSION, or tracectl resume SESSION after a pause"},
    {"enable", "tracectl commit SESSION, or tracectl resume SESSION after a pause"},
    {"stop", "tracectl pause SESSION, or tracectl session delete SESSION"},
    {"disable", "tracectl pause SESSION, or tracectl session delete SESSION"},
    {"kill", "tracectl session delete SESSION"},
    {"replay", "tracectl show FILE, or tracectl report FILE"},
    {"script", "tracectl show FILE"},
    {"stat", "tracectl count PATTERN, or tracectl time PATTERN"},
    {"create", "new"},
    {"rm", "delete"},
    {"destroy", "delete"},
    {"ls", "list"},
    {"add", "set"},
    {"clear", "remove"},
});

// What there is here instead of a word of another tool: a verb of `names`, or a whole command.
std::string instead_of(std::string_view wrong, const std::vector<std::string_view>& names) {
  const auto found = std::ranges::find(kOtherWords, wrong, &OtherWord::word);
  if (found == kOtherWords.end()) return {};
  const bool is_verb = std::ranges::find(names, found->instead) != names.end();
  const bool is_command = found->instead.starts_with("tracectl ");
  return is_verb || is_command ? ": it is " + std::string(found->instead) + " here" : "";
}

std::string no_such_verb(const CLI::App& verb, const std::string& wrong) {
  std::vector<std::string_view> names;
  for (const CLI::App* one : verb.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(one->get_name());
  const std::string instead = instead_of(wrong, names);
  return "there is no verb \"" + wrong + '"' +
         (instead.empty() ? did_you_mean(wrong, names) : instead);
}

std::string which_verb(const CLI::App& verb) {
  std::string names;
  for (const CLI::App* one : verb.get_subcommands([](const CLI::App*) { return true; }))
    names += (names.empty() ? "" : ", ") + one->get_name();
  return "which of its verbs? " + names;
}

// Of the verb, and of those around it.
std::vector<std::string> options_of(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::App* app = &verb; app; app = app->get_parent())
    for (const CLI::Option* one : app->get_options())
      for (const std::string& name : one->get_lnames()) names.push_back("--" + name);
  return names;
}

std::string not_expected(const CLI::App& verb, const std::string& wrong) {
  if (!wrong.starts_with('-')) return '"' + wrong + "\" is one argument too many";
  const auto options = options_of(verb);
  const std::vector<std::string_view> names(options.begin(), options.end());
  const std::string name = wrong.substr(0, wrong.find('='));
  return "there is no option " + name + did_you_mean(name, names);
}

// CLI11 says "Could not convert: --pid = 1x".
std::string no_number(const std::string& what) {
  const size_t name = what.find(": ") + 2, equals = what.find(" = ", name);
  return what.substr(name, equals - name) + " takes a number, not \"" + what.substr(equals + 3) +
         '"';
}

// CLI11 says "--socket: At Most 1 required but received 2".
std::string given_twice(const std::string& what) {
  return what.substr(0, what.find(": ")) + " is given more than once";
}

// CLI11 says "Requires at least 1 option from [SESSION,--all] ...".
std::string one_of_several(const std::string& what) {
  const size_t begin = what.find('[') + 1;
  std::string names = what.substr(begin, what.find(']') - begin);
  for (size_t at = names.find(','); at != names.npos; at = names.find(',', at + 4))
    names.replace(at, 1, " or ");
  return "give " + names;
}

std::string text_of(const CLI::Error& error) {
  const std::string what = error.what();
  if (what.find(": At Most 1 required") != what.npos) return given_twice(what);
  if (error.get_name() == "RequiredError" && what.find("1 option from [") != what.npos)
    return one_of_several(what);
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
  if (lacks_verb && rest.empty() && verb.get_parent()) what = which_verb(verb);
  if (what.find("not expected: ") != what.npos && !rest.empty()) {
    const auto option =
        std::ranges::find_if(rest, [](const std::string& one) { return one.starts_with('-'); });
    what = not_expected(verb, option != rest.end() ? *option : rest.front());
  }
  return "tracectl: " + what + "; see " + words_of(*app) + " --help\n";
}

}  // namespace tracectl
