// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "client/verbs/grammar.h"

namespace tracectl {

// A verb with the name of a session, and no options.
class SessionVerb final : public Verb {
 public:
  using Run = int (*)(const CommonOptions&, const std::string& session);
  explicit SessionVerb(Run how) : run_(how) {}
  void add_options(Grammar& grammar) override {
    grammar.option("NAME", session_, "of the session").required();
  }
  int run(const CommonOptions& common) override { return run_(common, session_); }

 private:
  Run run_;
  std::string session_;
};

}  // namespace tracectl
