// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/finding/wanted_parts.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "daemon/finding/given_types.h"
#include "daemon/spec/names.h"

namespace tracectl {
namespace {

void await_in(const std::vector<std::shared_ptr<const Process>>& processes, Coverage& coverage) {
  for (const auto& process : processes)
    if (std::none_of(coverage.awaiting.begin(), coverage.awaiting.end(),
                     [&](const auto& known) { return same_process(known, process); }))
      coverage.awaiting.push_back(process);
}

}  // namespace

Status add_pattern(const ResolverFor& resolver, const Pattern& pattern, const Source& source,
                   uint32_t sides, Coverage& coverage, const Below* below) {
  const Setting& setting = *source.setting;
  const Wanted wanted{
      .returns = follows_calls(setting) ? std::optional(setting.returns) : std::nullopt,
      .below = below,
      .symbols = symbols_of(setting, sides),
      .field_paths = field_paths_of(setting, sides),
      .awaits = source.what == Beside::nothing};
  auto resolved = resolver.resolve(pattern, setting.target, wanted);
  if (!resolved) return resolved.error();
  give_types(setting.types, *resolved);
  await_in(resolved->awaiting, coverage);
  const bool any = std::ranges::any_of(resolved->parts,
                                       [](const Resolved& part) { return !part.probes->empty(); });
  const bool is_choice = source.what == Beside::nothing && names_by_glob(pattern) && any;
  for (Resolved& part : resolved->parts)
    coverage.parts.push_back(
        {std::move(part), source.of, source.what, source.of_one_file, sides, source.setting});
  std::ranges::move(resolved->refused,
                    std::back_inserter(is_choice ? coverage.left_out : coverage.refused));
  std::move(resolved->notes.begin(), resolved->notes.end(), std::back_inserter(coverage.notes));
  coverage.imports.insert(resolved->imports.begin(), resolved->imports.end());
  return ok();
}

}  // namespace tracectl
