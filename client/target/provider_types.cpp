// SPDX-License-Identifier: BSD-2-Clause
#include "client/target/provider_types.h"

#include <algorithm>

#include "daemon/model/pattern.h"
#include "usdt/generator/files.h"
#include "usdt/generator/provider_file.h"

namespace tracectl {
namespace {

bool may_name(const std::string& text, const generator::ProbeDeclaration& probe) {
  const auto pattern = parse_pattern(text, Scope::local);
  return pattern && pattern->kind == ProbeKind::usdt &&
         glob_match(pattern->provider, probe.provider) &&
         usdt_name_match(pattern->name, probe.name);
}

ProbeTypes types_of(const generator::ProbeDeclaration& probe) {
  ProbeTypes types{.provider = probe.provider, .name = probe.name, .arguments = {}};
  for (const generator::ProbeArgument& one : probe.arguments)
    types.arguments.push_back({.type = one.type, .name = one.name});
  return types;
}

}  // namespace

Status add_provider_types(const std::string& path, protocol::StageSet& request) {
  if (path.empty()) return ok();
  const auto text = generator::read_file(path);
  if (!text) return text.error();
  const auto file = generator::parse_provider_file(*text, path);
  if (!file) return file.error();
  std::vector<std::string> patterns = request.patterns;
  if (request.from) patterns.push_back(*request.from);
  std::vector<ProbeTypes> types;
  for (const generator::ProbeDeclaration& probe : file->probes)
    if (std::ranges::any_of(patterns, [&](const auto& one) { return may_name(one, probe); }))
      types.push_back(types_of(probe));
  if (!types.empty()) request.types = std::move(types);
  return ok();
}

}  // namespace tracectl
