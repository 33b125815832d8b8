// SPDX-License-Identifier: BSD-2-Clause
#include "client/ui/tracing.h"

#include <poll.h>

#include <algorithm>
#include <span>

#include "client/connection/probe_list.h"
#include "client/render/probe_names.h"
#include "client/render/text.h"
#include "client/target/target_files.h"
#include "client/ui/saved_file.h"

namespace tracectl::ui {

using namespace protocol;

Tracing::Tracing(const CommonOptions& common, const TracingOptions& options, Backend& backend,
                 NamedDebugFiles debug_files, Say say)
    : common_(common),
      options_(options),
      backend_(backend),
      debug_files_(std::move(debug_files)),
      names_(common),
      say_(std::move(say)) {}

void Tracing::handle(const Request& request) {
  last_trouble_.clear();
  std::visit([&](const auto& one) { handle_one(one); }, request);
}

// What goes wrong again and again is said once.
void Tracing::complain(const Status& status) {
  if (status || status.error().message == last_trouble_) return;
  last_trouble_ = status.error().message;
  say_(Said{last_trouble_, true});
}

// ---- the process and its functions ----

void Tracing::handle_one(const ChooseProcess& request) { complain(choose(request.pid)); }

Status Tracing::choose(int64_t pid) {
  if (!session_.empty())
    if (auto deleted = backend_.call(SessionDelete{session_}); !deleted) return deleted.error();
  session_.clear();
  proofs_.reset();
  in_force_.clear();
  committed_ = {};
  recording_to_.reset();
  left_out_ = 0;
  unproven_hits_ = 0;
  has_ended_ = false;
  target_ = {};
  target_.pids = {pid};
  auto process = Process::open(static_cast<pid_t>(pid));
  if (!process) return process.error();
  process_ = std::move(*process);
  auto created = backend_.call(SessionCreate{.budget = options_.budget});
  if (!created) return created.error();
  session_ = created->name;
  proofs_.emplace(backend_, session_);
  return proofs_->prove(processes_of(target_));
}

namespace {

std::vector<FoundProbe> found_probes(const ProbeListReply& reply) {
  const TableNames names = names_of_all(reply.probes);
  std::vector<FoundProbe> found;
  for (const ProbePart& part : reply.probes)
    found.push_back({part.probe, names.of(part.probe), part.cost, part.sites.size()});
  return found;
}

Error refusal_of(const Refusal& refused) {
  return {Code::unsupported, readable_name(refused.probe) + ": " + refused.reason};
}

}  // namespace

Result<FoundProbes> Tracing::list(const std::string& pattern) {
  auto reply = list_probes(backend_, {pattern}, "local", target_, debug_files_);
  if (!reply) return reply.error();
  if (reply->probes.empty() && !reply->refused.empty()) return refusal_of(reply->refused.front());
  return FoundProbes{pattern, found_probes(*reply)};
}

void Tracing::handle_one(const ListFunctions& request) {
  Listed listed{.pid = request.pid, .typed = request.typed, .found = {}, .why_nothing = {}};
  for (const std::string& pattern : request.patterns) {
    auto found = list(pattern);
    if (found)
      listed.found.push_back(*std::move(found));
    else if (listed.why_nothing.empty())
      listed.why_nothing = found.error().message;
  }
  say_(std::move(listed));
}

// ---- the settings ----

void Tracing::handle_one(const Switch& request) { say_(Switched{switch_to(request.settings)}); }

Result<CommitReply> Tracing::switch_to(const WantedSettings& settings) {
  if (settings == in_force_) return committed_;
  if (session_.empty()) return Error{Code::not_found, "the process could not be chosen"};
  auto staged = stage(settings);
  auto committed = staged ? commit(session_) : staged.error();
  if (!committed) {
    if (auto aborted = backend_.call(StageAbort{session_}); !aborted) return aborted.error();
    return committed;
  }
  in_force_ = settings;
  committed_ = *committed;
  return committed;
}

// Settings keep their hooks, and so their counts, if they are staged again as they were. Of several that meet at a site
// the one staged last is in force, so everything after the first difference is staged, in its order.
Status Tracing::stage(const WantedSettings& settings) {
  if (auto removed = remove_all_but(settings); !removed) return removed;
  const auto [first, other] =
      std::mismatch(settings.begin(), settings.end(), in_force_.begin(), in_force_.end());
  return stage_in(session_, std::span(first, settings.end()));
}

Status Tracing::remove_all_but(const WantedSettings& settings) {
  StageRemove request{.session = session_, .patterns = {}, .target = target_};
  for (const WantedSetting& old : in_force_)
    if (std::ranges::find(settings, old.pattern, &WantedSetting::pattern) == settings.end())
      request.patterns.push_back(old.pattern);
  if (request.patterns.empty()) return ok();
  auto removed = backend_.call(request);
  return removed ? ok() : Status(removed.error());
}

// Neighbours with the same action are one request.
Status Tracing::stage_in(const std::string& session, std::span<const WantedSetting> settings) {
  constexpr size_t kMostPatterns = 500;  // a request has 1 MiB at most
  for (size_t from = 0, end = 0; from < settings.size(); from = end) {
    StageSet request{
        .session = session, .patterns = {}, .target = target_, .action = settings[from].action};
    for (; end < settings.size() && settings[end].action == request.action &&
           request.patterns.size() < kMostPatterns;
         ++end)
      request.patterns.push_back(settings[end].pattern);
    auto opened = open_files(request);
    request.files = opened.paths;
    debug_files_.add_to(request, opened);
    auto staged = backend_.call_with(request, opened.descriptors());
    if (!staged) return staged.error();
  }
  return ok();
}

Result<CommitReply> Tracing::commit(const std::string& session) {
  return backend_.call(
      StageCommit{.session = session, .partial = true, .most_added = options_.most_added});
}

void Tracing::handle_one(const ReadRows&) {
  auto read = backend_.call(SessionRead{.session = session_});
  if (read) names_.complete(*read);
  say_(Rows{std::move(read),
            std::chrono::duration<double>(Clock::now().time_since_epoch()).count()});
}

// ---- saving and recording ----

void Tracing::handle_one(const SaveAs& request) {
  const auto saved =
      request.name.ends_with(".json") ? save_to_file(request) : save_in_daemon(request);
  say_(saved ? Said{*saved} : Said{"not saved: " + saved.error().message, true});
}

Result<std::string> Tracing::save_to_file(const SaveAs& request) {
  auto written = write_session_file(request, target_.pids.front(), options_.budget);
  if (!written) return written.error();
  return request.name + " is written: put it into /etc/tracectl/sessions.d";
}

Result<std::string> Tracing::save_in_daemon(const SaveAs& request) {
  if (backend_.is_embedded())
    return Error{Code::invalid,
                 "there is no daemon to keep a session: save it as a file, NAME.json"};
  auto created = backend_.call(SessionCreate{.name = request.name, .budget = options_.budget});
  if (!created) return created.error();
  if (auto filled = fill_session(request); !filled) {
    auto deleted = backend_.call(SessionDelete{request.name});
    return deleted ? filled.error() : deleted.error();
  }
  return "session " + request.name + " goes on in the daemon: tracectl read " + request.name;
}

Status Tracing::fill_session(const SaveAs& request) {
  Proofs proofs(backend_, request.name);
  if (auto proven = proofs.prove(processes_of(target_)); !proven) return proven;
  if (auto staged = stage_in(request.name, request.settings); !staged) return staged;
  auto committed = commit(request.name);
  return committed ? ok() : Status(committed.error());
}

void Tracing::handle_one(const StartRecording& request) {
  auto begun = begin_recording(request);
  if (begun) return;
  Recording failed{.file = request.file, .part = {}};
  failed.part.state = "failed";
  failed.part.error = begun.error().message;
  say_(std::move(failed));
}

// The file comes first, and is written last: nothing is lost of it if something is refused.
Status Tracing::begin_recording(const StartRecording& request) {
  auto file = RecordedFile::open({.file = request.file});
  auto switched = file ? switch_to(request.settings) : file.error();
  say_(Switched{switched});
  if (!switched) return switched.error();
  if (auto started = file->start(backend_, session_); !started) return started;
  recording_to_ = request.file;
  return ok();
}

void Tracing::handle_one(const StopRecording& request) {
  auto stopped = backend_.call(RecordStop{session_});
  say_(Switched{stopped ? switch_to(request.settings) : stopped.error()});
  look_at_recording();
}

// ---- what happens by itself ----

void Tracing::look() {
  if (session_.empty()) return;
  look_at_target();
  complain(proofs_->go_on());
  look_at_budget();
  look_at_recording();
}

void Tracing::look_at_target() {
  pollfd target{process_->pidfd(), POLLIN, 0};
  if (has_ended_ || ::poll(&target, 1, 0) <= 0) return;
  has_ended_ = true;
  say_(TargetEnded{});
}

// An embedded engine checks the budget when it is asked.
void Tracing::look_at_budget() {
  auto reply = backend_.call(SessionBudget{session_});
  if (!reply) return complain(reply.error());
  if (reply->left_out.size() != left_out_) {
    left_out_ = reply->left_out.size();
    say_(LeftOut{std::move(reply->left_out), options_.budget});
  }
  if (proofs_->unproven().hits == unproven_hits_) return;
  unproven_hits_ = proofs_->unproven().hits;
  say_(Unproven{proofs_->unproven()});
}

void Tracing::look_at_recording() {
  if (!recording_to_) return;
  auto part = backend_.call(RecordShow{session_});
  if (!part) return complain(part.error());
  Recording recording{.file = *recording_to_, .part = std::move(*part)};
  if (recording.part.state == "done" || recording.part.state == "failed") recording_to_.reset();
  say_(std::move(recording));
}

std::optional<std::string> Tracing::end() {
  if (!recording_to_) return std::nullopt;
  auto part = RecordingProgress(common_, backend_, session_).end();
  return part ? recording_text({.file = *recording_to_}, *part) : error_text(part.error());
}

}  // namespace tracectl::ui
