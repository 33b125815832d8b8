// SPDX-License-Identifier: BSD-2-Clause
//
// The engine's answers as parts of messages.
#pragma once

#include <optional>
#include <vector>

#include "daemon/protocol/messages.h"
#include "daemon/sessions/engine.h"
#include "daemon/sessions/hit_cost.h"

namespace tracectl {

std::vector<protocol::FollowedPart> followed_parts(const std::vector<Followed>& files);
std::vector<protocol::LeftOutPart> parts_of(const std::vector<LeftOut>& left_out);
protocol::SettingPart part_of(const Setting& setting);

struct ProbesFound {
  Resolution resolution;
  std::optional<HitCosts> costs;  // of hits, if the request asks for the returns
};
// Fails if that would be longer than an answer may be.
Result<protocol::ProbeListReply> reply_of(const ProbesFound& found);

struct ReadResults {
  ReadSummary summary;
  std::optional<std::vector<LeftOut>> left_out;  // if the session has a budget
};
protocol::ReadReply reply_of(const ReadResults& results);

protocol::StageReply part_of(const StageSummary& summary);
protocol::CommitReply part_of(const CommitSummary& summary);
protocol::SwitchReply part_of(const SwitchSummary& summary);
protocol::BudgetReply budget_of(const Session& session);

struct ProbesInfo {
  std::vector<ProbeSettingInfo> settings;
  std::optional<uint64_t> epoch;  // if set, the generations are shown, by this epoch
};
protocol::ProbeInfoReply reply_of(const ProbesInfo& info);

}  // namespace tracectl
