// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "client/verbs/grammar.h"

namespace tracectl {

// A verb of one session, which its first word names.
class SessionVerb : public Verb {
 public:
  void add_options(Grammar& grammar) override {
    grammar.option("SESSION", session_, "its name").required();
  }

 protected:
  std::string session_;
};

}  // namespace tracectl
