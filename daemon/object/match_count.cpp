// SPDX-License-Identifier: BSD-2-Clause
#include <string>

#include "daemon/object/probes.h"

namespace tracectl {

namespace {

size_t bytes_of_field(const ReachedField& field) {
  return sizeof(field) + field.offsets.size() * sizeof(uint64_t) + field.path.size() +
         field.why_not.size() + field.type.declared_type.size();
}

}  // namespace

void MatchCount::add_fields(const Argument& argument) {
  const auto& fields = argument.asked_fields;
  if (!fields || !fields_.insert(fields.get()).second) return;
  for (const ReachedField& field : *fields) bytes_ += bytes_of_field(field);
}

void MatchCount::add(const Probe& probe) {
  matches_ += probe.sites.size();
  bytes_ += probe.name.size() + (probe.demangled ? probe.demangled->size() : 0);
  for (const Site& site : probe.sites) {
    if (site.args)
      for (const Argument& argument : *site.args) add_fields(argument);
    if (site.symbols)
      for (const Argument& symbol : *site.symbols) add_fields(symbol);
    if (site.returns && site.returns->result) add_fields(*site.returns->result);
  }
}

void MatchCount::add(const Refusal& refusal) {
  ++matches_;
  bytes_ += refusal.probe.size() + refusal.reason.size();
}

void MatchCount::add(const ProbeMatch& match) {
  for (const Probe& probe : match.probes) add(probe);
  for (const Refusal& refusal : match.refused) add(refusal);
}

Status MatchCount::check(const MatchBounds& most) const {
  if (matches_ > most.matches)
    return Error{Code::exhausted,
                 "more than " + std::to_string(most.matches) +
                     " sites match, which is what one request may have: ask for fewer, by "
                     "narrower patterns (quota.matches in tracectld.json bounds users)",
                 "patterns"};
  if (bytes_ > most.bytes)
    return Error{Code::exhausted,
                 "the names and fields of what matches have more than the " +
                     std::to_string(most.bytes >> 20) +
                     " MiB that one request may have: ask for fewer, by narrower patterns",
                 "patterns"};
  return ok();
}

}  // namespace tracectl
