// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "client/options/options.h"
#include "daemon/base/result.h"

namespace tracectl {

class Grammar;
struct TraceOptions;

// A verb of the command line: its options, and what it does.
class Verb {
 public:
  virtual ~Verb() = default;
  virtual void add_options(Grammar&) {}
  // Settings that depend on several options, after all were read.
  virtual Status complete(const CommonOptions&) { return ok(); }
  // Returns the exit status. Prints results to standard output and everything else to standard error.
  virtual int run(const CommonOptions& common) = 0;
  // Takes the words after `--`. Null: the verb starts no command.
  virtual std::vector<std::string>* command() { return nullptr; }
  // What it traces by itself, which a recipe changes. Null: nothing.
  virtual TraceOptions* traced() { return nullptr; }
};

}  // namespace tracectl
