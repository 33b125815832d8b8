// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/keys.h"

#include <string_view>

#include "daemon/object/demangle.h"

namespace tracectl {
namespace {

using namespace protocol;

// A type's name begins with '*' if such names are compared by address.
std::string demangled_type(const std::string& name) {
  const std::string mangled = name.starts_with('*') ? name.substr(1) : name;
  // The demangler knows no types alone, but the symbols of what holds their names.
  constexpr std::string_view kBefore = "typeinfo name for ";
  const auto text = demangle("_ZTS" + mangled);
  return text && text->starts_with(kBefore) ? text->substr(kBefore.size()) : mangled;
}

void rename(Named<Key>& by, const KeyView& view) {
  auto node = by.extract(view.key);
  if (!node) return;
  node.key() = view.title;
  by.insert(std::move(node));
}

}  // namespace

void name_types(ReadReply& reply, const std::vector<KeyView>& keys) {
  for (const KeyView& view : keys) {
    if (!view.is_type_name) continue;
    for (RowPart& row : reply.rows) {
      if (!row.by) continue;
      const auto key = row.by->find(view.key);
      if (key == row.by->end()) continue;
      if (auto* name = std::get_if<std::string>(&key->second)) *name = demangled_type(*name);
    }
  }
}

ReadReply titled(ReadReply reply, const std::vector<KeyView>& keys) {
  for (const KeyView& view : keys) {
    for (RowPart& row : reply.rows)
      if (row.by) rename(*row.by, view);
    if (!reply.latencies) continue;
    for (LatencyPart& latency : *reply.latencies)
      for (SlowPart& slow : latency.slowest) rename(slow.by, view);
  }
  return reply;
}

}  // namespace tracectl
