// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/probe_names.h"

#include <algorithm>
#include <map>
#include <set>

#include "client/options/display.h"
#include "client/render/call_names.h"
#include "daemon/model/pattern.h"
#include "daemon/object/demangle.h"

namespace tracectl {
namespace {

using Patterns = std::map<std::string_view, Pattern>;  // by canonical name

std::optional<Pattern> pattern_of(std::string_view probe) {
  auto pattern = parse_pattern(probe);
  if (!pattern || pattern->bare) return std::nullopt;
  return *std::move(pattern);
}

// The linkage name last, the shortest one first.
std::vector<std::string> functions_of(const Pattern& pattern, const std::string& symbol) {
  std::vector<std::string> functions;
  if (!display().linkage_names && pattern.kind != ProbeKind::usdt) {
    if (auto name = demangle_name(symbol)) functions.push_back(*std::move(name));
    if (auto name = demangle(symbol)) functions.push_back(*std::move(name));
  }
  functions.push_back(symbol);
  return functions;
}

std::string_view file_name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Of a line or call, its file's name first; else an empty one.
std::vector<std::string> files_of(const Pattern& pattern) {
  std::vector<std::string> files{pattern.file};
  if (!pattern.file.empty()) files.insert(files.begin(), std::string(file_name_of(pattern.file)));
  return files;
}

// From the shortest to the one that no other probe has. Some names of templates are too long for a pattern.
std::vector<std::string> forms_of(Pattern pattern) {
  std::vector<std::string> forms;
  const std::string linked = pattern.function;
  const auto functions = functions_of(pattern, pattern.function);
  const auto hosts = functions_of(pattern, pattern.host);
  const size_t levels = std::max(functions.size(), hosts.size());
  for (const std::string& file : files_of(pattern))
    for (size_t level = 0; level < levels; ++level) {
      pattern.file = file;
      pattern.function = functions[std::min(level, functions.size() - 1)];
      pattern.host = hosts[std::min(level, hosts.size() - 1)];
      std::string form = to_string(pattern);
      if (parse_pattern(form) || level + 1 == levels) forms.push_back(std::move(form));
    }
  return forms;
}

// A name that OBJECT of a pattern can be.
bool is_plain(std::string_view file_name) {
  return !file_name.empty() && !is_glob(file_name) && file_name.find(':') == file_name.npos;
}

void shorten_objects(Patterns& patterns) {
  std::map<std::string, std::set<std::string>> paths;  // by file name
  for (const auto& [probe, pattern] : patterns)
    paths[std::string(file_name_of(pattern.object))].insert(pattern.object);
  for (auto& [probe, pattern] : patterns) {
    const std::string name(file_name_of(pattern.object));
    if (is_plain(name) && paths[name].size() == 1) pattern.object = name;
  }
}

}  // namespace

std::optional<std::string> demangled_function(const std::string& probe) {
  const auto pattern = pattern_of(probe);
  return pattern && pattern->kind != ProbeKind::usdt ? demangle(pattern->function) : std::nullopt;
}

std::string readable_name(const std::string& probe) {
  const auto pattern = pattern_of(probe);
  return printable(pattern ? forms_of(*pattern).front() : probe);
}

// ---- tables ----

TableNames::TableNames(const std::vector<std::string_view>& probes) {
  Patterns patterns;
  for (const std::string_view probe : probes) {
    if (auto pattern = pattern_of(probe))
      patterns.try_emplace(probe, *std::move(pattern));
    else
      names_.emplace(probe, printable(probe));
  }
  shorten_objects(patterns);
  std::map<std::string_view, std::vector<std::string>> forms;  // by canonical name
  std::unordered_map<std::string_view, size_t> uses;           // by form
  for (const auto& [probe, pattern] : patterns) forms[probe] = forms_of(pattern);
  for (const auto& [probe, all] : forms)
    for (const std::string_view form : std::set<std::string_view>(all.begin(), all.end()))
      ++uses[form];
  for (const auto& [probe, all] : forms) {
    size_t chosen = 0;
    while (chosen + 1 < all.size() && uses[all[chosen]] > 1) ++chosen;
    names_.emplace(probe, printable(all[chosen]));
  }
}

// ---- streams ----

const std::string& StreamNames::of(const std::string& probe) {
  auto known = names_.find(probe);
  if (known == names_.end()) {
    known = names_.emplace(probe, free_name_of(probe)).first;
    taken_.insert(known->second);
  }
  return known->second;
}

const std::string& StreamNames::demangled(const std::string& probe) {
  auto known = demangled_.find(probe);
  if (known == demangled_.end())
    known = demangled_.emplace(probe, demangled_function(probe).value_or("")).first;
  return known->second;
}

std::string StreamNames::free_name_of(const std::string& probe) const {
  const auto pattern = pattern_of(probe);
  if (!pattern) return printable(probe);
  std::string name;
  for (const std::string& form : forms_of(*pattern)) {
    name = printable(form);
    if (!taken_.contains(name)) break;
  }
  return name;
}

}  // namespace tracectl
