// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "daemon/base/result.h"
#include "daemon/model/event.h"

namespace tracectl {

// A condition or action, fitted to each probe whose events arrive. Probes that lack what it needs
// are left out; it is an error only if all do.
template <class Fitted> class BySource {
 public:
  // Returns nullptr if the probe lacks what is needed. `fit` makes a Result<Fitted> from the
  // source.
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

  // Why the first probe that was left out does not fit.
  const std::optional<Error>& misfit() const { return misfit_; }
  Status check() const { return misfit_ && !fits_some_ ? Status(*misfit_) : ok(); }

 private:
  struct OfSource {
    std::shared_ptr<const EventSource> kept;  // so that its address is not used again
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
