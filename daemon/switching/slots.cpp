// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/switching/slots.h"

#include <algorithm>

namespace tracectl {
namespace {

// All that the kernel reads about an argument from its table; nothing if it is unreadable. Names and types
// are not part of it, except the size, from which expressions extend the value.
std::string key_of(const Argument& a) {
  std::string key = std::to_string(int(a.place));
  const auto add = [&](int64_t part) { key += ' ' + std::to_string(part); };
  if (a.place != Argument::Place::unreadable) add(a.size_bytes);
  if (a.place == Argument::Place::constant) add(a.offset);
  if (a.place == Argument::Place::in_register)
    for (const int part : {int(a.base), int(a.high_byte)}) add(part);
  if (a.place == Argument::Place::symbol)
    for (const int64_t part : {int64_t(a.base), a.offset}) add(part);
  if (a.place == Argument::Place::memory)
    for (const int64_t part :
         {int64_t(a.link_relative), int64_t(a.base), int64_t(a.index), int64_t(a.scale), a.offset})
      add(part);
  return key;
}

}  // namespace

std::string Layouts::text_of(const Arguments& arguments) {
  std::string text;
  for (const Argument& argument : arguments) text += key_of(argument) + ',';
  return text;
}

Result<LayoutPtr> Layouts::of(const std::shared_ptr<const Arguments>& arguments, uint32_t most) {
  if (last_ && arguments == last_)
    if (LayoutPtr layout = last_layout_.lock()) return layout;
  auto layout = find_or_add(*arguments, most);
  if (!layout) return layout;
  last_ = arguments;
  last_layout_ = *layout;
  return layout;
}

Result<LayoutPtr> Layouts::find_or_add(const Arguments& arguments, uint32_t most) {
  if (arguments.empty()) return LayoutPtr{};
  std::string text = text_of(arguments);
  const auto known = by_text_.find(text);
  if (known != by_text_.end())
    if (LayoutPtr layout = known->second.lock()) return layout;
  if (places_->used() + 1 >= most)
    return Error{Code::exhausted,
                 "the table of forms of arguments is full (" + std::to_string(most) + ")"};
  if (by_text_.size() >= kMost)
    std::erase_if(by_text_, [](const auto& entry) { return entry.second.expired(); });
  auto layout = std::make_shared<const Layout>(places_);
  by_text_.insert_or_assign(std::move(text), layout);
  switching_.write_layout(layout->place(), arguments);
  return LayoutPtr{std::move(layout)};
}

std::map<std::string, uint32_t> Layouts::all() const {
  std::map<std::string, uint32_t> held;
  for (const auto& [text, known] : by_text_)
    if (const LayoutPtr layout = known.lock()) held.emplace(text, layout->place());
  return held;
}

void Layouts::restore(const std::map<std::string, uint32_t>& layouts) {
  std::vector<uint32_t> places;
  for (const auto& [text, place] : layouts) places.push_back(place);
  places_->restore(places);
  for (const auto& [text, place] : layouts) {
    saved_.push_back(std::make_shared<const Layout>(places_, place));
    by_text_.emplace(text, saved_.back());
  }
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
