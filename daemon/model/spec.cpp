// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/model/spec.h"

namespace tracectl {
namespace {

const char* name_of(Key key) { return key == Key::pid ? "pid" : "tid"; }

std::string count_text(const std::vector<Key>& by) {
  std::string text = "count";
  for (size_t i = 0; i < by.size(); i++) text += std::string{i ? ", " : " by "} + name_of(by[i]);
  return text;
}

}  // namespace

std::string to_string(const Spec& spec) {
  std::string text = spec.event ? "event" : "";
  if (spec.count) text += (text.empty() ? "" : ", ") + count_text(spec.by);
  return text;
}

}  // namespace tracectl
