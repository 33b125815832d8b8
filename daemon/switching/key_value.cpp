// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/switching/key_value.h"

#include <algorithm>

#include "daemon/base/hex.h"
#include "daemon/stream/decoder.h"

namespace tracectl {
namespace {

std::string shown(const std::string& text, const AggregateMeaning::Key& key) {
  if (key.type == ValueType::bytes) return hex_of(std::string_view{text}.substr(0, key.byte_count));
  return text.substr(0, text.find('\0'));
}

}  // namespace

KeyValue value_of(uint64_t part, const AggregateMeaning::Key& key, const Texts& texts) {
  const ValueType type = key.type;
  if (is_cgroup_name(type)) return part;  // until its name is looked up
  if (is_path(type)) return static_cast<int64_t>(part);
  constexpr uint64_t kSign = uint64_t{1} << 63;
  if (!is_integer(type)) {
    const auto text = texts.find(part);
    return text == texts.end() ? KeyValue{} : KeyValue{shown(text->second, key)};
  }
  // Equal keys are one key, even if their types differ between sites.
  if (type == ValueType::u64 && part & kSign) return part;
  return static_cast<int64_t>(part);
}

StackAddresses addresses_of(const tc_key_stack& stack, bool begins_with_caller) {
  const size_t count = std::min<size_t>(stack.frames.count, TC_MOST_FRAMES);
  return {.pid = static_cast<pid_t>(head_of(stack).pid),
          .image = stack.frames.image,
          .begins_with_caller = begins_with_caller,
          .end = end_of_walk(stack.frames.end),
          .addresses = {stack.address, stack.address + count}};
}

}  // namespace tracectl
