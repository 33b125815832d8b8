// SPDX-License-Identifier: BSD-2-Clause
#include "client/ui/key_names.h"

namespace tracectl::ui {
namespace {

// The most important ones first: a narrow terminal shows no others.
std::string live_keys(const Model& model) {
  const bool stacks = model.live().view() == View::stacks;
  return std::string("c counts  t times  k stacks  f functions  ") +
         (stacks ? "</> function" : "</> sort") + "  s save  " +
         (model.is_recording() ? "r end recording" : "r record") + "  q leave";
}

}  // namespace

std::string key_names(const Model& model) {
  if (model.screen() == Screen::live) return live_keys(model);
  if (model.screen() == Screen::processes)
    return model.processes().is_typing() ? "Enter choose  Up/Down move  Tab end typing  ^C leave"
                                         : "Enter choose  Up/Down move  / filter  q leave";
  if (model.functions().is_typing())
    return "Space mark  ^A all  Enter go on  Up/Down move  Tab end typing  ^C leave";
  return std::string("Space mark  a all  n none  Enter go on  / pattern  ") +
         (model.can_choose_process() ? "Esc processes  " : "") + "q leave";
}

}  // namespace tracectl::ui
