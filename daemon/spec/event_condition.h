// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string_view>

#include "daemon/base/result.h"
#include "daemon/model/event.h"
#include "daemon/model/expr.h"
#include "daemon/spec/by_source.h"

namespace tracectl {

// A condition in the language of --when, for recorded events. Used by one thread at a time.
class EventCondition {
 public:
  static Result<EventCondition> parse(std::string_view text);

  // False also if the event lacks what it needs.
  bool holds(const Event& event);
  // Why the first probe that lacks what it needs does not fit.
  const std::optional<Error>& misfit() const { return sources_.misfit(); }
  // An error if all probes whose events have arrived lack what it needs.
  Status check() const { return sources_.check(); }

 private:
  explicit EventCondition(Expr expr) : expr_(std::move(expr)) {}
  Result<Expr> prepare(const EventSource& source) const;

  Expr expr_;
  BySource<Expr> sources_;
};

}  // namespace tracectl
