// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "client/connection/backend.h"
#include "client/connection/notified_events.h"
#include "client/options/options.h"
#include "client/render/deepest.h"
#include "client/render/folded.h"
#include "client/render/graph.h"
#include "client/render/probe_names.h"
#include "client/target/debug_files.h"
#include "daemon/protocol/events.h"
#include "daemon/protocol/hit_text.h"

namespace tracectl {

// Prints a session's events as they arrive, as text, JSON lines or a graph of calls; or counts their stacks,
// or keeps the deepest ones.
class EventPrinter {
 public:
  enum class Shown { events, folded_stacks, deepest_stacks, graph };
  EventPrinter(const CommonOptions& common, std::string session, Shown shown = Shown::events,
               const GraphOptions& graph = {});

  // Takes and prints the events that have arrived. False: the reader of our output is gone.
  Result<bool> print_from(Backend& backend);
  // For an item of a recording, whose clock gives the time of day.
  bool print_item(const StreamItem& item);
  void use(const protocol::WallClock& wall) { wall_ = wall; }
  // The next events are from another daemon.
  void begin_anew() { notified_.forget_descriptions(); }
  // Call it after the last event.
  void finish();
  // How often, in ms, print_from() must be called even without new events.
  int interval_ms() const { return shown_ == Shown::graph && !common_.json ? 100 : -1; }
  bool is_json() const { return common_.json; }
  const FoldedStacks& folded() const { return folded_; }
  const DeepestStacks& deepest() const { return deepest_; }
  // "12 events, 3 lost"
  std::string summary() const;

 private:
  bool show(std::string& out);
  void add(std::string& out, const Arrived& arrived);
  Status add_notifications(std::string& out, std::string_view lines);
  Status add_notification(std::string& out, std::string_view line);
  void add(std::string& out, const PlainHit& hit);
  void add(std::string& out, const StreamItem& item);
  bool shows_at_end() const;
  void add_event(std::string& out, const Event& event);

  const CommonOptions& common_;
  std::string session_;
  Shown shown_;
  FoldedStacks folded_;
  DeepestStacks deepest_;
  GraphText graph_;
  StreamNames names_;
  NotifiedEvents notified_;
  protocol::HitText hits_;
  DebugFiles debug_files_;
  protocol::WallClock wall_;
  std::string out_;        // kept for its memory
  std::string held_;       // items of a recording
  uint64_t start_ns_ = 0;  // of the first item
  uint64_t events_ = 0;
  uint64_t lost_ = 0;
  bool is_end_known_ = true;
};

}  // namespace tracectl
