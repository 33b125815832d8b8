// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "client/connection/ask.h"
#include "client/connection/probe_list.h"
#include "client/render/probe_table.h"
#include "client/render/text.h"
#include "client/target/objects_by_name.h"
#include "client/target/target.h"
#include "client/verbs/all.h"
#include "client/verbs/shared_options.h"

namespace tracectl {
namespace {

using protocol::ProbeListReply;

// What a target has, if no pattern is given: each of these that matches anything.
constexpr std::array kAll{"usdt:*:*:*", "uprobe::*"};

void add_to(ProbeListReply& all, ProbeListReply more) {
  std::ranges::move(more.probes, std::back_inserter(all.probes));
  std::ranges::move(more.refused, std::back_inserter(all.refused));
  std::ranges::move(more.notes, std::back_inserter(all.notes));
  all.total_probes += more.total_probes;
  all.total_sites += more.total_sites;
}

class ListProbes final : public Verb {
 public:
  void add_options(Grammar& grammar) override { add_optional_probe_options(grammar, probes_); }
  std::vector<std::string>* command() override { return &probes_.command; }
  int run(const CommonOptions& common) override {
    return with_backend(common, Backend::Needs::any_engine, [&](Backend& backend) -> int {
      // A command is never released, and ends with this process.
      auto target = choose_target(probes_);
      if (!target) return fail(target.error());
      auto reply = probes_.patterns.empty() ? list_all(backend, target->part)
                                            : list_chosen(backend, target->part);
      if (!reply) return fail(reply.error());
      show<ProbeListReply>(common, *reply, [](const ProbeListReply& all) { return probes_text(all); });
      if (!common.json) print_error(notes_text(reply->notes) + refusals_text(reply->refused));
      return kDone;
    });
  }

 private:
  Result<ProbeListReply> list_chosen(Backend& backend, const protocol::TargetPart& target) const {
    if (is_chosen(target) && !target.all)
      return list_probes(backend, probes_.patterns, scope_of(probes_), target);
    std::vector<std::string> patterns;
    for (const std::string& pattern : probes_.patterns)
      std::ranges::move(target.all ? with_mapped_objects(pattern) : with_objects_by_name(pattern),
                        std::back_inserter(patterns));
    if (patterns.size() == probes_.patterns.size())
      return list_probes(backend, patterns, scope_of(probes_), target);
    auto found = list_any(backend, target, patterns);
    return found ? found : none_of(patterns.size(), found.error());
  }

  Result<ProbeListReply> list_all(Backend& backend, const protocol::TargetPart& target) const {
    if (target.all || !is_chosen(target))
      return Error{
          Code::invalid,
          "give a PATTERN, or a target whose probes are listed: -p, -x, -u, --cgroup, -- COMMAND",
          "patterns"};
    return list_any(backend, target, {kAll.begin(), kAll.end()});
  }

  // Fails if none of the patterns matches anything.
  Result<ProbeListReply> list_any(Backend& backend, const protocol::TargetPart& target,
                                  const std::vector<std::string>& patterns) const {
    ProbeListReply all;
    std::optional<Error> none;
    for (const std::string& pattern : patterns) {
      auto found = list_probes(backend, {pattern}, scope_of(probes_), target);
      if (found)
        add_to(all, std::move(*found));
      else if (!is_no_match(found.error()))
        return found;
      else
        none = found.error();
    }
    if (all.probes.empty() && all.refused.empty() && none) return *none;
    return all;
  }

  ProbeOptions probes_;
};

}  // namespace

void add_list(Grammar grammar) { grammar.verb<ListProbes>("list", "what can be traced"); }

}  // namespace tracectl
