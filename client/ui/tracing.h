// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "client/connection/backend.h"
#include "client/connection/proofs.h"
#include "client/options/options.h"
#include "client/recording/recorded_file.h"
#include "client/target/debug_files.h"
#include "client/target/named_debug_files.h"
#include "client/ui/requests.h"
#include "daemon/process/process.h"

namespace tracectl::ui {

struct TracingOptions {
  double budget = 10;                       // percent of one CPU
  std::optional<uint64_t> most_added = {};  // sites that are added without consent
};

// The interface's session: carries out its requests with an engine. Used by one thread.
class Tracing {
 public:
  static constexpr int kLookEveryMs = 250;
  using Say = std::function<void(Answer)>;

  Tracing(const CommonOptions& common, const TracingOptions& options, Backend& backend,
          NamedDebugFiles debug_files, Say say);

  void handle(const Request& request);
  // Looks what has happened by itself: to the process, the budget, a recording. Call it every kLookEveryMs.
  void look();
  // Ends a recording, after the interface; returns what is in the file.
  std::optional<std::string> end();

 private:
  using Clock = std::chrono::steady_clock;

  void handle_one(const ChooseProcess& request);
  void handle_one(const ListFunctions& request);
  void handle_one(const Switch& request);
  void handle_one(const ReadRows&);
  void handle_one(const SaveAs& request);
  void handle_one(const StartRecording& request);
  void handle_one(const StopRecording& request);

  Status choose(int64_t pid);
  Result<FoundProbes> list(const std::string& pattern);
  Result<protocol::CommitReply> switch_to(const WantedSettings& settings);
  Status stage(const WantedSettings& settings);
  Status remove_all_but(const WantedSettings& settings);
  Status stage_in(const std::string& session, std::span<const WantedSetting> settings);
  Result<protocol::CommitReply> commit(const std::string& session);
  Status begin_recording(const StartRecording& request);
  Result<std::string> save_in_daemon(const SaveAs& request);
  Status fill_session(const SaveAs& request);
  Result<std::string> save_to_file(const SaveAs& request);
  void look_at_target();
  void look_at_budget();
  void look_at_recording();
  void complain(const Status& status);

  const CommonOptions& common_;
  const TracingOptions& options_;
  Backend& backend_;
  NamedDebugFiles debug_files_;
  DebugFiles names_;
  Say say_;
  std::optional<Process> process_;
  bool has_ended_ = false;  // the process
  protocol::TargetPart target_;
  std::string session_;
  std::optional<Proofs> proofs_;  // set once there is a session
  WantedSettings in_force_;
  protocol::CommitReply committed_;
  std::optional<std::string> recording_to_;
  size_t left_out_ = 0;
  uint64_t unproven_hits_ = 0;
  std::string last_trouble_;
};

}  // namespace tracectl::ui
