// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/spec/event_condition.h"

#include "daemon/spec/event_facts.h"
#include "daemon/spec/parse.h"

namespace tracectl {

Result<EventCondition> EventCondition::parse(std::string_view text) {
  auto expr = parse_condition(text);
  if (!expr) return expr.error();
  return EventCondition(*std::move(expr));
}

const EventCondition::OfSource& EventCondition::of(
    const std::shared_ptr<const EventSource>& source) {
  const auto [found, is_new] = sources_.try_emplace(source.get());
  if (!is_new) return found->second;
  found->second.kept = source;
  auto spec = for_source(Spec{.when = expr_}, *source);
  if (spec) {
    found->second.expr = std::move(spec->when);
    fits_some_ = true;
  } else if (!misfit_) {
    misfit_ = spec.error().in(source->probe);
  }
  return found->second;
}

bool EventCondition::holds(const Event& event) {
  const OfSource& source = of(event.source);
  if (!source.expr) return false;
  const auto value = evaluate(*source.expr, EventFacts(event));
  return value && value->value != 0;
}

Status EventCondition::check() const {
  if (misfit_ && !fits_some_) return *misfit_;
  return ok();
}

}  // namespace tracectl
