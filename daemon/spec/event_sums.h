// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/model/event.h"
#include "daemon/model/rows.h"
#include "daemon/model/spec.h"
#include "daemon/spec/assemble.h"
#include "daemon/spec/by_source.h"

namespace tracectl {

// The aggregates of recorded events, in the same rows as the kernel would keep. Used by one thread
// at a time.
class EventSums {
 public:
  // `actions` and `when` are in the language of --do and --when; the actions must be aggregates.
  // The condition may be empty.
  static Result<EventSums> parse(std::string_view actions, std::string_view when = {});

  void add(const Event& event);
  const Rows& rows() const { return rows_; }
  uint64_t hits() const { return hits_; }
  uint64_t filtered() const { return filtered_; }  // of the hits, by the condition
  // Values dropped because there were no more rows.
  uint64_t left_out() const { return left_out_; }
  // Why the first probe that lacks what the actions need does not fit. Events of it and of others
  // like it are ignored.
  const std::optional<Error>& misfit() const { return sources_.misfit(); }
  // An error if all probes whose events have arrived lack what the actions need.
  Status check() const { return sources_.check(); }

 private:
  static constexpr size_t kMostRows = 1 << 20;
  static constexpr size_t kMostKeyBytes = 256 << 20;  // of all rows

  struct Sum {
    Aggregate aggregate;
    AggregateMeaning meaning;
    bool is_of_ends;  // its values are known when a call has ended
  };
  // The spec prepared for the events of one probe.
  struct Prepared {
    std::optional<Expr> when;
    std::vector<Sum> sums = {};
  };

  explicit EventSums(Spec spec) : spec_(std::move(spec)) {}
  Result<Prepared> prepare(const EventSource& source) const;
  void add(const Sum& sum, const Event& event);

  Spec spec_;
  BySource<Prepared> sources_;
  Rows rows_;
  uint64_t hits_ = 0, filtered_ = 0;
  uint64_t left_out_ = 0;
  size_t key_bytes_ = 0;
};

}  // namespace tracectl
