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

Result<Expr> EventCondition::prepare(const EventSource& source) const {
  auto spec = for_source(Spec{.when = expr_}, source);
  if (!spec) return spec.error();
  return *std::move(spec->when);
}

bool EventCondition::holds(const Event& event) {
  const Expr* expr =
      sources_.of(event.source, [&](const EventSource& one) { return prepare(one); });
  if (!expr) return false;
  const auto value = evaluate(*expr, EventFacts(event));
  return value && value->value != 0;
}

}  // namespace tracectl
