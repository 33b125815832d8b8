// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/row_order.h"

#include <algorithm>
#include <iterator>

#include "client/render/probe_names.h"
#include "client/render/quantiles.h"
#include "daemon/model/expr.h"

namespace tracectl {
namespace {

using namespace protocol;

struct NamedOrder {
  const char* name;
  RowOrder order;
};

constexpr NamedOrder kOrders[] = {
    {"calls", RowOrder::calls}, {"total", RowOrder::total}, {"self", RowOrder::self},
    {"avg", RowOrder::avg},     {"min", RowOrder::min},     {"max", RowOrder::max},
    {"p50", RowOrder::p50},     {"p90", RowOrder::p90},     {"p99", RowOrder::p99},
    {"name", RowOrder::name},
};

uint64_t figure_of(const RowPart& row, RowOrder order) {
  switch (order) {
    case RowOrder::calls: return row.count;
    case RowOrder::total: return ns_of(row.sum).value_or(0);
    case RowOrder::self: return row.self.value_or(0);
    case RowOrder::avg: return row.count ? ns_of(row.sum).value_or(0) / row.count : 0;
    case RowOrder::min: return ns_of(row.min).value_or(0);
    case RowOrder::max: return ns_of(row.max).value_or(0);
    case RowOrder::p50: return quantile_bound(row, 50).value_or(0);
    case RowOrder::p90: return quantile_bound(row, 90).value_or(0);
    case RowOrder::p99: return quantile_bound(row, 99).value_or(0);
    case RowOrder::name: break;
  }
  return 0;
}

}  // namespace

std::optional<RowOrder> row_order_named(std::string_view name) {
  const auto found =
      std::ranges::find_if(kOrders, [&](const NamedOrder& one) { return one.name == name; });
  if (found == std::end(kOrders)) return std::nullopt;
  return found->order;
}

std::string row_order_names() {
  std::string names;
  for (const NamedOrder& one : kOrders)
    names += (names.empty() ? "" : ", ") + std::string(one.name);
  return names;
}

bool is_of_blocks(const RowPart& row) { return row.of == name_of(Operand::block); }

bool is_of_times(const RowPart& row) {
  return row.self || (row.hist && row.sum) || (is_of_blocks(row) && row.sum);
}

void sort_rows(std::vector<RowPart>& rows, RowOrder order) {
  const auto others = std::stable_partition(rows.begin(), rows.end(), is_of_times);
  if (order != RowOrder::name) {
    std::stable_sort(rows.begin(), others, [&](const RowPart& a, const RowPart& b) {
      return figure_of(a, order) > figure_of(b, order);
    });
    return;
  }
  const TableNames names = names_of_all(rows);
  std::stable_sort(rows.begin(), others, [&](const RowPart& a, const RowPart& b) {
    return names.of(a.probe) < names.of(b.probe);
  });
}

}  // namespace tracectl
