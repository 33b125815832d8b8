// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/model/setting.h"

#include <algorithm>

namespace tracectl {

const char* name_of(Returns returns) {
  switch (returns) {
    case Returns::automatic: return "auto";
    case Returns::trampoline: return "trampoline";
    case Returns::exits: return "exits";
  }
  return "";
}

std::optional<Returns> returns_named(std::string_view name) {
  for (const Returns one : {Returns::automatic, Returns::trampoline, Returns::exits})
    if (name == name_of(one)) return one;
  return std::nullopt;
}

bool follows_calls(const Setting& setting) {
  return !setting.latency && follows_calls(setting.spec);
}

bool uses_tags(const Setting& setting) {
  if (uses_tags(setting.spec)) return true;
  return setting.latency && std::any_of(setting.latency->by.begin(), setting.latency->by.end(),
                                        [](const Expr& key) { return uses_tags(key); });
}

std::string keys_text(const std::vector<Expr>& keys) {
  std::string text;
  for (const Expr& key : keys) text += (text.empty() ? "" : ", ") + to_string(key);
  return text;
}

}  // namespace tracectl
