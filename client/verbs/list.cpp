// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/connection/ask.h"
#include "client/connection/probe_list.h"
#include "client/output/late_note.h"
#include "client/render/call_names.h"
#include "client/render/probe_table.h"
#include "client/render/text.h"
#include "client/render/types_text.h"
#include "client/target/objects_by_name.h"
#include "client/target/target.h"
#include "client/verbs/all.h"
#include "client/verbs/shared_options.h"
#include "daemon/model/cost.h"
#include "daemon/model/field_path.h"

namespace tracectl {
namespace {

using protocol::ProbeListReply;
using protocol::ProbePart;

// What a target has, if no pattern is given: each of these that matches anything.
constexpr const char* kProbes = "usdt:*:*:*";
constexpr const char* kFunctions = "uprobe::*";

void add_to(ProbeListReply& all, ProbeListReply more) {
  std::ranges::move(more.probes, std::back_inserter(all.probes));
  std::ranges::move(more.refused, std::back_inserter(all.refused));
  std::ranges::move(more.notes, std::back_inserter(all.notes));
  all.total_probes += more.total_probes;
  // The mean over the sites of both.
  if (const uint64_t sites = all.total_sites + more.total_sites)
    all.hit_ns = (all.hit_ns * all.total_sites + more.hit_ns * more.total_sites) / sites;
  all.total_sites += more.total_sites;
}

std::string wrong_order(const std::string& column) {
  constexpr std::array kColumns{"name", "address", "class"};
  return std::ranges::find(kColumns, column) != kColumns.end()
             ? ""
             : "list cannot sort by \"" + column + "\": its columns are name, address, class";
}

std::pair<std::string_view, uint64_t> address_of(const ProbePart& probe) {
  if (probe.sites.empty()) return {probe.probe, 0};
  return {probe.sites.front().object, probe.sites.front().offset};
}

// Slow ones first.
int rank_of(const ProbePart& probe) {
  int rank = 0;
  for (CostClass cost :
       {CostClass::slow, CostClass::emulated, CostClass::normal, CostClass::fast}) {
    if (probe.cost == name_of(cost)) break;
    ++rank;
  }
  return rank;
}

// As the reply has them if no column is given.
void sort(std::vector<ProbePart>& probes, const std::string& column) {
  if (column == "address") std::ranges::stable_sort(probes, {}, address_of);
  if (column == "class") std::ranges::stable_sort(probes, {}, rank_of);
  if (column != "name") return;
  CallNames names;
  std::ranges::stable_sort(
      probes, {}, [&](const ProbePart& one) -> const std::string& { return names.of(one.probe); });
}

class ListProbes final : public Verb {
 public:
  void add_options(Grammar& grammar) override {
    add_optional_probe_options(grammar, probes_);
    add_rows(grammar, rows_);
    grammar
        .option("--sort", sort_,
                "the column by which rows are sorted: name, address, or class with slow ones first")
        .value_name("COLUMN")
        .check(wrong_order);
    grammar
        .option("--returns", returns_,
                "how the returns of the functions are seen if calls are followed, and what a call "
                "takes: auto, "
                "exits, trampoline")
        .value_name("WAY");
    const Option types =
        grammar.flag("--types", types_, "list the fields that the arguments lead to");
    grammar.option("--levels", levels_, "with --types: fields of fields, so many levels deep")
        .in_range(uint64_t{1}, uint64_t{kMostFieldLevels})
        .value_name("N")
        .needs(types);
  }
  std::vector<std::string>* command() override { return &probes_.command; }
  int run(const CommonOptions& common) override {
    return with_backend(common, Backend::Needs::any_engine, [&](Backend& backend) -> int {
      auto named = NamedDebugFiles::open(common.debug_paths);
      if (!named) return fail(named.error());
      debug_files_ = std::move(*named);
      // A command is never released, and ends with this process.
      auto target = choose_target(probes_);
      if (!target) return fail(target.error());
      auto reply = list(common, backend, target->part);
      if (auto used = debug_files_.check_used(target->part); !used) return fail(used.error());
      if (!reply) return fail(reply.error());
      sort(reply->probes, sort_);
      show<ProbeListReply>(common, *reply, [&](const ProbeListReply& all) {
        return types_ ? types_text(all, rows_) : probes_text(all, rows_);
      });
      if (!common.json) print_error(notes_text(reply->notes) + refusals_text(reply->refused));
      return kDone;
    });
  }

 private:
  Result<ProbeListReply> list(const CommonOptions& common, Backend& backend,
                              const protocol::TargetPart& target) {
    std::optional<LateNote> note;
    if (!common.quiet) note.emplace("reading symbols and debug information...");
    return probes_.patterns.empty() ? list_all(backend, target) : list_chosen(backend, target);
  }

  Result<ProbeListReply> list_chosen(Backend& backend, const protocol::TargetPart& target) {
    if (is_chosen(target) && !target.all) return list_some(backend, probes_.patterns, target);
    std::vector<std::string> patterns;
    for (const std::string& pattern : probes_.patterns)
      std::ranges::move(target.all ? with_mapped_objects(pattern) : with_objects_by_name(pattern),
                        std::back_inserter(patterns));
    if (patterns.size() == probes_.patterns.size()) return list_some(backend, patterns, target);
    auto found = list_any(backend, target, patterns);
    return found ? found : none_of(patterns.size(), found.error());
  }

  Result<ProbeListReply> list_all(Backend& backend, const protocol::TargetPart& target) {
    if (target.all || !is_chosen(target))
      return Error{
          Code::invalid,
          "give a PATTERN, or a target whose probes are listed: -p, -x, -u, --cgroup, -- COMMAND",
          "patterns"};
    if (returns_ || types_) return list_some(backend, {kFunctions}, target);
    return list_any(backend, target, {kProbes, kFunctions});
  }

  Result<ProbeListReply> list_some(Backend& backend, const std::vector<std::string>& patterns,
                                   const protocol::TargetPart& target) {
    return list_probes(backend, patterns, scope_of(probes_), target, debug_files_, returns_,
                       types_ ? std::optional<uint64_t>(levels_) : std::nullopt);
  }

  // Fails if none of the patterns matches anything.
  Result<ProbeListReply> list_any(Backend& backend, const protocol::TargetPart& target,
                                  const std::vector<std::string>& patterns) {
    ProbeListReply all;
    std::optional<Error> none;
    for (const std::string& pattern : patterns) {
      auto found = list_some(backend, {pattern}, target);
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
  size_t rows_ = SIZE_MAX;
  std::string sort_;
  std::optional<std::string> returns_;
  bool types_ = false;
  uint64_t levels_ = 1;
  NamedDebugFiles debug_files_;
};

}  // namespace

void add_list(Grammar grammar) { grammar.verb<ListProbes>("list", "what can be traced"); }

}  // namespace tracectl
