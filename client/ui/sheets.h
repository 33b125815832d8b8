// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/ui/model.h"
#include "client/ui/picture.h"

namespace tracectl::ui {

// What differs between the pictures of the screens.
struct Sheet {
  std::string title = {}, about = {};  // of the first line, left and right
  Line choice = {};                    // what is typed, or the views
  std::string found = {};              // right of it
  bool is_typed = false;               // the cursor is at the end of `choice`
  Line heading = {};
  std::vector<Line> rows = {};  // those that are seen
};

Sheet sheet_of(Model& model, size_t width, size_t height);

}  // namespace tracectl::ui
