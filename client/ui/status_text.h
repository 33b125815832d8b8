// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>

#include "client/ui/requests.h"

namespace tracectl::ui {

struct SessionState {
  const protocol::CommitReply& armed;
  const protocol::ReadReply& sums;
  const LeftOut& left_out;
  const protocol::UnprovenPart& unproven;
  const std::optional<Recording>& recording;
  bool is_switching;
};

// In one line: what is armed, refused, left out and lost. It is an error if anything is missing in the figures.
Said session_status(const SessionState& state);

}  // namespace tracectl::ui
