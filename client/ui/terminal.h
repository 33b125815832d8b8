// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <optional>

#include "client/ui/key.h"
#include "client/ui/picture.h"
#include "daemon/base/result.h"

struct screen;

namespace tracectl::ui {

// An error without a terminal.
Status can_show_screens();

// The terminal on standard input and output. It is as it was before when this ends.
class Terminal {
 public:
  // Fails if $TERM names none that can show screens.
  static Result<Terminal> open();

  // None: no key is waiting.
  std::optional<Key> key();
  // Only what differs from the last picture is written.
  void draw(const Picture& picture);
  Size size() const;
  void resize();   // after the window has
  void suspend();  // stops this process, as ^Z does; returns when it goes on

 private:
  struct End {
    void operator()(screen* screen) const;
  };
  explicit Terminal(screen* screen) : screen_(screen) {}

  std::unique_ptr<screen, End> screen_;
};

}  // namespace tracectl::ui
