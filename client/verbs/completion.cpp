// SPDX-License-Identifier: BSD-2-Clause
#include "client/verbs/completion.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "client/connection/backend.h"
#include "client/export/export.h"
#include "client/recipes/recipes.h"
#include "client/target/containers.h"
#include "client/target/known_patterns.h"
#include "client/verbs/awaited.h"
#include "daemon/process/command.h"
#include "daemon/process/running.h"

namespace tracectl {
namespace {

namespace fs = std::filesystem;
using Candidates = std::vector<std::pair<std::string, std::string>>;  // with their descriptions
using Values = std::map<std::string, std::string>;                    // by options

constexpr unsigned kLongestSeconds = 2;  // then the shell goes on without an answer
constexpr std::string_view kHome = "~/";

// The command line around the word that is completed.
struct Line {
  std::string before;  // of the word: --OPTION=
  std::string typed;
  Values values;
  std::vector<std::string> command;  // after --

  std::string value_of(const std::string& option) const {
    const auto found = values.find(option);
    return found == values.end() ? "" : found->second;
  }
};

// Opens what the process runs, whatever its path leads to here.
std::string executable_of(const std::string& pid) { return "/proc/" + pid + "/exe"; }

// The program that is traced, as far as the line tells.
std::string program_of(const Line& line) {
  if (const std::string file = line.value_of("--executable"); !file.empty()) return file;
  if (const std::string pid = line.value_of("--pid"); !pid.empty()) return executable_of(pid);
  if (line.command.empty()) return {};
  const auto path = find_program(line.command.front());
  return path ? *path : "";
}

// ---- candidates by the names of values ----

Candidates sessions(const Line& line) {
  CommonOptions common;
  if (const std::string socket = line.value_of("--socket"); !socket.empty())
    common.socket = socket;
  else if (const char* of_environment = std::getenv("TRACECTL_SOCKET"))
    common.socket = of_environment;
  auto opened = Backend::open(common, Backend::Needs::daemon);
  auto* backend = std::get_if<Backend>(&opened);
  if (!backend) return {};
  const auto reply = backend->call(protocol::SessionList{});
  if (!reply) return {};
  Candidates all;
  for (const auto& session : reply->sessions) all.emplace_back(session.name, "");
  return all;
}

Candidates recipes(const Line&) {
  Candidates all;
  for (const Recipe& recipe : all_recipes()) all.emplace_back(recipe.name, recipe.tells);
  return all;
}

Candidates export_names(const Line&) {
  Candidates all;
  for (const ExportFormat& format : export_formats()) all.emplace_back(format.name, format.tells);
  return all;
}

Candidates stack_formats(const Line&) { return {{"symbols", ""}, {"raw", ""}, {"build-id", ""}}; }

Candidates patterns(const Line& line) {
  Candidates all;
  for (std::string& pattern : known_patterns(line.typed, program_of(line)))
    all.emplace_back(std::move(pattern), "");
  return all;
}

Candidates processes(const Line&) {
  Candidates all;
  for (const pid_t pid : all_processes()) {
    std::string name;
    std::ifstream comm("/proc/" + std::to_string(pid) + "/comm");
    std::getline(comm, name);
    all.emplace_back(std::to_string(pid), name);
  }
  return all;
}

Candidates containers(const Line&) {
  constexpr size_t kShownDigits = 12;
  Candidates all;
  for (const Container& container : known_containers())
    for (const std::string& name : container.names)
      all.emplace_back(name, container.id.substr(0, kShownDigits));
  return all;
}

Candidates pods(const Line&) {
  std::set<std::string> names;
  for (const Container& container : known_containers())
    if (!container.pod.empty()) names.insert(container.pod);
  Candidates all;
  for (const std::string& name : names) all.emplace_back(name, "");
  return all;
}

Candidates running_programs(const Line&) {
  std::set<std::string> paths;
  for (const pid_t pid : all_processes()) {
    std::error_code error;
    paths.insert(fs::read_symlink(executable_of(std::to_string(pid)), error).string());
  }
  Candidates all;
  for (const std::string& path : paths) all.emplace_back(path, "runs now");
  return all;
}

struct Source {
  const char* value;                          // its name in the help
  const char* by_shell;                       // a line for the shell; empty: none
  std::function<Candidates(const Line&)> of;  // null: none
};

const Source* source_of(const std::string& value) {
  static const std::vector<Source> all{
      {"SESSION", "", sessions},
      {"RECIPE", "", recipes},
      {"[FORMAT]", "", export_names},
      {"FORMAT", "", stack_formats},
      {"PATTERN", "", patterns},
      {"FUNCTION", "", patterns},
      {"PID", "", processes},
      {"PROGRAM", ":files", running_programs},
      {"FILE", ":files", nullptr},
      {"PATH", ":files", nullptr},
      {"CGROUP", ":directories", nullptr},
      {"UNIT", ":units", nullptr},
      {"NAME|ID", "", containers},
      {"NAMESPACE/NAME", "", pods},
  };
  const auto found = std::ranges::find(all, value, &Source::value);
  return found == all.end() ? nullptr : &*found;
}

// ---- output ----

bool is_letter_or_one_of(std::string_view others, char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || others.find(c) != others.npos;
}

// Whether a shell takes it as one word, and as itself. Names of files, of their symbols and of processes can be anything,
// and bash puts words into the command line as they are. At the beginning of a word ~ and = are expanded, : is a line for
// the shell, and - an option.
bool is_plain(std::string_view word) {
  return !word.empty() && is_letter_or_one_of("_./", word.front()) &&
         std::ranges::all_of(word, [](char c) { return is_letter_or_one_of("_:.,/+-@%=~", c); });
}

// What begins in the user's home directory may begin with ~ if that was typed.
bool is_plain_after(const std::string& typed, std::string_view word) {
  return is_plain(typed.starts_with(kHome) ? word.substr(1) : word);
}

std::string without_control(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return std::iscntrl(c); }, '?');
  return text;
}

