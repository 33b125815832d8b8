// SPDX-License-Identifier: BSD-2-Clause
#include "client/ui/status_text.h"

#include <fmt/format.h>

#include "client/recording/recorded_file.h"
#include "client/render/probe_names.h"
#include "client/render/text.h"

namespace tracectl::ui {
namespace {

std::string left_out_of_budget(const LeftOut& left_out) {
  if (left_out.probes.empty()) return "";
  const protocol::LeftOutPart& last = left_out.probes.back();
  return fmt::format(", {} left out for the budget of {:g} %: {}", left_out.probes.size(),
                     left_out.budget, readable_name(last.probe)) +
         (left_out.probes.size() > 1 ? ", ..." : "");
}

std::string refused_sites(const std::vector<Refusal>& refused) {
  if (refused.empty()) return "";
  const Refusal& first = refused.front();
  return fmt::format(", {} refused: {}: {}", refused.size(), readable_name(first.probe),
                     first.reason);
}

std::string lost(const SessionState& state) {
  std::string text;
  const auto add = [&](uint64_t count, const char* what) {
    if (count) text += fmt::format(", {} {}", count, what);
  };
  add(state.sums.dropped_ring, "events lost");
  add(state.sums.dropped_keys, "hits without a key");
  add(state.sums.cut, "calls that could not be followed");
  add(state.unproven.hits, "hits left out for lack of a proof");
  return text;
}

std::string recorded(const std::optional<Recording>& recording) {
  if (!recording || recording->part.state != "recording") return "";
  return ", " + in_file_text(recording->part) + " in " + recording->file;
}

}  // namespace

Said session_status(const SessionState& state) {
  if (state.is_switching) return {"switching..."};
  const std::string missing =
      lost(state) + left_out_of_budget(state.left_out) + refused_sites(state.armed.refused);
  return {plural(state.armed.probes, "probe") + " armed, " + plural(state.sums.total_hits, "hit") +
              recorded(state.recording) + missing,
          !missing.empty()};
}

}  // namespace tracectl::ui
