// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/explain.h"

#include "daemon/spec/compile.h"
#include "daemon/spec/names.h"
#include "daemon/switching/hooks.h"

namespace tracectl {
namespace {

std::vector<const Expr*> values_of(const Spec& spec) {
  std::vector<const Expr*> values;
  for (const Expr& value : spec.values) values.push_back(&value);
  for (const Aggregate& aggregate : spec.aggregates) {
    if (aggregate.value) values.push_back(&*aggregate.value);
    for (const Expr& key : aggregate.by) values.push_back(&key);
  }
  return values;
}

Result<uint64_t> instructions_of(const Spec& spec, const Site& site) {
  const auto operands = operands_of(site);
  const Arguments& arguments = *operands;
  const bool typed = site.returns && site.returns->result;
  auto numbered = with_numbers(spec, arguments, typed ? &*site.returns->result : nullptr);
  if (!numbered) return numbered.error();
  uint64_t instructions = 0;
  for (const auto& condition : {numbered->when, numbered->keep_if}) {
    if (!condition) continue;
    auto code = compile_condition(*condition, arguments);
    if (!code) return code.error();
    instructions += cost_bound(*code);
  }
  for (const Expr* value : values_of(*numbered)) {
    auto code = compile_value(*value, arguments);
    if (!code) return code.error();
    instructions += cost_bound(*code);
  }
  return instructions;
}

}  // namespace

Result<protocol::SpecPart> explain(const Setting& setting, const Site& site) {
  const Spec& spec = setting.spec;
  auto instructions = instructions_of(spec, site);
  if (!instructions) return instructions.error();
  auto may_wait = Hooks::may_wait(setting, site);
  if (!may_wait) return may_wait.error();
  protocol::SpecPart part{
      .action = to_string(spec), .instructions = *instructions, .may_wait = *may_wait};
  if (spec.when) part.when = to_string(*spec.when);
  if (spec.keep_if) part.keep_if = to_string(*spec.keep_if);
  if (site.returns) {
    part.returns = name_of(site.returns->way);
    part.returns_because = text_of(site.returns->reason);
  }
  return part;
}

}  // namespace tracectl