void print_candidate(const std::string& word, const std::string& description) {
  std::puts((word + (description.empty() ? "" : "\t") + without_control(description)).c_str());
}

void print_candidates(const Candidates& candidates, const Line& line) {
  for (const auto& [word, description] : candidates)
    if (word.starts_with(line.typed) && is_plain_after(line.typed, word))
      print_candidate(line.before + word, description);
}

void print_options(const Candidates& options, const Line& line) {
  for (const auto& [name, description] : options)
    if (name.starts_with(line.typed)) print_candidate(name, description);
}

void print_awaited(const Awaited& awaited, const Line& line) {
  if (awaited.option.empty() && line.typed.starts_with('-'))
    return print_options(awaited.options, line);
  const bool is_here = line.value_of("--host").empty();
  if (const Source* source = source_of(awaited.value); source && is_here) {
    if (*source->by_shell && line.before.empty()) std::puts(source->by_shell);
    if (source->of) print_candidates(source->of(line), line);
  }
  print_candidates(awaited.verbs, line);
}

// ---- words of the shell ----

bool is_quoted(const std::string& word) { return word.starts_with('\'') || word.starts_with('"'); }

// Shells hand words over as they were typed. The last quote may not have been.
std::string without_quotes(const std::string& word) {
  std::string text;
  char quote = '\0';
  for (size_t at = 0; at < word.size(); ++at) {
    const char c = word[at];
    if (c == quote)
      quote = '\0';
    else if (!quote && (c == '\'' || c == '"'))
      quote = c;
    else if (quote != '\'' && c == '\\' && at + 1 < word.size())
      text += word[++at];
    else
      text += c;
  }
  return text;
}

std::string with_home(const std::string& word) {
  const char* home = std::getenv("HOME");
  return home && word.starts_with(kHome) ? home + word.substr(1) : word;
}

std::string as_shell_reads(const std::string& word) { return without_quotes(with_home(word)); }

std::vector<std::string> as_shell_reads_all(std::span<const std::string> words) {
  std::vector<std::string> all;
  for (const std::string& word : words) all.push_back(as_shell_reads(word));
  return all;
}

}  // namespace

void print_completions(const CLI::App& app, size_t cursor, std::span<const std::string> typed) {
  ::alarm(kLongestSeconds);
  const auto words = as_shell_reads_all(typed);
  const auto dashes = std::ranges::find(words, "--");
  const auto at_dashes = static_cast<size_t>(dashes - words.begin());
  if (cursor > at_dashes) return (void)std::puts(cursor == at_dashes + 1 ? ":commands" : ":files");
  const std::string word = cursor < typed.size() ? typed[cursor] : "";
  Line line{.before = "",
            .typed = without_quotes(word),
            .values = values_in(app, std::span(words).first(at_dashes)),
            .command = {}};
  if (is_quoted(word) && line.typed.starts_with(kHome)) return;  // that is no home directory
  if (at_dashes < words.size()) line.command.assign(dashes + 1, words.end());
  std::vector<std::string> before(words.begin(), words.begin() + static_cast<ptrdiff_t>(cursor));
  if (const size_t equals = line.typed.find('=');
      line.typed.starts_with("--") && equals != line.typed.npos) {
    before.push_back(line.typed.substr(0, equals));
    line.before = line.typed.substr(0, equals + 1);
    line.typed.erase(0, equals + 1);
  }
  print_awaited(awaited_after(app, before), line);
}

}  // namespace tracectl
