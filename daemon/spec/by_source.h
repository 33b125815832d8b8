// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "daemon/base/result.h"
#include "daemon/model/event.h"

namespace tracectl {

// What a condition or action comes to at each probe whose events come. Probes that have not what it
// needs are left out; it is an error only where none has.
template <class Fitted> class BySource {
 public:
  // nullptr: the probe has not what is needed. `fit` makes a Result<Fitted> of the source.
  template <class Fit>
  const Fitted* of(const std::shared_ptr<const EventSource>& source, Fit&& fit) {
    const auto [found, is_new] = sources_.try_emplace(source.get());
    OfSource& known = found->second;
    if (is_new) {
      known.kept = source;
      add(known, fit(*source));
    }
    return known.fitted ? &*known.fitted : nullptr;
  }

  // Of the first probe that is left out, why.
  const std::optional<Error>& misfit() const { return misfit_; }
  Status check() const { return misfit_ && !fits_some_ ? Status(*misfit_) : ok(); }

 private:
  struct OfSource {
    std::shared_ptr<const EventSource> kept;  // else another could come to lie at its address
    std::optional<Fitted> fitted;
  };

  void add(OfSource& to, Result<Fitted> fitted) {
    if (fitted) {
      to.fitted = std::move(*fitted);
      fits_some_ = true;
    } else if (!misfit_) {
      misfit_ = fitted.error().in(to.kept->probe);
    }
  }

  std::unordered_map<const EventSource*, OfSource> sources_;
  std::optional<Error> misfit_;
  bool fits_some_ = false;
};

}  // namespace tracectl
