// SPDX-License-Identifier: BSD-2-Clause
#include "client/ui/list_place.h"

#include <algorithm>

namespace tracectl::ui {

bool ListPlace::take(Key key, size_t rows) {
  const size_t last = rows ? rows - 1 : 0;
  const auto back = [&](size_t by) { selected_ -= std::min(by, selected_); };
  switch (key.kind) {
    case Key::Kind::up: back(1); break;
    case Key::Kind::down: selected_ += 1; break;
    case Key::Kind::page_up: back(height_); break;
    case Key::Kind::page_down: selected_ += height_; break;
    case Key::Kind::home: selected_ = 0; break;
    case Key::Kind::end: selected_ = last; break;
    default: return false;
  }
  selected_ = std::min(selected_, last);
  return true;
}

size_t ListPlace::first(size_t rows, size_t height) {
  height_ = std::max<size_t>(height, 1);
  selected_ = std::min(selected_, rows ? rows - 1 : 0);
  first_ = std::min(first_, selected_);
  if (selected_ >= first_ + height_) first_ = selected_ + 1 - height_;
  if (rows <= first_ + height_) first_ = rows > height_ ? rows - height_ : 0;
  return first_;
}

}  // namespace tracectl::ui
