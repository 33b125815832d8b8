// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/call_names.h"

#include "client/options/display.h"
#include "daemon/model/pattern.h"
#include "daemon/object/demangle.h"

namespace tracectl {
namespace {

// As net.c:120
std::string line_name(const Pattern& pattern) {
  return pattern.file.substr(pattern.file.rfind('/') + 1) + ":" + std::to_string(pattern.line) +
         (pattern.column ? ":" + std::to_string(pattern.column) : "");
}

std::string function_name(const std::string& symbol) {
  return display().linkage_names ? symbol : demangle_name(symbol).value_or(symbol);
}

std::string name_of(const Pattern& pattern) {
  if (pattern.kind == ProbeKind::usdt) return pattern.provider + ":" + pattern.name;
  const std::string offset = pattern.offset ? "+" + std::to_string(pattern.offset) : "";
  const std::string function = function_name(pattern.function) + offset;
  if (pattern.kind == ProbeKind::line) return line_name(pattern) + " in " + function;
  if (pattern.kind != ProbeKind::inlined) return function;
  const std::string call = pattern.file.empty() ? "" : "@" + line_name(pattern);
  return function + " in " + function_name(pattern.host) + call;
}

std::string name_of(const std::string& probe) {
  const auto pattern = parse_pattern(probe);
  return printable(pattern && !pattern->bare ? name_of(*pattern) : probe);
}

// U+0080 to U+009F in UTF-8, which some terminals obey like control characters below the blank.
bool is_second_control(std::string_view text, size_t i) {
  const auto byte = static_cast<unsigned char>(text[i]);
  return i > 0 && text[i - 1] == '\xc2' && byte >= 0x80 && byte < 0xa0;
}

bool is_control(std::string_view text, size_t i) {
  const auto byte = static_cast<unsigned char>(text[i]);
  return byte < ' ' || byte == 0x7f || is_second_control(text, i);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown{text};
  for (size_t i = 0; i < text.size(); ++i)
    if (is_control(text, i)) shown[i] = '?';
  return shown;
}

const std::string& CallNames::of(const std::string& probe) {
  auto known = names_.find(probe);
  if (known == names_.end()) known = names_.emplace(probe, name_of(probe)).first;
  return known->second;
}

}  // namespace tracectl
