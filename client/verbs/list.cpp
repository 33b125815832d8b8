// SPDX-License-Identifier: BSD-2-Clause
#include "client/connection/ask.h"
#include "client/connection/proofs.h"
#include "client/render/text.h"
#include "client/target/target.h"
#include "client/target/target_files.h"
#include "client/verbs/all.h"
#include "client/verbs/shared_options.h"

namespace tracectl {
namespace {

class ListProbes final : public Verb {
 public:
  void add_options(Grammar& grammar) override { add_probe_options(grammar, probes_); }
  std::vector<std::string>* command() override { return &probes_.command; }
  int run(const CommonOptions& common) override {
    return with_backend(common, Backend::Needs::any_engine, [&](Backend& backend) -> int {
      // A command is never released, and ends with this process.
      auto target = choose_target(probes_);
      if (!target) return fail(target.error());
      const auto opened = open_files(probes_.patterns, target->part);
      const auto memories =
          open_memories(named_processes_of(target->part), OpenedFiles::kMost - opened.files.size());
      auto descriptors = opened.descriptors();
      for (const Fd& memory : memories) descriptors.push_back(memory.get());
      auto reply = backend.call_with(protocol::ProbeList{.patterns = probes_.patterns,
                                                         .scope = scope_of(probes_),
                                                         .target = target->part,
                                                         .files = opened.paths,
                                                         .proofs = memories.size()},
                                     descriptors);
      if (!reply) return fail(reply.error());
      show<protocol::ProbeListReply>(common, *reply, probes_text);
      if (!common.json) print_error(notes_text(reply->notes) + refusals_text(reply->refused));
      return kDone;
    });
  }

 private:
  ProbeOptions probes_;
};

}  // namespace

void add_list(Grammar grammar) { grammar.verb<ListProbes>("list", "what can be traced"); }

}  // namespace tracectl
