// SPDX-License-Identifier: BSD-2-Clause
//
// The lines of a graph that are about one thread.
//
// A call has its opening line only once another line is to stand within it: until then it may turn
// out to be a leaf, which has one line, or too short to be shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/render/call_names.h"
#include "client/render/graph_line.h"
#include "client/render/graph_options.h"
#include "client/render/open_calls.h"
#include "daemon/model/event.h"

namespace tracectl {

class ThreadGraph {
 public:
  // Both outlive it.
  ThreadGraph(const GraphOptions& options, CallNames& names) : options_(options), names_(names) {}

  void make(const CallStep& step, const Event& event);
  // Calls that have been open for as long are shown as such.
  void show_open_for(uint64_t least_ns, uint64_t now_ns);
  void finish(uint64_t now_ns);
  // Nothing more is looked for of the calls that are open.
  void give_up(uint64_t now_ns);

  bool has_open_calls() const { return !frames_.empty(); }
  // The lines there are, in order, that were not taken yet.
  const std::vector<GraphLine>& held() const { return held_; }
  size_t held_bytes() const { return held_bytes_; }
  std::vector<GraphLine> take_held();

 private:
  struct Frame {
    GraphLine begin;                         // when and where; no text yet
    std::string name = {};                   // empty: it began unseen
    std::string call = {};                   // `query("SELECT 1")`
    std::optional<uint64_t> opened_at = {};  // the number of its opening line, once that is shown
    bool is_moved = false;                   // it does not stand where it was opened
    std::vector<GraphLine> notes = {};       // to be shown with it
  };

  // How a call is over, or that no more is known of it.
  struct Ending {
    enum class How : uint8_t { returned, unwound, lost, still_open, given_up };

    How how;
    GraphLine line;  // when and where; no text yet
    std::string name = {};
    std::string result = {};  // ` = 0`
  };
  using How = Ending::How;

  std::string call_text(const Event& event) const;
  Ending ending_of(const Event& event) const;
  static std::string leaf_comment(const Frame& frame, const Ending& ending);
  static std::string brace_comment(const Frame& frame, const Ending& ending);

  void begin(const Event& event);
  void appear(const Event& event);
  void note(GraphLine line);
  void close(size_t index, Ending ending);
  void close_all(How how, uint64_t now_ns);
  bool is_shown(const Frame& frame, const Ending& ending) const;
  void show_end(size_t index, const Ending& ending);
  void show_leaf(size_t index, const Ending& ending);
  void show_brace(size_t index, const Ending& ending);
  void show_openings(size_t count);
  void show_opening(size_t index);
  uint64_t hold(GraphLine line);
  void hold_tag(const GraphLine& line);
  void push(GraphLine line);

  const GraphOptions& options_;
  CallNames& names_;
  std::vector<Frame> frames_;  // of the open calls, the outermost first
  std::vector<GraphLine> held_;
  size_t held_bytes_ = 0;
  uint64_t lines_ = 0;
  std::string tag_;  // shown last
};

}  // namespace tracectl
