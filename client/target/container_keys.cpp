// SPDX-License-Identifier: BSD-2-Clause
#include "client/target/container_keys.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "client/target/containers.h"

namespace tracectl {
namespace {

constexpr const char* kContainer = "container";
constexpr size_t kDigitsOfKey = 12;  // of an id: tracectl-keys(7)

std::vector<std::string*> container_keys(protocol::ReadReply& reply) {
  std::vector<std::string*> keys;
  for (protocol::RowPart& row : reply.rows) {
    if (!row.by) continue;
    for (auto& [name, key] : *row.by)
      if (auto* text = std::get_if<std::string>(&key); text && name == kContainer)
        keys.push_back(text);
  }
  return keys;
}

std::string shown_name(const Container& container) {
  if (container.names.empty()) return container.pod;
  return container.pod.empty() ? container.names.front()
                               : container.pod + '/' + container.names.front();
}

}  // namespace

void name_containers(protocol::ReadReply& reply) {
  const auto keys = container_keys(reply);
  if (keys.empty()) return;
  const auto known = known_containers();
  for (std::string* key : keys) {
    const auto is_it = [&](const Container& one) {
      return key->size() == kDigitsOfKey && one.id.starts_with(*key);
    };
    if (std::ranges::count_if(known, is_it) != 1) continue;
    if (auto name = shown_name(*std::ranges::find_if(known, is_it)); !name.empty())
      *key = std::move(name);
  }
}

}  // namespace tracectl
