// SPDX-License-Identifier: BSD-2-Clause
#include "client/connection/probe_list.h"

#include "client/connection/proofs.h"
#include "client/target/target_files.h"

namespace tracectl {

Result<protocol::ProbeListReply> list_probes(Backend& backend,
                                             const std::vector<std::string>& patterns,
                                             const std::string& scope,
                                             const protocol::TargetPart& target) {
  const auto opened = open_files(patterns, target);
  const auto memories =
      open_memories(named_processes_of(target), OpenedFiles::kMost - opened.files.size());
  auto descriptors = opened.descriptors();
  for (const Fd& memory : memories) descriptors.push_back(memory.get());
  return backend.call_with(protocol::ProbeList{.patterns = patterns,
                                               .scope = scope,
                                               .target = target,
                                               .files = opened.paths,
                                               .proofs = memories.size()},
                           descriptors);
}

}  // namespace tracectl
