// SPDX-License-Identifier: BSD-2-Clause
#include "client/ui/function_screen.h"

#include <algorithm>
#include <utility>

#include "client/ui/typed_pattern.h"

namespace tracectl::ui {

FunctionScreen::Wish FunctionScreen::take(Key key) {
  using Kind = Key::Kind;
  said_.clear();
  if (!is_known() && needs_list(key)) return waiting_.push_back(key), Wish::none;
  if (key.kind == Kind::enter) return go_on();
  if (place_.take(key, shown_.size())) return Wish::none;
  if (key.is(U' ')) return toggle(), Wish::none;
  if (key.is(control('A'))) return toggle_all(), Wish::none;
  if (key.kind == Kind::tab) return is_typing_ = !is_typing_, Wish::none;
  if (is_typing_) {
    if (key.kind == Kind::escape) is_typing_ = false;
    if (pattern_.take(key)) {
      place_.select(0);
      waiting_.clear();
    }
    return Wish::none;
  }
  return take_command(key);
}

bool FunctionScreen::needs_list(Key key) const {
  return key.kind == Key::Kind::enter || key.is(U' ') || key.is(control('A')) ||
         (key.is(U'a') && !is_typing_);
}

FunctionScreen::Wish FunctionScreen::take_command(Key key) {
  if (key.kind == Key::Kind::escape) return waiting_.clear(), Wish::back;
  if (key.is(U'a')) toggle_all();
  if (key.is(U'n')) marks_.clear();
  if (key.is(U'/')) is_typing_ = true;
  return Wish::none;
}

FunctionScreen::Wish FunctionScreen::go_on() {
  if (marks_.size() == 0) {
    if (shown_.empty())
      return said_ = "nothing is marked: choose a function, and press Space", Wish::none;
    marks_.add(shown_[place_.selected()].probe);
  }
  is_typing_ = false;
  return Wish::go_on;
}

void FunctionScreen::toggle() {
  if (shown_.empty()) return;
  const std::string& probe = shown_[place_.selected()].probe;
  if (!marks_.has(probe)) {
    marks_.add(probe);
  } else if (const std::string pattern = marks_.remove(probe); !pattern.empty()) {
    said_ = "it is marked with all of " + pattern +
            ": a unmarks these, and a narrower pattern "
            "marks fewer";
    return;
  }
  place_.take(Key::Kind::down, shown_.size());
}

// Marks the matches, or unmarks them if all of their patterns are marked.
void FunctionScreen::toggle_all() {
  if (shown_.empty()) return;
  const auto is_marked = [&](const FoundProbes& found) {
    return marks_.has_pattern(found.pattern);
  };
  const bool removes = std::ranges::all_of(listed_->found, is_marked);
  for (const FoundProbes& found : listed_->found)
    if (removes)
      marks_.remove_all(found.pattern);
    else
      marks_.add_all(found);
}

std::optional<ListFunctions> FunctionScreen::due(int64_t pid, double now_s) {
  if (is_known() || is_asking_ || now_s < asked_at_s_ + kLeastBetweenLists_s) return std::nullopt;
  is_asking_ = true;
  asked_at_s_ = now_s;
  return ListFunctions{pid, typed(), patterns_of_typed(typed())};
}

FunctionScreen::Wish FunctionScreen::set(Listed listed) {
  is_asking_ = false;
  shown_.clear();
  for (const FoundProbes& found : listed.found)
    shown_.insert(shown_.end(), found.probes.begin(), found.probes.end());
  why_nothing_ = listed.why_nothing;
  listed_ = std::move(listed);
  Wish wish = Wish::none;
  if (is_known())
    for (const Key key : std::exchange(waiting_, {})) wish = take(key);
  return wish;
}

}  // namespace tracectl::ui
