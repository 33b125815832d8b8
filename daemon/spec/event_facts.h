// SPDX-License-Identifier: BSD-2-Clause
//
// Specs for recorded events. Data that is not in an event (the program's memory, the user who ran
// it) cannot be evaluated any more.
#pragma once

#include "daemon/base/result.h"
#include "daemon/model/event.h"
#include "daemon/model/spec.h"
#include "daemon/spec/evaluate.h"

namespace tracectl {

// The same spec with `arg.NAME` and `retval` resolved to the values of the source's events;
// argument 0 is the first value that they show. If they lack something that it needs, fails with
// the reason and a spot in the canonical text.
Result<Spec> for_source(const Spec& spec, const EventSource& source);
// The types of the values in its events, as those of arguments that a site can read.
Arguments read_arguments(const EventSource& source);

// The values of an event that expressions of such a spec refer to. Borrows the event.
class EventFacts final : public Facts {
 public:
  explicit EventFacts(const Event& event) : event_(event) {}

  std::optional<Number> operand(const Expr& expr) const override;
  std::optional<Number> memory(Read, uint64_t) const override { return std::nullopt; }
  std::optional<std::string> string(const Expr& expr) const override;

 private:
  std::optional<Number> argument(size_t index) const;

  const Event& event_;
};

}  // namespace tracectl
