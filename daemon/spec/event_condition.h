// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "daemon/base/result.h"
#include "daemon/model/event.h"
#include "daemon/model/expr.h"

namespace tracectl {

// A condition, as --when takes it, over events that have been recorded. One thread at a time.
class EventCondition {
 public:
  static Result<EventCondition> parse(std::string_view text);

  // False also where the event has not what it needs.
  bool holds(const Event& event);
  // Of the first probe that has not what it needs, why.
  const std::optional<Error>& misfit() const { return misfit_; }
  // An error where none of the probes whose events have come has what it needs.
  Status check() const;

 private:
  struct OfSource {
    std::shared_ptr<const EventSource> kept;  // else another could come to lie at its address
    std::optional<Expr> expr;                 // none: it does not fit
  };

  explicit EventCondition(Expr expr) : expr_(std::move(expr)) {}
  const OfSource& of(const std::shared_ptr<const EventSource>& source);

  Expr expr_;
  std::unordered_map<const EventSource*, OfSource> sources_;
  std::optional<Error> misfit_;  // the first
  bool fits_some_ = false;
};

}  // namespace tracectl
