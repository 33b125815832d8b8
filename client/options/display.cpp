// SPDX-License-Identifier: BSD-2-Clause
#include "client/options/display.h"

namespace tracectl {
namespace {

Display chosen_display;

}  // namespace

const Display& display() { return chosen_display; }

void set_display(const Display& display) { chosen_display = display; }

}  // namespace tracectl
