// SPDX-License-Identifier: BSD-2-Clause
#include <string>

#include "client/connection/ask.h"
#include "client/options/whole_object.h"
#include "client/render/probe_names.h"
#include "client/render/text.h"
#include "client/verbs/all.h"

namespace tracectl {
namespace {

using namespace protocol;

class ShowInfo final : public Verb {
 public:
  void add_options(Grammar& grammar) override {
    grammar.option("PATTERN", pattern_, "compared with the names of armed probes")
        .required()
        .rewritten(with_whole_object);
    const Option global =
        grammar.flag("--global", global_, "only functions in the dynamic symbol table");
    grammar.flag("--inlined", inlined_, "functions, and where they were inlined into others")
        .excludes(global);
    grammar.flag("--generations", generations_,
                 "what each of the two copies of the sites' settings has");
  }
  int run(const CommonOptions& common) override {
    return with_backend(common, Backend::Needs::daemon, [&](Backend& backend) -> int {
      const char* scope = inlined_ ? "inlined" : global_ ? "global" : "local";
      auto info =
          backend.call(ProbeInfo{.pattern = pattern_, .scope = scope, .generations = generations_});
      if (!info) return fail(info.error());
      add_demangled(info->settings);
      show<ProbeInfoReply>(common, *info, info_text);
      return kDone;
    });
  }

 private:
  std::string pattern_;
  bool global_ = false;
  bool inlined_ = false;
  bool generations_ = false;
};

}  // namespace

void add_info(Grammar grammar) {
  grammar.verb<ShowInfo>("info", "what is set on probes, by which sessions");
}

}  // namespace tracectl
