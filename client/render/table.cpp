// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/table.h"

#include <algorithm>

#include "client/options/display.h"
#include "client/render/shortened.h"

namespace tracectl {
namespace {

constexpr size_t kMostPadded = 80;
constexpr size_t kLeastOfCut = 16;
constexpr size_t kGap = 2;

}  // namespace

// The last column is not padded.
std::vector<size_t> Table::widths() const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = columns_[i].title.size();
    for (const auto& row : rows_) width = std::max(width, width_of(row[i]));
    const bool is_padded = columns_[i].align == Align::left && i + 1 < columns_.size();
    widths.push_back(is_padded ? std::min(width, kMostPadded) : width);
  }
  if (display().columns) fit_terminal(widths);
  return widths;
}

// Takes from the widest of the columns that may be cut.
void Table::fit_terminal(std::vector<size_t>& widths) const {
  size_t total = kGap * (widths.size() - 1);
  for (const size_t width : widths) total += width;
  while (total > display().columns) {
    size_t* widest = nullptr;
    for (size_t i = 0; i < widths.size(); ++i)
      if (columns_[i].may_be_cut && widths[i] > kLeastOfCut && (!widest || widths[i] > *widest))
        widest = &widths[i];
    if (!widest) return;
    const size_t over = total - display().columns;
    const size_t taken = std::min(over, *widest - kLeastOfCut);
    *widest -= taken;
    total -= taken;
  }
}

std::string Table::text() const {
  const std::vector<size_t> widths = this->widths();
  std::string out;
  const auto add_row = [&](auto&& cell_of) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      const bool is_cut = display().columns && columns_[i].may_be_cut;
      const std::string cell = is_cut ? shortened(cell_of(i), widths[i]) : cell_of(i);
      const size_t width = width_of(cell);
      const std::string pad(width < widths[i] ? widths[i] - width : 0, ' ');
      out += std::string(i ? kGap : 0, ' ') +
             (columns_[i].align == Align::right ? pad + cell : cell + pad);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  };
  add_row([&](size_t i) -> const std::string& { return columns_[i].title; });
  for (const auto& row : rows_) add_row([&](size_t i) -> const std::string& { return row[i]; });
  return out;
}

}  // namespace tracectl
