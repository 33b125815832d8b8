// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/types_text.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "client/render/probe_names.h"
#include "client/render/text.h"

namespace tracectl {
namespace {

using protocol::ArgumentPart;
using protocol::FieldPart;
using protocol::ProbePart;

std::string line_of(const ArgumentPart& argument) {
  const std::string declared = argument.declared_type.value_or(argument.type);
  const std::string width = declared == argument.type ? "" : ", " + argument.type;
  const std::string why = argument.readable ? "" : ": " + argument.place;
  return "  " + argument.name + "  " + declared + width + why + "\n";
}

std::string type_of(const FieldPart& field) {
  if (!field.declared_type || *field.declared_type == field.type) return field.type;
  return *field.declared_type + ", " + field.type;
}

// The types begin in one column.
std::string lines_of(const std::vector<FieldPart>& fields) {
  size_t width = 0;
  for (const FieldPart& field : fields) width = std::max(width, field.path.size());
  std::string text;
  for (const FieldPart& field : fields) {
    const std::string gap(width - field.path.size() + 2, ' ');
    text += "    " + field.path + gap + type_of(field);
    if (field.why_not) text += ": " + *field.why_not;
    text += "\n";
  }
  return text;
}

std::string text_of(const ProbePart& probe, std::string_view name) {
  std::string text = std::string(name) + "\n";
  if (probe.args.empty()) text += "  no arguments\n";
  const auto add = [&](const ArgumentPart& argument) {
    text += line_of(argument);
    if (argument.members) text += lines_of(*argument.members);
  };
  for (const ArgumentPart& argument : probe.args) add(argument);
  if (probe.result) add(*probe.result);
  return text;
}

}  // namespace

std::string types_text(const protocol::ProbeListReply& reply, size_t probes) {
  std::vector<std::string_view> canonical;
  for (const ProbePart& probe : reply.probes) canonical.emplace_back(probe.probe);
  const TableNames names(canonical);
  const size_t shown = std::min(probes, reply.probes.size());
  std::string text;
  for (const ProbePart& probe : std::span(reply.probes).first(shown))
    text += text_of(probe, names.of(probe.probe));
  const size_t unshown = reply.probes.size() - shown;
  return text + (unshown ? more_rows_text(unshown, shown) : "");
}

}  // namespace tracectl
