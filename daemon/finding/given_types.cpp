// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/finding/given_types.h"

#include <map>
#include <string>

#include "daemon/object/declared.h"

namespace tracectl {
namespace {

using Declared = std::map<std::string, DeclaredProbe>;  // by ":PROVIDER:NAME"

Declared declared_by(const GivenTypes& types) {
  Declared declared;
  for (const ProbeTypes& probe : types.all()) {
    DeclaredProbe& as = declared[":" + probe.provider + ":" + probe.name];
    as.arguments.clear();
    for (const ArgumentType& one : probe.arguments)
      as.arguments.push_back({.type = one.type, .name = one.name});
  }
  return declared;
}

// ":PROVIDER:NAME" of usdt:PATH:PROVIDER:NAME; of a function something else.
std::string ends_with(const std::string& probe) {
  const size_t name = probe.rfind(':');
  if (name == std::string::npos || name == 0) return "";
  const size_t provider = probe.rfind(':', name - 1);
  return provider == std::string::npos ? "" : probe.substr(provider);
}

std::string differs(const Probe& probe, size_t arguments, const DeclaredProbe& as) {
  return probe.name + " has " + std::to_string(arguments) +
         " arguments, and the given types are of " + std::to_string(as.arguments.size()) +
         ": they are not used";
}

// Sites with the same arguments have the same ones afterwards.
void give(Probe& probe, const DeclaredProbe& as, std::vector<std::string>& notes) {
  std::map<const Arguments*, std::shared_ptr<const Arguments>> given;
  bool is_noted = false;
  for (Site& site : probe.sites) {
    auto& now = given[site.args.get()];
    if (!now) {
      auto arguments = std::make_shared<Arguments>(*site.args);
      declare(*arguments, as);
      now = std::move(arguments);
    }
    if (now->size() != as.arguments.size() && !is_noted) {
      notes.push_back(differs(probe, now->size(), as));
      is_noted = true;
    }
    site.args = now;
  }
}

}  // namespace

void give_types(const GivenTypes& types, Resolution& resolution) {
  if (types.empty()) return;
  const Declared declared = declared_by(types);
  for (Resolved& part : resolution.parts) {
    auto probes = std::make_shared<std::vector<Probe>>(*part.probes);
    for (Probe& probe : *probes)
      if (const auto as = declared.find(ends_with(probe.name));
          probe.name.starts_with("usdt:") && as != declared.end())
        give(probe, as->second, resolution.notes);
    part.probes = std::move(probes);
  }
}

}  // namespace tracectl
