// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/keys.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace tracectl {
namespace {

using namespace protocol;

// A type's name begins with '*' if such names are compared by address.
std::string demangled_type(const std::string& name) {
  const std::string mangled = name.starts_with('*') ? name.substr(1) : name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : mangled;
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
