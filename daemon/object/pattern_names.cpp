// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/pattern_names.h"

#include <optional>
#include <string_view>

#include "daemon/object/demangle.h"

namespace tracectl {
namespace {

// A function of C++ in no namespace, by its name without parameters. Static ones have an L.
bool names_global_function(const Pattern& pattern, const std::string& symbol) {
  const std::string length_and_name = std::to_string(pattern.function.size()) + pattern.function;
  return (symbol.starts_with("_Z" + length_and_name) ||
          symbol.starts_with("_ZL" + length_and_name)) &&
         pattern.function == demangle_name(symbol);
}

// Names may hold what means something in a glob, too: `char const*`, `operator[]`, `[abi:cxx11]`.
bool fits_demangled(const std::string& pattern, const std::string& name) {
  return pattern == name || glob_match(pattern, name);
}

bool names_place(const Pattern& pattern, const Pattern& probe) {
  return names_source(pattern.file, probe.file) &&
         (pattern.line == 0 || pattern.line == probe.line) &&
         (pattern.column == 0 || pattern.column == probe.column);
}

bool names_line(const Pattern& pattern, const Pattern& probe) {
  return names_place(pattern, probe) &&
         (pattern.function.empty() || names_function(pattern, probe.function));
}

bool names_copy(const Pattern& pattern, const Pattern& probe) {
  if (!names_function(pattern, probe.function)) return false;
  if (pattern.kind == ProbeKind::function) return pattern.offset == 0;
  return names_host(pattern, probe.host) && (pattern.file.empty() || names_place(pattern, probe));
}

bool fits_object(const std::string& object, const std::string& path) {
  if (object.empty() || object == path) return true;
  return names_file_name(object, std::string_view(path).substr(path.rfind('/') + 1));
}

}  // namespace

bool names_function(const Pattern& pattern, const std::string& symbol) {
  if (pattern.function == symbol) return true;
  if (!wants_demangled(pattern))
    return glob_match(pattern.function, symbol) || names_global_function(pattern, symbol);
  if (fits_demangled(pattern.function, demangle(symbol).value_or(symbol))) return true;
  const auto name = demangle_name(symbol);
  return name && fits_demangled(pattern.function, *name);
}

bool names_host(const Pattern& pattern, const std::string& symbol) {
  Pattern host;
  host.function = pattern.host;
  return names_function(host, symbol);
}

bool names_copies(const Pattern& pattern) {
  return pattern.kind == ProbeKind::inlined ||
         (pattern.kind == ProbeKind::function && pattern.scope == Scope::inlined);
}

bool names_probe(const Pattern& pattern, const std::string& probe_name) {
  const auto probe = parse_pattern(probe_name);
  if (!probe || probe->bare || !fits_object(pattern.object, probe->object)) return false;
  if (probe->kind == ProbeKind::inlined)
    return names_copies(pattern) && names_copy(pattern, *probe);
  if (probe->kind != pattern.kind) return false;
  if (pattern.kind == ProbeKind::usdt)
    return glob_match(pattern.provider, probe->provider) &&
           usdt_name_match(pattern.name, probe->name);
  if (pattern.kind == ProbeKind::line) return names_line(pattern, *probe);
  if (probe->offset != pattern.offset) return false;
  return names_function(pattern, probe->function);
}

}  // namespace tracectl
