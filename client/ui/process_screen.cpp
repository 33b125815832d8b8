// SPDX-License-Identifier: BSD-2-Clause
#include "client/ui/process_screen.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace tracectl::ui {
namespace {

std::string in_small_letters(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool has_text(const ProcessRow& row, const std::string& small_letters) {
  const std::string all = std::to_string(row.pid) + ' ' + row.user + ' ' + row.command;
  return in_small_letters(all).find(small_letters) != std::string::npos;
}

}  // namespace

void ProcessScreen::set(std::vector<ProcessRow> rows) {
  rows_ = std::move(rows);
  std::ranges::stable_sort(rows_, [](const ProcessRow& a, const ProcessRow& b) {
    return a.percent.value_or(0) > b.percent.value_or(0);
  });
  show_matching();
}

std::optional<int64_t> ProcessScreen::take(Key key) {
  if (key.kind == Key::Kind::enter && !shown_.empty()) return shown_[place_.selected()].pid;
  if (place_.take(key, shown_.size())) return std::nullopt;
  if (is_typing_ && filter_.take(key)) {
    place_.select(0);
    show_matching();
  } else if (key.kind == Key::Kind::tab || key.kind == Key::Kind::escape || key.is(U'/')) {
    is_typing_ = !is_typing_;
  }
  return std::nullopt;
}

std::string ProcessScreen::command_of(int64_t pid) const {
  const auto row = std::ranges::find(rows_, pid, &ProcessRow::pid);
  return row == rows_.end() ? "" : row->command;
}

void ProcessScreen::show_matching() {
  const bool has_moved = place_.selected() > 0;
  const int64_t selected =
      has_moved && place_.selected() < shown_.size() ? shown_[place_.selected()].pid : 0;
  shown_.clear();
  std::ranges::copy_if(rows_, std::back_inserter(shown_),
                       [text = in_small_letters(filter_.text())](const ProcessRow& row) {
                         return has_text(row, text);
                       });
  const auto again = std::ranges::find(shown_, selected, &ProcessRow::pid);
  if (again != shown_.end())
    place_.select(static_cast<size_t>(again - shown_.begin()));
  else
    place_.select(std::min(place_.selected(), shown_.empty() ? 0 : shown_.size() - 1));
}

}  // namespace tracectl::ui
