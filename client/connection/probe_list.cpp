// SPDX-License-Identifier: BSD-2-Clause
#include "client/connection/probe_list.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "client/connection/proofs.h"
#include "client/target/objects_by_name.h"
#include "client/target/target_files.h"

namespace tracectl {

Result<protocol::ProbeListReply> list_probes(
    Backend& backend, const std::vector<std::string>& patterns, const std::string& scope,
    const protocol::TargetPart& target, NamedDebugFiles& debug_files,
    std::optional<std::string> returns, std::optional<uint64_t> types) {
  protocol::ProbeList request{.patterns = patterns,
                              .scope = scope,
                              .target = target,
                              .returns = std::move(returns),
                              .types = types};
  auto opened = open_files(patterns, target);
  request.files = opened.paths;
  debug_files.add_to(request, opened);
  auto descriptors = opened.descriptors();
  const auto memories =
      open_memories(named_processes_of(target), OpenedFiles::kMost - descriptors.size());
  request.proofs = memories.size();
  for (const Fd& memory : memories) descriptors.push_back(memory.get());
  return backend.call_with(request, descriptors);
}

bool is_no_match(const Error& error) {
  return error.code == Code::not_found && error.field == "patterns";
}

Error none_of(size_t files, Error last) {
  if (files > 1 && is_no_match(last))
    last.message += ", nor the like in " + std::to_string(files - 1) +
                    (files == 2 ? " other file" : " other files");
  return last;
}

namespace {

// Those of the patterns that match anything.
Result<std::vector<std::string>> that_match(Backend& backend, std::vector<std::string> patterns,
                                            const std::string& scope,
                                            const protocol::TargetPart& target,
                                            NamedDebugFiles& debug_files) {
  if (patterns.size() == 1) return patterns;
  std::vector<std::string> matching;
  std::optional<Error> none;
  for (std::string& pattern : patterns) {
    const auto found = list_probes(backend, {pattern}, scope, target, debug_files);
    if (found)
      matching.push_back(std::move(pattern));
    else if (!is_no_match(found.error()))
      return found.error();
    else
      none = found.error();
  }
  if (matching.empty() && none) return none_of(patterns.size(), *none);
  return matching;
}

}  // namespace

Result<std::vector<std::string>> with_objects_of_all(Backend& backend,
                                                     const std::vector<std::string>& patterns,
                                                     const std::string& scope,
                                                     const protocol::TargetPart& target,
                                                     NamedDebugFiles& debug_files) {
  if (!target.all) return patterns;
  std::vector<std::string> found;
  for (const std::string& pattern : patterns) {
    auto matching = that_match(backend, with_mapped_objects(pattern), scope, target, debug_files);
    if (!matching) return matching.error();
    std::ranges::move(*matching, std::back_inserter(found));
  }
  return found;
}

}  // namespace tracectl
