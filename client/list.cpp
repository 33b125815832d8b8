// SPDX-License-Identifier: BSD-2-Clause
#include "client/connection/proofs.h"
#include "client/output/output.h"
#include "client/target/target.h"
#include "client/target/target_files.h"
#include "client/verbs.h"

namespace tracectl {

int run_list(const CommonOptions& common, const ProbeOptions& probes) {
  return with_backend(common, Backend::Needs::any_engine, [&](Backend& backend) -> int {
    auto target = choose_target(probes);  // a command is never released, and ends with this process
    if (!target) return fail(target.error());
    const auto opened = open_files(probes.patterns, target->part);
    const auto memories =
        open_memories(named_processes_of(target->part), OpenedFiles::kMost - opened.files.size());
    auto descriptors = opened.descriptors();
    for (const Fd& memory : memories) descriptors.push_back(memory.get());
    auto reply = backend.call_with(protocol::ProbeList{.patterns = probes.patterns,
                                                       .scope = scope_of(probes),
                                                       .target = target->part,
                                                       .files = opened.paths,
                                                       .proofs = memories.size()},
                                   descriptors);
    if (!reply) return fail(reply.error());
    show<protocol::ProbeListReply>(common, *reply, probes_text);
    if (!common.json) print_error(refusals_text(reply->refused));
    return kDone;
  });
}

}  // namespace tracectl
