// SPDX-License-Identifier: BSD-2-Clause
#include "client/ui/model.h"

#include <utility>

#include "client/recording/recorded_file.h"
#include "client/render/text.h"
#include "client/ui/status_text.h"

namespace tracectl::ui {

Model::Model(std::optional<int64_t> pid) : was_given_process_(pid.has_value()) {
  if (pid) choose(*pid);
}

void Model::set_processes(std::vector<ProcessRow> rows) {
  processes_.set(std::move(rows));
  if (command_.empty()) command_ = processes_.command_of(pid_);
}

void Model::choose(int64_t pid) {
  if (pid != pid_) {
    functions_ = {};
    live_.forget();
    requested_.clear();
    armed_ = {};
    sums_ = {};
    left_out_ = {};
    unproven_ = {};
    recording_.reset();
    has_ended_ = false;
    pid_ = pid;
    command_ = processes_.command_of(pid);
    requests_.push_back(ChooseProcess{pid});
  }
  screen_ = Screen::functions;
}

// ---- keys ----

void Model::take(Key key) {
  said_.reset();
  if (prompt_)
    take_in_prompt(key);
  else
    take_on_screen(key);
}

void Model::take_on_screen(Key key) {
  const bool is_typing = screen_ == Screen::processes   ? processes_.is_typing()
                         : screen_ == Screen::functions ? functions_.is_typing()
                                                        : false;
  if (key.is(U'q') && !is_typing) {
    is_over_ = true;
  } else if (screen_ == Screen::processes) {
    if (const auto chosen = processes_.take(key)) choose(*chosen);
  } else if (screen_ == Screen::functions) {
    const auto wish = functions_.take(key);
    if (wish == FunctionScreen::Wish::back && can_choose_process()) screen_ = Screen::processes;
    if (wish == FunctionScreen::Wish::go_on) go_to_live();
  } else {
    take_on_live(key);
  }
}

void Model::go_to_live() {
  screen_ = Screen::live;
  want_settings();
}

void Model::take_on_live(Key key) {
  if (key.is(U'f') || key.kind == Key::Kind::escape) {
    screen_ = Screen::functions;
  } else if (key.is(U's')) {
    prompt_.emplace(Prompt{.what = Prompt::For::session, .answer = {}});
  } else if (key.is(U'r')) {
    take_record_key();
  } else {
    live_.take(key);
    want_settings();
  }
}

void Model::take_record_key() {
  if (!is_recording()) {
    prompt_.emplace(Prompt{.what = Prompt::For::recording, .answer = {}});
    return;
  }
  recording_->part.state = "ending";
  requested_ = wanted(false);
  ++switches_;
  requests_.push_back(StopRecording{requested_});
}

void Model::take_in_prompt(Key key) {
  if (key.kind == Key::Kind::escape)
    prompt_.reset();
  else if (key.kind == Key::Kind::enter)
    answer_prompt();
  else
    prompt_->answer.take(key);
}

void Model::answer_prompt() {
  const Prompt prompt = *std::exchange(prompt_, std::nullopt);
  const std::string& name = prompt.answer.text();
  if (name.empty()) return;
  if (prompt.what == Prompt::For::session) {
    requests_.push_back(SaveAs{name, wanted(false)});
    return;
  }
  recording_ = Recording{.file = name, .part = {}};
  recording_->part.state = "recording";
  requested_ = wanted(true);
  ++switches_;
  requests_.push_back(StartRecording{name, requested_});
}

// ---- what is asked ----

WantedSettings Model::wanted(bool events) const {
  return functions_.marks().settings(
      {.view = live_.view(), .stacks_of = live_.stacks_of(), .events = events});
}

void Model::want_settings() {
  WantedSettings settings = wanted(is_recording());
  if (settings == requested_) return;
  requested_ = std::move(settings);
  ++switches_;
  requests_.push_back(Switch{requested_});
}

void Model::tick(double now_s) {
  now_s_ = now_s;
  if (screen_ == Screen::functions)
    if (auto list = functions_.due(pid_, now_s)) requests_.push_back(std::move(*list));
  if (screen_ != Screen::live || is_reading_ || is_switching() || now_s < next_read_s_) return;
  is_reading_ = true;
  next_read_s_ = now_s + kReadEvery_s;
  requests_.push_back(ReadRows{});
}

// ---- answers ----

void Model::take(Answer answer) {
  std::visit([&](auto& one) { note(one); }, answer);
}

// The list can be of a process that was left meanwhile.
void Model::note(Listed& listed) {
  if (listed.pid != pid_) return;
  if (functions_.set(std::move(listed)) == FunctionScreen::Wish::go_on) go_to_live();
}

void Model::note(Switched& switched) {
  --switches_;
  next_read_s_ = now_s_;
  if (switched.reply)
    armed_ = *std::move(switched.reply);
  else
    said_ = {switched.reply.error().message, true};
}

void Model::note(Rows& rows) {
  is_reading_ = false;
  if (!rows.read) {
    said_ = {rows.read.error().message, true};
    return;
  }
  live_.set(*rows.read, rows.at_s, functions_.marks());
  sums_ = *std::move(rows.read);
  sums_.rows.clear();
}

bool Model::is_recording() const { return recording_ && recording_->part.state == "recording"; }

void Model::note(Recording& recording) {
  const std::string& state = recording.part.state;
  const bool has_failed = state == "failed";
  if (has_failed)
    said_ = {recording.file + ": " + recording.part.error.value_or("the recording has failed"),
             true};
  if (state == "done") said_ = {recording.file + ": " + in_file_text(recording.part)};
  // An answer of before the key that ended it.
  if (state == "recording" && !is_recording()) return;
  recording_ = std::move(recording);
  if (has_failed) want_settings();
}

void Model::note(TargetEnded&) {
  has_ended_ = true;
  said_.reset();
  next_read_s_ = now_s_;
}

// ---- status ----

Said Model::status() const {
  if (said_) return *said_;
  if (screen_ == Screen::functions && !functions_.said().empty()) return {functions_.said(), true};
  if (has_ended_)
    return {"process " + std::to_string(pid_) + " has ended" +
                (screen_ == Screen::live ? ": these are its last figures" : ""),
            true};
  if (screen_ == Screen::functions && functions_.is_known() && functions_.shown().empty())
    return {functions_.why_nothing()};
  if (screen_ != Screen::live) return {};
  return session_status({armed_, sums_, left_out_, unproven_, recording_, is_switching()});
}

}  // namespace tracectl::ui
