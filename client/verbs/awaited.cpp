// SPDX-License-Identifier: BSD-2-Clause
#include "client/verbs/awaited.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace tracectl {
namespace {

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// "--pid" rather than "-p"
std::string name_of(const CLI::Option& option) {
  return option.get_lnames().empty() ? "-" + option.get_snames().front()
                                     : "--" + option.get_lnames().front();
}

std::vector<const CLI::Option*> arguments_of(const CLI::App& verb) {
  return verb.get_options([](const CLI::Option* one) { return one->get_positional(); });
}

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

const CLI::App* find_verb(const CLI::App& app, const std::string& name) {
  const auto verbs = verbs_of(app);
  const auto found = std::ranges::find(verbs, name, &CLI::App::get_name);
  return found == verbs.end() ? nullptr : *found;
}

// Like CLI11, but without errors, because the line is not complete yet.
class WordReader {
 public:
  explicit WordReader(const CLI::App& app) : verb_(&app) {}

  void take(const std::string& word) {
    if (option_ && word == "=") return;  // bash makes three words of --OPTION=VALUE
    if (option_)
      values_[name_of(*option_)] = word, option_ = nullptr;
    else if (word.size() > 1 && word.front() == '-')
      take_option(word);
    else if (arguments_ < arguments_of(*verb_).size())
      ++arguments_;
    else if (const CLI::App* verb = find_verb(*verb_, word))
      verb_ = verb, arguments_ = 0;
  }

  Awaited awaited() const {
    if (option_)
      return {.verbs = {},
              .options = {},
              .value = option_->get_option_text(),
              .option = name_of(*option_)};
    Awaited all{.verbs = {}, .options = options(), .value = argument(), .option = ""};
    if (all.value.empty())
      for (const CLI::App* one : verbs_of(*verb_))
        all.verbs.emplace_back(one->get_name(), one->get_description());
    return all;
  }

  const std::map<std::string, std::string>& values() const { return values_; }

 private:
  void take_option(const std::string& word) {
    const size_t equals = word.find('=');
    const CLI::Option* option = find_option(word.substr(0, equals));
    if (!option && word.size() > 2 && word[1] != '-') return take_short(word);
    if (!option || !takes_value(*option)) return;
    if (equals == word.npos)
      option_ = option;
    else
      values_[name_of(*option)] = word.substr(equals + 1);
  }

  // -p4711
  void take_short(const std::string& word) {
    const CLI::Option* option = find_option(word.substr(0, 2));
    if (option && takes_value(*option)) values_[name_of(*option)] = word.substr(2);
  }

  const CLI::Option* find_option(const std::string& name) const {
    for (const CLI::App* app = verb_; app; app = app->get_parent())
      if (const CLI::Option* option = app->get_option_no_throw(name)) return option;
    return nullptr;
  }

  // The name of the argument that can come next. The last one can come again if it is a list.
  std::string argument() const {
    const auto all = arguments_of(*verb_);
    if (all.empty()) return {};
    const bool is_again = arguments_ >= all.size() && all.back()->get_items_expected_max() > 1;
    if (arguments_ >= all.size() && !is_again) return {};
    return all[is_again ? all.size() - 1 : arguments_]->get_name(true);
  }

  std::vector<std::pair<std::string, std::string>> options() const {
    std::vector<std::pair<std::string, std::string>> all;
    for (const CLI::App* app = verb_; app; app = app->get_parent())
      for (const CLI::Option* one : app->get_options()) {
        for (const std::string& name : one->get_snames())
          all.emplace_back("-" + name, one->get_description());
        for (const std::string& name : one->get_lnames())
          all.emplace_back("--" + name, one->get_description());
      }
    return all;
  }

  const CLI::App* verb_;
  const CLI::Option* option_ = nullptr;  // whose value is awaited
  size_t arguments_ = 0;                 // of the verb, so far
  std::map<std::string, std::string> values_;
};

WordReader read_words(const CLI::App& app, std::span<const std::string> words) {
  WordReader read(app);
  for (const std::string& word : words) read.take(word);
  return read;
}

}  // namespace

Awaited awaited_after(const CLI::App& app, std::span<const std::string> words) {
  return read_words(app, words).awaited();
}

std::map<std::string, std::string> values_in(const CLI::App& app,
                                             std::span<const std::string> words) {
  return read_words(app, words).values();
}

}  // namespace tracectl
