// SPDX-License-Identifier: BSD-2-Clause
#include "client/connection/ask.h"
#include "client/render/probe_names.h"
#include "client/render/row_order.h"
#include "client/render/rows.h"
#include "client/render/text.h"
#include "client/target/container_keys.h"
#include "client/target/debug_files.h"
#include "client/verbs/all.h"
#include "client/verbs/session_verb.h"

namespace tracectl {
namespace {

using namespace protocol;

class ReadSession final : public SessionVerb {
 public:
  void add_options(Grammar& grammar) override {
    SessionVerb::add_options(grammar);
    grammar.flag("--clear", clear_, "read and zero, in one cut");
  }
  int run(const CommonOptions& common) override {
    return with_backend(common, Backend::Needs::daemon, [&](Backend& backend) -> int {
      auto rows = backend.call(SessionRead{.session = session_, .clear = clear_});
      if (!rows) return fail(rows.error());
      add_demangled(rows->rows);
      if (!common.json) sort_rows(rows->rows, RowOrder::total);
      DebugFiles(common).complete(*rows);
      if (!common.json) name_containers(*rows);
      show<ReadReply>(common, *rows, [&](const ReadReply& reply) {
        const bool timings = common.verbose && reply.phases_us && reply.skew_ns;
        return rows_text(reply) + (timings ? figures_text(*reply.phases_us, *reply.skew_ns) : "");
      });
      return kDone;
    });
  }

 private:
  bool clear_ = false;
};

}  // namespace

void add_read(Grammar grammar) { grammar.verb<ReadSession>("read", "counts so far"); }

}  // namespace tracectl
