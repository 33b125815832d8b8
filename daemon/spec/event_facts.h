// SPDX-License-Identifier: BSD-2-Clause
//
// Specs over events that have been recorded. What such an event does not have (the program's memory,
// who ran it) nothing can be said of any more.
#pragma once

#include "daemon/base/result.h"
#include "daemon/model/event.h"
#include "daemon/model/spec.h"
#include "daemon/spec/evaluate.h"

namespace tracectl {

// The same spec with `arg.NAME` and `retval` as the source's events have them: argument 0 is the first
// value that they show. Refused with the reason, and a spot in the canonical text, where they have not
// what it needs.
Result<Spec> for_source(const Spec& spec, const EventSource& source);
// The types of what its events have, as those of what a site can read.
Arguments read_arguments(const EventSource& source);

// What an expression of such a spec is about. Borrows the event.
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
