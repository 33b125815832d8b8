// SPDX-License-Identifier: BSD-2-Clause
//
// Budgets. Nobody can say beforehand how often a program will reach a site. So the site is armed, and the
// cost of its hits is computed from their number, which the hooks count anyway, and from the cost of a hit
// of its kind (HitCosts). The caller asks for that a few times a second. If a session's hits have cost more
// than its budget, a switch like any other removes the most expensive probes. They stay out as long as the
// session exists: if they came back with each commit they would cost as much again.
#include "daemon/sessions/budgets.h"

#include <algorithm>
#include <map>
#include <new>

#include "daemon/base/clock.h"
#include "daemon/sessions/hit_cost.h"

namespace tracectl {
namespace {

constexpr uint64_t kPeriodNs = 250'000'000;
constexpr double kNsPerSecond = 1e9;

// Probes that learn tags are not the user's, and are not hit for long.
bool is_on_budget(const Setting& setting) { return !setting.spec.learns_tags; }

uint64_t look_due_ns(const Session& session) {
  return session.budget->looked_ns ? session.budget->looked_ns + kPeriodNs : 1;
}

bool is_looked_at(const Session& session) { return session.budget && !session.hooks.empty(); }

// Hits since the last look. A counter that is less than it was has started from zero.
uint64_t hits_since(const std::unordered_map<uint32_t, uint64_t>& before, uint32_t stat,
                    uint64_t now) {
  const auto known = before.find(stat);
  return known == before.end() || known->second > now ? now : now - known->second;
}

// Looks at the counters, and returns what each probe has cost since the last look.
std::vector<ProbeLoad> look(const Counters& counters, const HitCosts& costs, const Session& session,
                            Budget& budget, uint64_t now_ns) {
  const double seconds = static_cast<double>(now_ns - budget.looked_ns) / kNsPerSecond;
  std::unordered_map<uint32_t, uint64_t> hits;
  std::map<std::string_view, ProbeLoad> loads;
  for (const auto& [slot, hooks] : session.hooks)
    for (const SessionHook& held : hooks) {
      if (!is_on_budget(*held.setting)) continue;
      const uint64_t now = hits[held.hook.stat] = counters.read_stat(held.hook.stat).hits;
      const double rate =
          static_cast<double>(hits_since(budget.hits, held.hook.stat, now)) / seconds;
      ProbeLoad& load = loads[*held.probe];
      load.probe = *held.probe;
      load.cost = std::max(load.cost, held.cost);
      load.hits_per_second += rate;
      load.percent +=
          100 * rate / kNsPerSecond * costs.of(held.cost, held.hook.way, held.returns.get());
    }
  budget.hits = std::move(hits);
  std::vector<ProbeLoad> all;
  for (auto& [name, load] : loads) all.push_back(std::move(load));
  return all;
}

std::vector<ArmedFor> armed_for(const Session& session) {
  std::vector<ArmedFor> armed;
  for (const auto& [slot, hooks] : session.hooks)
    for (const SessionHook& held : hooks)
      if (is_on_budget(*held.setting)) armed.push_back({*held.probe, held.setting.get()});
  return armed;
}

std::vector<ArmedFor> armed_for(const Coverage& coverage) {
  std::vector<ArmedFor> armed;
  for (const auto& [key, wants] : coverage.wants)
    for (const Want& want : wants)
      if (is_on_budget(want.setting())) armed.push_back({want.probe->name, &want.setting()});
  return armed;
}

ProbeNames names_of(const std::vector<LeftOut>& left_out) {
  ProbeNames names;
  for (const LeftOut& one : left_out) names.insert(one.load.probe);
  return names;
}

void take_out(const ProbeNames& probes, Coverage& coverage) {
  for (SlotWants& at_slot : coverage.wants)
    std::erase_if(at_slot.wants, [&](const Want& want) {
      return is_on_budget(want.setting()) && probes.contains(want.probe->name);
    });
  std::erase_if(coverage.wants, [](const SlotWants& one) { return one.wants.empty(); });
}

}  // namespace

uint64_t Budgets::next_look_ns() const {
  uint64_t next = 0;
  for (const auto& [name, session] : sessions_)
    if (is_looked_at(session) && (!next || look_due_ns(session) < next))
      next = look_due_ns(session);
  return next;
}

std::vector<BudgetKept> Budgets::keep() {
  const uint64_t now = boot_ns();
  std::vector<BudgetKept> all;
  for (auto& [name, session] : sessions_) {
    if (!is_looked_at(session) || look_due_ns(session) > now) continue;
    try {
      if (auto kept = keep(session, now)) all.push_back(std::move(*kept));
    } catch (const std::bad_alloc&) {
      session.budget->looked_ns = now;  // there may be memory at the next look
    }
  }
  return all;
}

// The first look only gives the next one something to compare with.
std::optional<BudgetKept> Budgets::keep(Session& session, uint64_t now_ns) {
  Budget& budget = *session.budget;
  const auto loads = look(counters_, hit_costs_(), session, budget, now_ns);
  if (!std::exchange(budget.looked_ns, now_ns)) return std::nullopt;
  budget.used = 0;
  for (const ProbeLoad& load : loads) budget.used += load.percent;
  std::vector<LeftOut> dear;
  for (ProbeLoad& load : too_dear(loads, budget.percent))
    dear.push_back({std::move(load), budget.percent, 0});
  if (dear.empty()) return std::nullopt;
  BudgetKept kept{session.name, {}, ok()};
  try {
    kept.done = do_without(session, dear);
  } catch (const std::bad_alloc&) {
    kept.done = Error{Code::exhausted, "there is not enough memory to leave probes out"};
  }
  if (kept.done) kept.left_out = std::move(dear);
  return kept;
}

// Probes that cost too much must not linger, because they would still cost.
Status Budgets::do_without(Session& session, std::vector<LeftOut>& dear) {
  ProbeNames names = names_of(dear);
  ProbeNames others = useless_without(names, armed_for(session));
  dear.front().others = others.size();
  names.merge(others);
  auto& left_out = session.budget->left_out;
  auto all = left_out;
  all.insert(all.end(), dear.begin(), dear.end());
  Switch change = switches_.begin_without_lingering();
  if (auto planned = change.commit_of(session).plan_leaving_out(names); !planned) return planned;
  if (auto built = switches_.build(change); !built) return built;
  session.epoch = switches_.activate(change);
  switches_.count_commit();
  left_out = std::move(all);
  saving_.save_past();
  return ok();
}

// Covers a session's settings, except for the probes that it has left out.
Result<Coverage> Budgets::cover(const Session& session, const std::vector<Setting>& settings) {
  auto coverage = cover_with_tags({resolver_, session.access}, settings);
  if (!coverage || !session.budget || session.budget->left_out.empty()) return coverage;
  ProbeNames left_out = names_of(session.budget->left_out);
  const auto armed = armed_for(*coverage);
  std::erase_if(left_out, [&](const std::string& name) {
    return std::none_of(armed.begin(), armed.end(),
                        [&](const ArmedFor& one) { return one.probe == name; });
  });
  if (left_out.empty()) return coverage;
  for (const std::string& name : left_out)
    coverage->notes.push_back("left out, as its hits cost more than the session's budget: " + name);
  left_out.merge(useless_without(left_out, armed));
  take_out(left_out, *coverage);
  return coverage;
}

}  // namespace tracectl
