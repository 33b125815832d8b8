// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/connection/wait.h"
#include "client/render/keys.h"
#include "client/render/row_order.h"
#include "client/verbs/live_trace.h"
#include "client/verbs/tracing_verb.h"
#include "daemon/protocol/messages.h"

namespace tracectl {

// A verb that counts in the kernel, and shows rows at the end; with --interval also before.
class CountingVerb : public TracingVerb {
 public:
  Status complete(const CommonOptions& common) override;
  int run(const CommonOptions& common) override;

 protected:
  void add_interval(Grammar& grammar);
  bool has_interval() const { return !interval_.empty(); }

  RowOrder order_ = RowOrder::total;

 private:
  Result<Ended> run_with_tables(const CommonOptions& common, LiveTrace& trace) const;
  Result<protocol::ReadReply> rows_of(LiveTrace& trace) const;
  Result<bool> print_table(const CommonOptions& common, LiveTrace& trace, double after_s) const;
  std::string text_of(const CommonOptions& common, const protocol::ReadReply& reply,
                      const std::vector<KeyView>& keys) const;

  std::string interval_;
  std::optional<double> interval_s_;
};

}  // namespace tracectl
