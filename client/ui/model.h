// SPDX-License-Identifier: BSD-2-Clause
//
// What the interface knows: its screens, what is chosen in them, and what a key or an answer of the engine changes. It
// neither draws nor asks: pictures.h says what is seen of it, asker.h answers its requests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/ui/function_screen.h"
#include "client/ui/live_screen.h"
#include "client/ui/process_screen.h"
#include "client/ui/requests.h"

namespace tracectl::ui {

enum class Screen { processes, functions, live };

// A question in the last line.
struct Prompt {
  enum class For { session, recording };
  For what = For::session;
  TextField answer;
};

class Model {
 public:
  static constexpr double kReadEvery_s = 1;

  // With a process, its functions are the first screen.
  explicit Model(std::optional<int64_t> pid);

  void take(Key key);
  void take(Answer answer);
  void set_processes(std::vector<ProcessRow> rows);
  // Call it often. The time is of any clock that only goes forward.
  void tick(double now_s);
  // What is to be asked, in this order.
  std::vector<Request> take_requests() { return std::move(requests_); }
  bool is_over() const { return is_over_; }

  Screen screen() const { return screen_; }
  ProcessScreen& processes() { return processes_; }
  const ProcessScreen& processes() const { return processes_; }
  FunctionScreen& functions() { return functions_; }
  const FunctionScreen& functions() const { return functions_; }
  LiveScreen& live() { return live_; }
  const LiveScreen& live() const { return live_; }
  const std::optional<Prompt>& prompt() const { return prompt_; }
  int64_t pid() const { return pid_; }
  const std::string& command() const { return command_; }
  bool can_choose_process() const { return !was_given_process_; }
  bool is_switching() const { return switches_ > 0; }
  bool is_recording() const;
  const std::optional<Recording>& recording() const { return recording_; }
  // About the last key or answer, otherwise about the session.
  Said status() const;

 private:
  void take_on_screen(Key key);
  void go_to_live();
  void take_on_live(Key key);
  void take_in_prompt(Key key);
  void take_record_key();
  void answer_prompt();
  void choose(int64_t pid);
  void want_settings();
  WantedSettings wanted(bool events) const;
  void note(Listed& listed);
  void note(Switched& switched);
  void note(Rows& rows);
  void note(LeftOut& left_out) { left_out_ = std::move(left_out); }
  void note(Unproven& unproven) { unproven_ = unproven.part; }
  void note(Recording& recording);
  void note(TargetEnded&);
  void note(Said& said) { said_ = std::move(said); }

  Screen screen_ = Screen::processes;
  ProcessScreen processes_;
  FunctionScreen functions_;
  LiveScreen live_;
  std::optional<Prompt> prompt_;
  std::vector<Request> requests_;
  WantedSettings requested_;  // settings, last
  int64_t pid_ = 0;
  std::string command_;
  bool was_given_process_ = false;
  bool has_ended_ = false;  // the process
  bool is_over_ = false;
  bool is_reading_ = false;
  int switches_ = 0;  // that are under way
  double now_s_ = 0, next_read_s_ = 0;
  protocol::CommitReply armed_;
  protocol::ReadReply sums_;  // without rows
  LeftOut left_out_;
  protocol::UnprovenPart unproven_;
  std::optional<Recording> recording_;  // the last one
  std::optional<Said> said_;
};

}  // namespace tracectl::ui
