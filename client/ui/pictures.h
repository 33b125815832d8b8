// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "client/ui/model.h"
#include "client/ui/picture.h"

namespace tracectl::ui {

constexpr Size kLeastSize{.lines = 10, .columns = 60};

// The screen as the model has it. A list remembers which of its rows are shown.
Picture picture_of(Model& model, Size size);

}  // namespace tracectl::ui
