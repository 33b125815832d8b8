// SPDX-License-Identifier: BSD-2-Clause
//
// The grammar of command lines: verbs and their options. CLI11 stands behind it and is included by few sources only,
// because it takes seconds to compile.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/verbs/verb.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tracectl {

// An option of a grammar, valid as long as the grammar. Each function returns the option itself.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option required();
  Option one_at_a_time();                      // a value each time it is given, and no list
  Option value_name(const std::string& name);  // in the help
  Option shows_default();
  Option expects(int least, int most);  // numbers of values
  // `wrong`: the error in the value, or an empty string.
  Option check(std::function<std::string(const std::string&)> wrong);
  // Each value is replaced.
  Option rewritten(std::function<std::string(const std::string&)> as);
  Option in_range(int least, int most);
  Option in_range(uint64_t least, uint64_t most);
  Option positive();
  Option not_negative();
  Option needs(Option other);
  Option excludes(Option other);
  Option environment(const std::string& variable);

  bool operator==(const Option&) const = default;

 private:
  CLI::Option* option_;
};

struct CommandLine;
class VerbsHelp;

// The options of a verb, of a group of verbs, or of all. Values are referred to until the command line was read.
class Grammar {
 public:
  Grammar(CLI::App& app, CommandLine& line, VerbsHelp* help = nullptr)
      : app_(app), line_(line), help_(help) {}

  // For std::string, numbers, and std::optional or std::vector of them: grammar.cpp has the list.
  template <class T> Option option(const std::string& names, T& value, const std::string& help);
  Option flag(const std::string& names, bool& value, const std::string& help);
  Option flag(const std::string& names, std::function<void()> given, const std::string& help);
  void at_least_one_option();
  void footer(const std::string& text);  // added to the end of the help
  void starts_command();                 // the help says so

  template <std::derived_from<Verb> V, class... Args>
  void verb(const std::string& name, const std::string& help, Args&&... args) {
    add(name, help, std::make_unique<V>(std::forward<Args>(args)...));
  }
  Grammar group(const std::string& name,
                const std::string& help);  // of verbs, one of which is needed
  // Begins a part of the help: the verbs that are added next, with command lines as examples.
  void part(const std::string& title, std::vector<std::string> examples);

 private:
  void add(const std::string& name, const std::string& help, std::unique_ptr<Verb> verb);

  CLI::App& app_;
  CommandLine& line_;
  VerbsHelp* help_;  // of the outermost grammar
};

// The words of one command line, read by a grammar.
class CommandLineReader {
 public:
  explicit CommandLineReader(CommandLine& line);
  ~CommandLineReader();

  Grammar grammar();
  // Prints errors and help. Returns an exit status if there is nothing to run.
  std::optional<int> read(std::vector<std::string> words);
  std::string verb() const;  // "tracectl session show"
  // For the completion of a shell: client/verbs/completion.h.
  void print_completions(size_t cursor, const std::vector<std::string>& words) const;

 private:
  std::unique_ptr<CLI::App> app_;
  std::shared_ptr<VerbsHelp> help_;
  CommandLine& line_;
};

}  // namespace tracectl
