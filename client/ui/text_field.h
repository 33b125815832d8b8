// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "client/ui/key.h"

namespace tracectl::ui {

// A line of text that is typed, in UTF-8. The cursor is at its end.
class TextField {
 public:
  // False: the key is none of text.
  bool take(Key key);
  const std::string& text() const { return text_; }
  void set(std::string text) { text_ = std::move(text); }

 private:
  std::string text_;
};

}  // namespace tracectl::ui
