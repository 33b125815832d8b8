// SPDX-License-Identifier: BSD-2-Clause
//
// The lines of a graph for one thread.
//
// The opening line of a call is made only when another line follows within it: until then the call may turn
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
  // Shows calls that have been open at least this long.
  void show_open_for(uint64_t least_ns, uint64_t now_ns);
  void finish(uint64_t now_ns);
  // Shows the open calls as given up: their ends are not expected any more.
  void give_up(uint64_t now_ns);

  bool has_open_calls() const { return !frames_.empty(); }
  // The lines that were not taken yet, in order.
  const std::vector<GraphLine>& held() const { return held_; }
  size_t held_bytes() const { return held_bytes_; }
  std::vector<GraphLine> take_held();

 private:
  struct Frame {
    GraphLine begin;                         // time and CPU; no text yet
    std::string name = {};                   // empty: its beginning was not seen
    std::string call = {};                   // `query("SELECT 1")`
    std::optional<uint64_t> opened_at = {};  // the number of its opening line, if that is shown
    bool is_moved = false;                   // not at the depth any more at which it was opened
    std::vector<GraphLine> notes = {};       // to be shown with it
  };

  // How a call ended, or that nothing more is known of it.
  struct Ending {
    enum class How : uint8_t { returned, unwound, lost, still_open, given_up };

    How how;
    GraphLine line;  // time and CPU; no text yet
    std::string name = {};
    std::string result = {};  // ` = 0`, ` rax=0`
  };
  using How = Ending::How;

  std::string call_text(const Event& event) const;
  Ending ending_of(const Event& event) const;
  static std::string leaf_comment(const Frame& frame, const Ending& ending);
  static std::string brace_comment(const Frame& frame, const Ending& ending);

  void begin(const Event& event);
  void appear(const Event& event);
  void note(GraphLine line);
  void note_ended(const Event& event);
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
  std::vector<Frame> frames_;  // the open calls, the outermost first
  std::vector<GraphLine> held_;
  size_t held_bytes_ = 0;
  uint64_t lines_ = 0;
  std::string tag_;  // the last one shown
};

}  // namespace tracectl
