// SPDX-License-Identifier: BSD-2-Clause
#include "client/verbs/grammar.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "client/verbs/command_line.h"
#include "client/verbs/completion.h"
#include "client/verbs/usage.h"

namespace tracectl {

// ---- help ----

// Lists the verbs in parts, each with its examples.
class VerbsHelp final : public CLI::Formatter {
 public:
  void begin(const std::string& title, std::vector<std::string> examples) {
    parts_.push_back({title, std::move(examples), {}});
  }
  void add(const CLI::App* verb) {
    if (!parts_.empty()) parts_.back().verbs.push_back(verb);
  }

  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override {
    if (app->get_parent()) return CLI::Formatter::make_subcommands(app, mode);
    std::string text = "\nSubcommands:\n";
    for (const Part& part : parts_) {
      text += "\n" + part.title + "\n";
      for (const CLI::App* verb : part.verbs) text += make_subcommand(verb);
      for (const std::string& example : part.examples) text += "    $ " + example + "\n";
    }
    return text;
  }

 private:
  struct Part {
    std::string title;
    std::vector<std::string> examples;
    std::vector<const CLI::App*> verbs;
  };
  std::vector<Part> parts_;
};

// ---- options ----

Option Option::required() { return option_->required(), *this; }
Option Option::one_at_a_time() { return option_->allow_extra_args(false), *this; }
Option Option::value_name(const std::string& name) { return option_->option_text(name), *this; }
Option Option::shows_default() { return option_->capture_default_str(), *this; }
Option Option::expects(int least, int most) { return option_->expected(least, most), *this; }
Option Option::check(std::function<std::string(const std::string&)> wrong) {
  return option_->check(std::move(wrong)), *this;
}
Option Option::rewritten(std::function<std::string(const std::string&)> as) {
  return option_->transform([as = std::move(as)](std::string value) { return as(value); }), *this;
}
Option Option::in_range(int least, int most) {
  return option_->check(CLI::Range(least, most)), *this;
}
Option Option::in_range(uint64_t least, uint64_t most) {
  return option_->check(CLI::Range(least, most)), *this;
}
Option Option::positive() { return option_->check(CLI::PositiveNumber), *this; }
Option Option::not_negative() { return option_->check(CLI::NonNegativeNumber), *this; }
Option Option::needs(Option other) { return option_->needs(other.option_), *this; }
Option Option::excludes(Option other) { return option_->excludes(other.option_), *this; }
Option Option::environment(const std::string& variable) {
  return option_->envname(variable), *this;
}

// ---- grammars ----

template <class T>
Option Grammar::option(const std::string& names, T& value, const std::string& help) {
  return Option{app_.add_option(names, value, help)};
}
template Option Grammar::option(const std::string&, std::string&, const std::string&);
template Option Grammar::option(const std::string&, std::optional<std::string>&,
                                const std::string&);
template Option Grammar::option(const std::string&, std::vector<std::string>&, const std::string&);
template Option Grammar::option(const std::string&, std::vector<int64_t>&, const std::string&);
template Option Grammar::option(const std::string&, uint64_t&, const std::string&);
template Option Grammar::option(const std::string&, std::optional<uint64_t>&, const std::string&);
template Option Grammar::option(const std::string&, std::optional<double>&, const std::string&);

Option Grammar::flag(const std::string& names, bool& value, const std::string& help) {
  return Option{app_.add_flag(names, value, help)};
}

Option Grammar::flag(const std::string& names, std::function<void()> given,
                     const std::string& help) {
  return Option{app_.add_flag_callback(names, std::move(given), help)};
}

void Grammar::at_least_one_option() { app_.require_option(1, 0); }
void Grammar::footer(const std::string& text) { app_.footer(app_.get_footer() + text); }
void Grammar::starts_command() {
  footer(
      "-- COMMAND... at the end starts this command, and traces it from its first "
      "instruction.\n");
}

Grammar Grammar::group(const std::string& name, const std::string& help) {
  CLI::App* verbs = app_.add_subcommand(name, help);
  verbs->require_subcommand(1);
  verbs->fallthrough();
  if (help_) help_->add(verbs);
  return {*verbs, line_};
}

void Grammar::part(const std::string& title, std::vector<std::string> examples) {
  help_->begin(title, std::move(examples));
}

void Grammar::add(const std::string& name, const std::string& help, std::unique_ptr<Verb> verb) {
  CLI::App* app = app_.add_subcommand(name, help);
  if (help_) help_->add(app);
  app->fallthrough();
  app->callback([&line = line_, verb = verb.get()] { line.chosen = verb; });
  Grammar grammar{*app, line_};
  verb->add_options(grammar);
  line_.verbs.push_back(std::move(verb));
}

// ---- command lines ----

static std::string exit_statuses_text() {
  std::string text = "Exit status, which once a command runs is the command's own:\n";
  for (const auto& [status, meaning] : kExitMeanings) {
    const std::string number = std::to_string(status);
    text += "  " + number + std::string(5 - number.size(), ' ') + meaning + "\n";
  }
  return text;
}

// `help VERB...` is `VERB... --help`.
static std::vector<std::string> asking_for_help(std::vector<std::string> words) {
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

CommandLineReader::CommandLineReader(CommandLine& line)
    : app_(std::make_unique<CLI::App>("Traces running programs with uprobes and USDT probes.",
                                      "tracectl")),
      help_(std::make_shared<VerbsHelp>()),
      line_(line) {
  app_->formatter(help_);
  app_->require_subcommand(1);
  app_->fallthrough();
  app_->failure_message(usage_text);
  app_->footer(exit_statuses_text());
  app_->set_version_flag("-V,--version", TRACECTL_VERSION);
}

CommandLineReader::~CommandLineReader() = default;

Grammar CommandLineReader::grammar() { return {*app_, line_, help_.get()}; }

std::optional<int> CommandLineReader::read(std::vector<std::string> words) {
  if (!words.empty() && words.front() == "help") words = asking_for_help(std::move(words));
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app_->parse(words);
  } catch (const CLI::ParseError& error) {
    return app_->exit(error) == 0 ? kDone : kUsage;
  }
  return std::nullopt;
}

std::string CommandLineReader::verb() const { return words_of(*app_); }

void CommandLineReader::print_completions(size_t cursor,
                                          const std::vector<std::string>& words) const {
  tracectl::print_completions(*app_, cursor, words);
}

}  // namespace tracectl
