// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sessions/engine.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "daemon/object/own_reading.h"

namespace tracectl {
namespace {

Status check_budget(std::optional<double> percent, unsigned cpus) {
  const double most = 100.0 * cpus;
  if (!percent || (*percent > 0 && *percent <= most)) return ok();
  return Error{Code::invalid,
               "a budget is in percent of one CPU: more than 0, and at most " +
                   std::to_string(100 * cpus) + " as there are " + std::to_string(cpus) + " CPUs",
               "budget"};
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::start(std::unique_ptr<Kernel> kernel,
                                              const EngineOptions& options,
                                              std::unique_ptr<Reading> reading,
                                              DescriptorStore* store) {
  if (!reading) reading = std::make_unique<OwnReading>();
  auto for_stacks = reading->for_stacks();
  if (!for_stacks) return for_stacks.error();
  auto symbolizer = std::make_unique<Symbolizer>(std::move(*for_stacks));
  auto reader = EventReader::start(kernel->rings(), *symbolizer);
  if (!reader) return reader.error();
  return std::unique_ptr<Engine>{new Engine(std::move(kernel), std::move(symbolizer),
                                            std::move(*reader), std::move(reading), options,
                                            store)};
}

Engine::Engine(std::unique_ptr<Kernel> kernel, std::unique_ptr<Symbolizer> symbolizer,
               std::unique_ptr<EventReader> reader, std::unique_ptr<Reading> reading,
               const EngineOptions& options, DescriptorStore* store)
    : options_(options),
      kernel_(std::move(kernel)),
      symbolizer_(std::move(symbolizer)),
      reader_(std::move(reader)),
      reading_(std::move(reading)),
      resolver_(*reading_, options.quota.matches, SiteCosts{.emulates = kernel_->emulates()},
                [this] { return kernel_->site_costs(); }),
      slots_(kernel_->switching()),
      hooks_(*kernel_, slots_, *reader_, *symbolizer_, options.for_one_command),
      linkers_(kernel_->notices()),
      saving_(*kernel_, slots_, hooks_, sessions_, store, options.ring_bytes),
      quotas_(kernel_->switching(), kernel_->sessions(), kernel_->cpu_count(), slots_, sessions_,
              saving_, options.quota, options.ring_bytes),
      switches_(kernel_->switching(), kernel_->counters(), slots_, hooks_, saving_, quotas_,
                options.linger_ns),
      gates_(kernel_->switching(), kernel_->sessions(), sessions_, switches_),
      budgets_(
          kernel_->counters(), [this] { return HitCosts::measured(kernel_->known_hit_costs()); },
          resolver_, sessions_, switches_, saving_),
      streams_(kernel_->rings(), kernel_->cpu_count(), *reader_, sessions_, quotas_, saving_,
               options.ring_bytes),
      awaiting_(resolver_, hooks_, linkers_, sessions_),
      commits_({kernel_->cpu_count(), kernel_->switching().disarms_one_by_one(),
                [this] { return kernel_->hit_costs(); },
                [this] { return kernel_->known_hit_costs(); }, slots_, resolver_, sessions_,
                quotas_, budgets_, gates_, awaiting_, streams_, saving_, switches_}),
      drafts_(resolver_, sessions_, quotas_, gates_, kernel_->switching()),
      graph_growth_(kernel_->switching(), kernel_->counters(), slots_, resolver_, sessions_,
                    commits_),
      following_(resolver_, sessions_, commits_),
      proofs_(kernel_->proofs(), sessions_),
      notices_(kernel_->notices(), sessions_, awaiting_, proofs_),
      counting_(*kernel_, *symbolizer_, sessions_, switches_, saving_) {
  if (store && kernel_->is_restored())
    restoring_.emplace(Restoring::Parts{*kernel_, slots_, hooks_, *reading_, sessions_, quotas_,
                                        gates_, saving_, awaiting_, streams_, switches_},
                       *store);
  quotas_.share_out();
}

Engine::~Engine() {
  if (saving_.is_on()) hooks_.leave_all();
}

std::vector<Status> Engine::restore(std::vector<Returning> sessions) {
  if (restoring_) {
    auto answers = restoring_->restore(
        std::move(sessions), [this](const Session& session, const std::optional<Owner>& owner) {
          return access_of(session, owner);
        });
    restoring_.reset();
    return answers;
  }
  std::vector<Status> answers;
  for (const Returning& one : sessions) answers.push_back(only_settings_left(one.name));
  return answers;
}

// ---- queries ----

Result<Resolution> Engine::list(const std::vector<Pattern>& patterns, const Target& target,
                                const Access& access, const Wanted& wanted) {
  resolver_.begin_count();
  Resolution all;
  for (const Pattern& pattern : patterns) {
    auto one = resolver_.resolve(pattern, target, access, wanted);
    if (!one) return one.error();
    std::move(one->parts.begin(), one->parts.end(), std::back_inserter(all.parts));
    std::move(one->refused.begin(), one->refused.end(), std::back_inserter(all.refused));
    std::move(one->notes.begin(), one->notes.end(), std::back_inserter(all.notes));
  }
  if (sessions_.empty()) resolver_.forget_files();
  return all;
}

std::vector<ProbeSettingInfo> Engine::info(
    const Pattern& pattern, const std::function<bool(const std::string& session)>& of) const {
  std::vector<ProbeSettingInfo> found;
  for (const auto& [name, session] : sessions_) {
    if (!of(name)) continue;
    auto part = info_of(kernel_->switching(), kernel_->counters(), kernel_->sessions(), slots_,
                        session, pattern);
    std::move(part.begin(), part.end(), std::back_inserter(found));
  }
  return found;
}

// ---- sessions ----

Access Engine::access_of(const Session& session, const std::optional<Owner>& owner) {
  return {.owner = owner,
          .files = {},
          .awaits_libraries = options_.awaits_libraries && !owner,
          .is_proven = [this, id = session.id](const Process& process) {
            return kernel_->proofs().has_proof(process.pid(), id);
          }};
}

Result<const Session*> Engine::create_session(const std::string& wanted,
                                              std::optional<double> budget,
                                              const std::optional<Owner>& owner, bool saved) {
  if (auto possible = check_budget(budget, kernel_->cpu_count()); !possible)
    return possible.error();
  const auto name = sessions_.name_for(wanted);
  if (!name) return name.error();
  if (auto within = quotas_.check_sessions(owner); !within) return within.error();
  const auto account = quotas_.take_account(owner);
  if (!account) return account.error();
  auto within = quotas_.check_share_of_sessions(*account);
  auto made = within ? sessions_.make(*name) : Result<Session*>(within.error());
  if (!made) {
    quotas_.give_back_account(*account);
    return made.error();
  }
  Session& session = **made;
  session.named = !wanted.empty();
  session.saved = saved;
  session.access = access_of(session, owner);
  session.account = *account;
  if (budget) session.budget = Budget{.percent = *budget};
  kernel_->sessions().begin(session.id, owner, *account);
  return const_cast<const Session*>(&session);
}

Status Engine::give_file(const std::string& name, Fd fd, const std::string& path,
                         const std::string& debug_of) {
  auto session = sessions_.find(name);
  if (!session) return session.error();
  const auto& files = (*session)->access.files.all();
  const bool is_there = std::any_of(files.begin(), files.end(), [&](const GivenFiles::File& file) {
    return file.path == path && file.debug_of.empty() == debug_of.empty();
  });
  if (!is_there)
    if (auto within = quotas_.check_saved_file(**session); !within) return within;
  return (*session)->access.give(std::move(fd), path, debug_of);
}

Result<SwitchSummary> Engine::delete_session(const std::string& name) {
  auto session = sessions_.find(name);
  if (!session) return session.error();
  auto by = gates_.triggered_by(**session);
  std::erase(by, name);
  if (!by.empty())
    return Error{Code::busy,
                 "session \"" + name + "\" is triggered by session \"" + by.front() +
                     "\": remove that setting, or delete that session, first",
                 "session"};
  auto emptied = commits_.empty(**session);
  if (!emptied) return emptied.error();
  streams_.close(**session);
  kernel_->counters().forget_session((*session)->id);
  const uint32_t account = (*session)->account;
  sessions_.remove(**session);
  quotas_.give_back_account(account);
  if (sessions_.empty()) resolver_.forget_files();
  return SwitchSummary{emptied->epoch, 1, emptied->removed, std::move(emptied->figures)};
}

}  // namespace tracectl
