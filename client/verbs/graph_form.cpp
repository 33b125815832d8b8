// SPDX-License-Identifier: BSD-2-Clause
#include "client/verbs/graph_form.h"

#include <string>

#include "client/output/output.h"
#include "client/render/call_sums.h"
#include "client/render/call_tree_text.h"
#include "client/render/text.h"
#include "daemon/protocol/call_sums.h"

namespace tracectl {
namespace {

std::string text_of(const CallTree& calls, GraphForm form, size_t rows) {
  switch (form) {
    case GraphForm::tree: return tree_text(calls, rows);
    case GraphForm::folded: return folded_text(calls);
    default: return function_table(calls, rows);
  }
}

}  // namespace

std::array<Option, 2> add_forms(Grammar& grammar, GraphForm& form) {
  Option tree = grammar.flag(
      "--tree", [&form] { form = GraphForm::tree; }, "the tree of calls, with what they took");
  const Option folded = grammar.flag(
      "--folded", [&form] { form = GraphForm::folded; },
      "each chain of calls and the own time of its last function, for flame graphs");
  tree.excludes(folded);
  return {tree, folded};
}

Status check_form(const CommonOptions& common, GraphForm form) {
  if (!common.json || form != GraphForm::folded) return ok();
  return Error{Code::invalid,
               "--folded is for programs that read its text: with --json take --tree"};
}

void print_sums(const CommonOptions& common, const CallTree& calls, GraphForm form, size_t rows,
                uint64_t lost, bool is_end_known) {
  report_forgotten(calls);
  if (!common.json) return print_paged(text_of(calls, form, rows), common.pager);
  protocol::CallSumsPart sums = sums_of(calls, form == GraphForm::tree);
  sums.lost = lost;
  if (!is_end_known) sums.unknown_end = true;
  print(protocol::text_of(protocol::to_json(sums)) + "\n");
}

void report_forgotten(const CallTree& calls) {
  if (const uint64_t threads = calls.forgotten_threads())
    print_error("tracectl: note: more than " + std::to_string(OpenCalls::kMostCalls) +
                " calls were open, or calls of more than " +
                std::to_string(OpenCalls::kMostThreads) + " threads: the calls of the " +
                plural(threads, "thread") + " idle for longest are shown without an end\n");
}

}  // namespace tracectl
