// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/trace/slots.h"

#include <algorithm>

namespace tracectl {
namespace {

// Everything of an argument that the kernel reads of its table: of what cannot be read nothing. Names
// and types are no part of it, but for the size, from which expressions extend.
std::string key_of(const Argument& a) {
  std::string key = std::to_string(int(a.place));
  const auto add = [&](int64_t part) { key += ' ' + std::to_string(part); };
  if (a.place != Argument::Place::unreadable) add(a.size_bytes);
  if (a.place == Argument::Place::constant) add(a.offset);
  if (a.place == Argument::Place::in_register)
    for (const int part : {int(a.base), int(a.high_byte)}) add(part);
  if (a.place == Argument::Place::memory)
    for (const int64_t part :
         {int64_t(a.link_relative), int64_t(a.base), int64_t(a.index), int64_t(a.scale), a.offset})
      add(part);
  return key;
}

std::string key_of(const Arguments& arguments) {
  std::string key;
  for (const Argument& argument : arguments) key += key_of(argument) + ',';
  return key;
}

}  // namespace

Result<uint32_t> Layouts::index_of(const std::shared_ptr<const Arguments>& arguments,
                                   uint32_t most) {
  if (last_ && arguments == last_) return last_index_;
  auto index = find_or_add(*arguments, most);
  if (!index) return index;
  last_ = arguments;
  last_index_ = *index;
  return index;
}

Result<uint32_t> Layouts::find_or_add(const Arguments& arguments, uint32_t most) {
  if (arguments.empty()) return uint32_t{0};
  const auto [entry, fresh] = by_text_.try_emplace(key_of(arguments), 0);
  if (!fresh) return entry->second;
  if (by_text_.size() >= most) {
    by_text_.erase(entry);
    return Error{Code::exhausted,
                 "the table of argument forms is full (" + std::to_string(most) + ")"};
  }
  entry->second = static_cast<uint32_t>(by_text_.size());
  kernel_.write_layout(entry->second, arguments);
  return entry->second;
}

size_t Slots::lingering() const {
  return static_cast<size_t>(std::count_if(by_id.begin(), by_id.end(), [](const auto& entry) {
    return entry.second.lingers_until_ns != 0;
  }));
}

uint64_t Slots::next_linger_end_ns() const {
  uint64_t first = 0;
  for (const auto& [id, slot] : by_id)
    if (slot.lingers_until_ns && (!first || slot.lingers_until_ns < first))
      first = slot.lingers_until_ns;
  return first;
}

}  // namespace tracectl
