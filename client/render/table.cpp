// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/table.h"

#include <algorithm>

namespace tracectl {

std::string Table::text() const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = columns_[i].title.size();
    for (const auto& row : rows_) width = std::max(width, row[i].size());
    widths.push_back(width);
  }
  std::string out;
  const auto add_row = [&](auto&& cell_of) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string& cell = cell_of(i);
      const std::string pad(widths[i] - cell.size(), ' ');
      out += (i ? "  " : "") + (columns_[i].align == Align::right ? pad + cell : cell + pad);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  };
  add_row([&](size_t i) -> const std::string& { return columns_[i].title; });
  for (const auto& row : rows_) add_row([&](size_t i) -> const std::string& { return row[i]; });
  return out;
}

}  // namespace tracectl
