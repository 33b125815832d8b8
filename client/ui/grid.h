// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "client/ui/picture.h"

namespace tracectl::ui {

// Aligned columns of a screen. The last one takes the rest of the width, and its cells are shortened to that.
class Grid {
 public:
  struct Column {
    std::string title;
    bool is_right = false;
    size_t least = 0;  // its width, so that the columns do not move whenever a figure does
    bool is_cut_at_end = false;  // or in the middle, as names are
  };

  explicit Grid(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  // `sorted`: the number of the column that is emphasized; none has SIZE_MAX.
  Line heading(size_t width, size_t sorted = SIZE_MAX) const;
  std::vector<std::string> texts(size_t width) const;

 private:
  std::vector<size_t> widths(size_t width) const;
  std::string cell_text(const std::string& cell, size_t column, size_t width) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tracectl::ui
