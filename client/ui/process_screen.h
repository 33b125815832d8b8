// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/ui/list_place.h"
#include "client/ui/process_table.h"
#include "client/ui/text_field.h"

namespace tracectl::ui {

// The choice of a process.
class ProcessScreen {
 public:
  // Those that used the CPU most come first. The selected process stays selected.
  void set(std::vector<ProcessRow> rows);
  // Returns the process that was chosen.
  std::optional<int64_t> take(Key key);
  bool is_typing() const { return is_typing_; }
  const std::string& filter() const { return filter_.text(); }
  const std::vector<ProcessRow>& shown() const { return shown_; }
  // Empty: it is not there.
  std::string command_of(int64_t pid) const;
  size_t all() const { return rows_.size(); }
  ListPlace& place() { return place_; }

 private:
  void show_matching();

  std::vector<ProcessRow> rows_, shown_;
  TextField filter_;
  ListPlace place_;
  bool is_typing_ = true;
};

}  // namespace tracectl::ui
