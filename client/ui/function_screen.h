// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/ui/list_place.h"
#include "client/ui/marks.h"
#include "client/ui/requests.h"
#include "client/ui/text_field.h"

namespace tracectl::ui {

// The choice of functions and USDT probes of a process.
class FunctionScreen {
 public:
  static constexpr double kLeastBetweenLists_s = 0.25;

  enum class Wish { none, back, go_on };
  Wish take(Key key);
  // What is to be asked now: the matches of what is typed, if they are not known, not being asked for, and it was not
  // asked just before.
  std::optional<ListFunctions> due(int64_t pid, double now_s);
  // The keys that waited for the list take effect.
  Wish set(Listed listed);

  bool is_typing() const { return is_typing_; }
  const std::string& typed() const { return pattern_.text(); }
  const std::vector<FoundProbe>& shown() const { return shown_; }
  // Whether the list belongs to what is typed.
  bool is_known() const { return listed_ && listed_->typed == pattern_.text(); }
  const std::string& why_nothing() const { return why_nothing_; }
  const Marks& marks() const { return marks_; }
  ListPlace& place() { return place_; }
  // An answer to the last key; empty: none.
  const std::string& said() const { return said_; }

 private:
  void toggle();
  void toggle_all();
  Wish go_on();
  Wish take_command(Key key);
  bool needs_list(Key key) const;

  TextField pattern_;
  std::optional<Listed> listed_;
  std::vector<FoundProbe> shown_;
  std::string why_nothing_;
  Marks marks_;
  ListPlace place_;
  std::vector<Key> waiting_;  // for the list of what is typed
  std::string said_;
  bool is_typing_ = true;
  bool is_asking_ = false;
  double asked_at_s_ = -kLeastBetweenLists_s;
};

}  // namespace tracectl::ui
