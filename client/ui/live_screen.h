// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/ui/list_place.h"
#include "client/ui/marks.h"
#include "client/ui/requests.h"

namespace tracectl::ui {

struct LiveRow {
  std::string probe;  // canonical name
  std::string name;   // for people
  uint64_t hits = 0;
  std::optional<double> per_second = {};        // since the last reading
  std::optional<protocol::RowPart> times = {};  // of calls, since times were first shown
};

// A column of the tables of counts and times.
struct LiveColumn {
  const char* title;
  bool is_number;
  double (*figure)(const LiveRow& row);  // by which rows are sorted; null: by name
  std::string (*text)(const LiveRow& row);
};

struct StackLine {
  std::string text;
  bool begins = false;  // a stack: the text says how often it was
};

// What the marked probes do.
class LiveScreen {
 public:
  // Rows of probes that are not marked are left out.
  void set(const protocol::ReadReply& read, double at_s, const Marks& marks);
  // The rows of another process do not continue these.
  void forget() { *this = {}; }
  void take(Key key);

  View view() const { return view_; }
  // The probe whose stacks are counted; empty in other views.
  const std::string& stacks_of() const { return stacks_of_; }
  std::string name_of_stacks() const;
  std::span<const LiveColumn> columns() const;
  size_t sorted_by() const { return view_ == View::times ? times_by_ : counts_by_; }
  const std::vector<LiveRow>& rows() const { return rows_; }
  const std::vector<StackLine>& stack_lines() const { return stack_lines_; }
  ListPlace& place() { return view_ == View::stacks ? stack_place_ : place_; }

 private:
  void show(View view);
  void take_stacks_of(size_t row);
  void move_sideways(bool right);
  void add_rates(double at_s);
  void sort();

  View view_ = View::counts;
  std::vector<LiveRow> rows_;
  std::string stacks_of_;
  std::vector<StackLine> stack_lines_;
  ListPlace place_, stack_place_;
  size_t counts_by_ = 1, times_by_ = 1;  // columns
  std::map<std::string, uint64_t> hits_before_;
  std::optional<double> read_at_s_;
};

}  // namespace tracectl::ui
