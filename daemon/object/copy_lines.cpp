// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/copy_lines.h"

#include <algorithm>

namespace tracectl {
namespace {

constexpr size_t kMostRowsOfUnit = 4'000'000;  // of larger ones nothing is known

}  // namespace

CopyLines::CopyLines(const LineSections& sections, uint64_t offset) {
  const auto table = LineTable::read(sections, offset, "");
  if (!table) return;
  const bool is_whole = table->each_row([&](const LineRow& row) {
    if (row.is_statement && row.line != 0 && !row.ends_sequence)
      rows_.push_back({row.address, row.file, row.line, row.column});
    return rows_.size() <= kMostRowsOfUnit;
  });
  if (!is_whole) rows_.clear();
  std::ranges::stable_sort(rows_, {}, &Row::address);
}

// There can be several: of the call, of the function's first line and of its first statement.
CopyLines::Rows CopyLines::first_rows(uint64_t entry) const {
  const auto first = std::ranges::lower_bound(rows_, entry, {}, &Row::address);
  const auto last = std::ranges::upper_bound(rows_, entry, {}, &Row::address);
  if (first != last) return {first, last};
  if (first == rows_.begin()) return {};
  return {*(first - 1)};
}

bool CopyLines::may_be_repeated(const CodeSpans& copy, uint64_t entry) const {
  const Rows keys = first_rows(entry);
  if (keys.empty()) return true;
  CodeSpans spans = copy;
  std::ranges::sort(spans);
  bool were_others = false;
  for (const CodeSpan& span : spans) {
    auto row = std::ranges::lower_bound(rows_, std::max(span.begin, entry + 1), {}, &Row::address);
    were_others |= span.begin > entry;
    for (; row != rows_.end() && row->address < span.end; ++row) {
      const bool is_first =
          std::ranges::any_of(keys, [&](const Row& key) { return key.is_same(*row); });
      if (is_first && were_others) return true;
      were_others |= !is_first;
    }
  }
  return false;
}

}  // namespace tracectl
