// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/finding/graph_coverage.h"

#include <algorithm>
#include <iterator>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tracectl {
namespace {

// Functions that cannot be shown below a root become notes: the others are shown.
void note_refused(std::vector<Refusal> refused, Coverage& coverage) {
  constexpr size_t kMostNamed = 3;
  auto& notes = coverage.notes;
  for (size_t i = 0; i < std::min(refused.size(), kMostNamed); ++i)
    notes.push_back("not shown: " + refused[i].probe + ": " + refused[i].reason);
  if (refused.size() > kMostNamed)
    notes.push_back("not shown: " + std::to_string(refused.size() - kMostNamed) +
                    " more, for reasons like these");
  std::move(refused.begin(), refused.end(), std::back_inserter(coverage.not_shown));
}

// The first level is the root's.
std::optional<uint32_t> levels_below(const Spec& root) {
  if (!root.graph_depth) return std::nullopt;
  return *root.graph_depth - 1;
}

size_t probes_in(const std::list<WantedPart>& parts) {
  std::unordered_set<std::string_view> names;
  for (const WantedPart& part : parts)
    for (const Probe& probe : *part.probes) names.insert(probe.name);
  return names.size();
}

bool is_of(const std::list<WantedPart>& parts, const std::string& path) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const WantedPart& part) { return part.object->path() == path; });
}

// Splits the target into one for each process, so that a file that only some of them map is covered in
// those.
std::vector<Target> one_by_one(const Target& target) {
  if (target.pids.size() < 2) return {target};
  std::vector<Target> each(target.pids.size(), target);
  for (size_t i = 0; i < each.size(); ++i) {
    each[i].pids = {target.pids[i]};
    if (!target.births.empty()) each[i].births = {target.births[i]};
  }
  return each;
}

// Adds the files that a graph has grown into, other than its root's. A process may no longer have such a
// file, or not yet.
void add_grown_files(const ResolverFor& resolver, const Setting& root, const Source& within,
                     Below below, Coverage& found) {
  std::vector<std::string> paths;
  for (const Pattern& grown : root.graph.grown)
    if (!is_of(found.parts, grown.object) &&
        std::find(paths.begin(), paths.end(), grown.object) == paths.end())
      paths.push_back(grown.object);
  for (const std::string& path : paths) {
    Pattern of_file;  // names no function
    of_file.object = path;
    below.most = kMostReached - std::min(kMostReached, probes_in(found.parts));
    for (Target& target : one_by_one(within.setting->target)) {
      Setting setting = *within.setting;
      setting.target = std::move(target);
      const Source source{within.of, within.what,
                          std::make_shared<const Setting>(of_one_file(std::move(setting), nullptr)),
                          true};
      auto added = add_pattern(resolver, of_file, source, 0, found, &below);
      if (!added && added.error().code != Code::not_found)
        found.refused.push_back({path, std::nullopt, std::nullopt, added.error().message});
    }
  }
}

// Adds the imported functions in every file that has one of that name: which of them is called is decided when the
// process binds it. What they call in turn is not shown.
Status add_imported(const ResolverFor& resolver, const Source& within,
                    const std::vector<std::string>& skip, Coverage& found) {
  Pattern everywhere;
  everywhere.object = "*";
  const Below named{.skip = skip, .named = {found.imports.begin(), found.imports.end()}};
  auto added = add_pattern(resolver, everywhere, within, 0, found, &named);
  return added || added.error().code == Code::not_found ? ok() : added;
}

// Adds the functions below the root, or the calls in them, as `below` says.
Status add_reached(const ResolverFor& resolver, const Root& root, Beside what, const Below& below,
                   Coverage& coverage) {
  const Source within = root.source(what);
  const auto patterns = below.reached ? std::vector{root.setting.pattern} : root.setting.graph.only;
  Coverage found;
  for (const Pattern& pattern : patterns) {
    auto added = add_pattern(resolver, pattern, within, 0, found, &below);
    if (!added) return added;
  }
  add_grown_files(resolver, root.setting, within, below, found);
  if (!found.imports.empty()) {
    auto added = add_imported(resolver, within, below.skip, found);
    if (!added) return added;
  }
  note_refused(std::move(found.refused), coverage);
  coverage.parts.splice(coverage.parts.end(), found.parts);
  return ok();
}

Status add_functions_below(const ResolverFor& resolver, const Root& root, Coverage& coverage) {
  const GraphScope& graph = root.setting.graph;
  Below below{.reached = graph.only.empty(),
              .skip = graph.skip,
              .most_calls = levels_below(root.setting.spec),
              .grown = graph.grown,
              .with_imports = graph.imports};
  auto added = add_reached(resolver, root, Beside::below, below, coverage);
  if (!added || !graph.grow) return added;
  below.unknown_calls = true;
  below.with_imports = false;
  return add_reached(resolver, root, Beside::callees, below, coverage);
}

Status add_probes_within(const ResolverFor& resolver, const Root& root, Coverage& coverage) {
  const Source within = root.source(Beside::within);
  for (const Pattern& pattern : root.setting.graph.beside) {
    auto added = add_pattern(resolver, pattern, within, 0, coverage);
    if (!added) return added;
  }
  return ok();
}

}  // namespace

Status add_below(const ResolverFor& resolver, const Root& root, Coverage& coverage) {
  if (auto added = add_functions_below(resolver, root, coverage); !added) return added;
  return add_probes_within(resolver, root, coverage);
}

}  // namespace tracectl
