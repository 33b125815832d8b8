// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>

#include "client/ui/key.h"

namespace tracectl::ui {

// Which row of a list is selected, and which one is shown first.
class ListPlace {
 public:
  // False: the key does not move it.
  bool take(Key key, size_t rows);
  void select(size_t row) { selected_ = row; }
  size_t selected() const { return selected_; }
  // The first row that is shown where so many fit: the selected one is among them.
  size_t first(size_t rows, size_t height);

 private:
  size_t selected_ = 0;
  size_t first_ = 0;
  size_t height_ = 1;  // when it was last shown
};

}  // namespace tracectl::ui
