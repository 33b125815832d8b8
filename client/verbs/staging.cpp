// SPDX-License-Identifier: BSD-2-Clause
#include "client/verbs/staging.h"

#include "client/connection/probe_list.h"
#include "client/connection/proofs.h"
#include "client/target/named_debug_files.h"
#include "client/target/provider_types.h"
#include "client/target/target_files.h"

namespace tracectl {

Result<protocol::StageReply> stage_setting(const CommonOptions& common, Backend& backend,
                                           const ProbeOptions& probes, const ChosenTarget& chosen,
                                           const std::string& types, protocol::StageSet request) {
  const protocol::TargetPart& target = chosen.part;
  auto named = NamedDebugFiles::open(common.debug_paths);
  if (!named) return named.error();
  auto patterns = with_objects_of_all(backend, probes.patterns, scope_of(probes), target, *named);
  if (!patterns) return patterns.error();
  request.patterns = std::move(*patterns);
  request.scope = scope_of(probes);
  request.target = target;
  if (auto added = add_provider_types(types, request); !added) return added.error();
  auto opened = open_files(request);
  request.files = opened.paths;
  named->add_to(request, opened);
  if (auto used = named->check_used(target); !used) return used.error();
  Proofs proofs(backend, request.session);
  if (auto proven = proofs.prove(processes_of(target)); !proven) return proven.error();
  request.target = with_names(target, chosen.containers);
  return backend.call_with(request, opened.descriptors());
}

}  // namespace tracectl
