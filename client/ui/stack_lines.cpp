// SPDX-License-Identifier: BSD-2-Clause
#include "client/ui/stack_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "client/render/text.h"
#include "daemon/protocol/stacks.h"

namespace tracectl::ui {
namespace {

using protocol::RowPart;

std::vector<const RowPart*> stacks_by_count(const std::vector<RowPart>& rows,
                                            const std::string& probe) {
  std::vector<const RowPart*> stacks;
  for (const RowPart& row : rows)
    if (row.stack && row.probe == probe && row.count > 0) stacks.push_back(&row);
  std::ranges::stable_sort(stacks,
                           [](const RowPart* a, const RowPart* b) { return a->count > b->count; });
  return stacks;
}

void add_frames(std::vector<StackLine>& lines, const RowPart& row) {
  const auto stack = protocol::stack_of(row.stack, row.stack_by, row.stack_end);
  if (!stack || !*stack) return;
  std::istringstream text(stack_text(**stack));
  for (std::string line; std::getline(text, line);) {
    constexpr const char* kIndent = "    ";
    lines.push_back({kIndent + line.substr(std::min(line.size(), line.find_first_not_of(' ')))});
  }
}

}  // namespace

std::vector<StackLine> stack_lines_of(const std::vector<RowPart>& rows, const std::string& probe) {
  const auto stacks = stacks_by_count(rows, probe);
  uint64_t all = 0;
  for (const RowPart* row : stacks) all += row->count;
  std::vector<StackLine> lines;
  for (const RowPart* row : stacks) {
    const double percent = 100 * static_cast<double>(row->count) / static_cast<double>(all);
    lines.push_back({fmt::format("{} ({:.1f} %)", plural(row->count, "hit"), percent), true});
    add_frames(lines, *row);
  }
  return lines;
}

}  // namespace tracectl::ui
