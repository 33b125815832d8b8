// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/probe_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "client/options/display.h"
#include "client/render/hit_estimate.h"
#include "client/render/probe_names.h"
#include "client/render/table.h"
#include "client/render/text.h"
#include "daemon/model/cost.h"

namespace tracectl {
namespace {

using namespace protocol;
using Align = Table::Align;

// Integers by their width, which matters in conditions; other types as in C.
std::string type_text(const ArgumentPart& arg) {
  if (arg.kind == "integer" || arg.kind == "float") return arg.type;
  return arg.kind == "boolean" ? "bool" : arg.declared_type.value_or(arg.type);
}

std::string arg_text(const ArgumentPart& arg) {
  const std::string why = arg.readable ? "" : " (" + arg.place + ")";
  const char* unknown = arg.readable ? "" : "?";
  if (!arg.declared_type) return arg.type + " " + arg.name + unknown + why;
  return arg.name + unknown + ": " + type_text(arg) + why;
}

std::string args_text(const std::vector<ArgumentPart>& args) {
  std::string text;
  for (const ArgumentPart& arg : args) text += (text.empty() ? "" : ", ") + arg_text(arg);
  return text;
}

bool has_semaphore(const ProbePart& probe) {
  return std::any_of(probe.sites.begin(), probe.sites.end(),
                     [](const SitePart& site) { return site.semaphore.has_value(); });
}

using Places = std::vector<std::pair<std::string_view, uint64_t>>;

Places places_of(const ProbePart& probe) {
  Places places;
  for (const SitePart& site : probe.sites) places.emplace_back(site.object, site.offset);
  return places;
}

// Constructors have several symbols, with the same name, at one place: one of each.
std::vector<const ProbePart*> without_twins(const std::vector<ProbePart>& probes) {
  std::set<std::pair<std::string_view, Places>> seen;
  std::vector<const ProbePart*> without;
  for (const ProbePart& probe : probes)
    if (!probe.demangled || display().linkage_names ||
        seen.emplace(*probe.demangled, places_of(probe)).second)
      without.push_back(&probe);
  return without;
}

std::string rest_text(size_t twins, size_t unshown, size_t shown) {
  std::string text;
  if (unshown) text += more_rows_text(unshown, shown);
  if (twins) text += plural(twins, "further symbol") + " of the same functions not shown\n";
  return text;
}

HitNumbers hits_of(const ProbeListReply& reply) {
  HitNumbers hits{.hit_ns = reply.hit_ns};
  std::set<std::pair<std::string_view, uint64_t>> seen;  // functions have several names
  for (const ProbePart& probe : reply.probes)
    for (const SitePart& site : probe.sites) {
      if (!seen.emplace(site.object, site.offset).second) continue;
      ++hits.sites;
      hits.slow_sites += site.cost == name_of(CostClass::slow);
      hits.exits += site.exits;
      hits.slow_exits += site.slow_exits;
    }
  return hits;
}

// What the probes take, if the reply has all sites.
std::string cost_text(const ProbeListReply& reply) {
  const HitNumbers hits = hits_of(reply);
  if (reply.hit_ns) return "; " + hit_estimate_text(hits);
  if (!hits.slow_sites || hits.sites != reply.total_sites) return "";
  if (hits.slow_sites == hits.sites) return ", single-stepped";
  return fmt::format(", {} of them single-stepped", hits.slow_sites);
}

// "trampoline", "2 exits", "2 exits, 1 slow".
std::string returns_text(const ProbePart& probe) {
  const SitePart& site = probe.sites.front();
  if (!site.returns) return "";
  if (!site.exits) return *site.returns;
  const std::string exits = plural(site.exits, "exit");
  return site.slow_exits ? fmt::format("{}, {} slow", exits, site.slow_exits) : exits;
}

}  // namespace

std::string probes_text(const ProbeListReply& reply, size_t rows) {
  std::vector<Table::Column> columns{
      {"PROBE", Align::left, true}, {"CLASS"}, {"SITES", Align::right}, {"SEMAPHORE"}};
  if (reply.hit_ns) columns.push_back({"RETURNS"});
  columns.push_back({"ARGUMENTS", Align::left, true});
  Table table(std::move(columns));
  const auto probes = without_twins(reply.probes);
  std::vector<std::string_view> canonical;
  for (const ProbePart* probe : probes) canonical.emplace_back(probe->probe);
  const TableNames names(canonical);
  const size_t shown = std::min(rows, probes.size());
  for (const ProbePart* probe : std::span(probes).first(shown)) {
    std::vector<std::string> row{names.of(probe->probe), probe->cost,
                                 std::to_string(probe->sites.size()),
                                 has_semaphore(*probe) ? "yes" : "no"};
    if (reply.hit_ns) row.push_back(returns_text(*probe));
    row.push_back(args_text(probe->args));
    table.add(std::move(row));
  }
  return table.text() +
         rest_text(reply.probes.size() - probes.size(), probes.size() - shown, shown) +
         plural(reply.total_probes, "probe") + ", " + plural(reply.total_sites, "site") +
         cost_text(reply) + "\n";
}

}  // namespace tracectl
