// SPDX-License-Identifier: BSD-2-Clause
#include "client/ui/grid.h"

#include <algorithm>

#include "client/render/shortened.h"
#include "client/ui/characters.h"

namespace tracectl::ui {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kLeastOfLast = 8;

}  // namespace

std::string text_of(const Line& line) {
  std::string text;
  for (const Span& span : line.spans) text += span.text;
  return text;
}

std::string beginning_of(const std::string& text, size_t width) {
  if (width_of(text) <= width) return text;
  std::string beginning;
  for (const char32_t character : characters_of(text)) {
    if (--width == 0) break;
    append_character(beginning, character);
  }
  return beginning + "\u2026";
}

std::vector<size_t> Grid::widths(size_t width) const {
  std::vector<size_t> widths;
  size_t used = 0;
  for (size_t i = 0; i + 1 < columns_.size(); ++i) {
    size_t widest = std::max(width_of(columns_[i].title), columns_[i].least);
    for (const auto& row : rows_) widest = std::max(widest, width_of(row[i]));
    widths.push_back(widest);
    used += widest + kGap;
  }
  widths.push_back(width > used + kLeastOfLast ? width - used : kLeastOfLast);
  return widths;
}

// The last column has no blanks after its text.
std::string Grid::cell_text(const std::string& cell, size_t column, size_t width) const {
  if (column + 1 == columns_.size())
    return columns_[column].is_cut_at_end ? beginning_of(cell, width) : shortened(cell, width);
  const std::string blanks(width - std::min(width, width_of(cell)), ' ');
  return (columns_[column].is_right ? blanks + cell : cell + blanks) + std::string(kGap, ' ');
}

Line Grid::heading(size_t width, size_t sorted) const {
  const auto all = widths(width);
  Line line{{}, Style::heading};
  for (size_t i = 0; i < columns_.size(); ++i)
    line.spans.push_back(
        {cell_text(columns_[i].title, i, all[i]), i == sorted ? Style::sorted : Style::heading});
  return line;
}

std::vector<std::string> Grid::texts(size_t width) const {
  const auto all = widths(width);
  std::vector<std::string> texts;
  for (const auto& row : rows_) {
    std::string& text = texts.emplace_back();
    for (size_t i = 0; i < columns_.size(); ++i) text += cell_text(row[i], i, all[i]);
  }
  return texts;
}

}  // namespace tracectl::ui
