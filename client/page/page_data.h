// SPDX-License-Identifier: BSD-2-Clause
//
// The data for the page of a recording, collected from its events one by one.
//
// An item is what the page draws: a hit, or a call from its beginning to its end, which are two events. If a
// recording is too large for a page, the first items are kept; the counts by probe, CPU and cause include all
// events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "client/page/page_texts.h"
#include "client/render/call_names.h"
#include "client/render/open_calls.h"
#include "daemon/model/event.h"

namespace tracectl {

// The page's scripts use the same numbers: client/page/data.js.
enum class ItemKind : uint8_t {
  hit,
  returned,
  unwound,
  latency,
  no_end,        // a call whose end was not seen; its duration is the known part
  no_beginning,  // one whose beginning was not seen
};

struct PageItem {
  static constexpr uint64_t kNoDuration = UINT64_MAX;

  uint64_t begin_ns = 0;  // since boot
  uint64_t duration_ns = kNoDuration;
  uint32_t probe = 0, thread = 0;
  uint32_t depth = 0;  // the number of calls drawn around it
  uint32_t cpu = 0;
  uint32_t arguments = 0, result = 0, tag = 0;  // texts
  uint32_t stack = 0;                           // from 1; 0: none
  ItemKind kind = ItemKind::hit;
  bool is_placed = false;  // its depth comes from the program's calls
  bool is_within = false;  // a call that began within another one, which is an item too

  uint64_t end_ns() const;
};

struct PageProbe {
  uint32_t name = 0, pattern = 0;                             // texts
  uint64_t hits = 0, returned = 0, unwound = 0, latency = 0;  // events
};

struct PageThread {
  pid_t pid = 0, tid = 0;
  uint32_t comm = 0;  // text
};

struct PageLoss {
  uint64_t ts_ns = 0, count = 0;
  LossCause cause = LossCause::ring_full;
  uint32_t cpu = 0;  // from 1; 0: of none
};

struct PageData {
  static constexpr size_t kNameBytes = 16 << 20;
  static constexpr size_t kDetailBytes = 96 << 20;

  std::deque<PageItem> items;  // by their beginnings, after finish()
  std::vector<PageProbe> probes;
  std::vector<PageThread> threads;
  std::vector<std::vector<uint32_t>> stacks{{}};  // names, the outermost first
  std::vector<PageLoss> losses;
  std::map<unsigned, uint64_t> cpus;  // events of each
  PageTexts names{kNameBytes};
  PageTexts details{kDetailBytes};
  uint64_t events = 0, lost = 0;
  uint64_t first_ns = UINT64_MAX, last_ns = 0;  // of all events, drawn or not
  // Counts of what does not fit into a page.
  uint64_t left_out_items = 0, left_out_stacks = 0, left_out_losses = 0;
  size_t stack_names = 0;  // of all stacks
};

class PageCollector {
 public:
  static constexpr size_t kMostItems = 4'000'000;
  static constexpr size_t kMostStacks = 1 << 17;
  static constexpr size_t kMostStackNames = 8 << 20;  // of all of them
  static constexpr size_t kMostLosses = 10'000;
  static constexpr size_t kMostThreads = 1 << 16;  // items of others count for the last one

  explicit PageCollector(size_t most_items = kMostItems) : most_items_(most_items) {}

  void add(const StreamItem& item);
  // Call it after the last event. Calls that are still open get no end.
  const PageData& finish();

 private:
  struct OpenItem {
    static constexpr size_t kLeftOut = SIZE_MAX;
    static constexpr size_t kUnseen = SIZE_MAX - 1;
    size_t item;
  };
  using Open = std::vector<OpenItem>;

  void add_event(const Event& event);
  void add_loss(const Lost& lost);
  void make(Open& open, const CallStep& step, const Event& event);
  void begin(Open& open, size_t index, const Event& event);
  void end(Open& open, size_t index, const Event& event);
  void close(Open& open, size_t index);
  void note(const Event& event);
  size_t append(const Event& event, ItemKind kind, size_t depth);
  PageItem* item_of(const OpenItem& open);
  void end_open_items();

  PageProbe& probe_of(const Event& event);
  uint32_t thread_of(const Event& event);
  uint32_t stack_of(const Event& event);
  void count(const Event& event);

  const size_t most_items_;
  PageData data_;
  CallNames names_;
  OpenCalls calls_;
  std::unordered_map<pid_t, Open> open_;  // by tid
  std::unordered_map<std::string, uint32_t> probes_;
  std::map<std::pair<pid_t, pid_t>, uint32_t> threads_;
  std::map<std::vector<uint32_t>, uint32_t> stacks_;
};

// Gives a depth to each item that has a duration but no depth yet, within its thread: an item within another
// is drawn below it. The items are in the order of their beginnings.
void place_items(std::deque<PageItem>& items, size_t threads);

}  // namespace tracectl
