// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string_view>

#include "daemon/base/result.h"
#include "daemon/model/event.h"
#include "daemon/model/expr.h"
#include "daemon/spec/by_source.h"

namespace tracectl {

// A condition, as --when takes it, over events that have been recorded. One thread at a time.
class EventCondition {
 public:
  static Result<EventCondition> parse(std::string_view text);

  // False also where the event has not what it needs.
  bool holds(const Event& event);
  // Of the first probe that has not what it needs, why.
  const std::optional<Error>& misfit() const { return sources_.misfit(); }
  // An error where none of the probes whose events have come has what it needs.
  Status check() const { return sources_.check(); }

 private:
  explicit EventCondition(Expr expr) : expr_(std::move(expr)) {}
  Result<Expr> prepare(const EventSource& source) const;

  Expr expr_;
  BySource<Expr> sources_;
};

}  // namespace tracectl
