// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <utility>

#include "daemon/model/rows.h"

namespace tracectl {

// Calls `rename` with each part of each key, which says whether it has changed the part, and joins rows
// whose keys become the same.
template <class Rename> void rename_keys(Rows& rows, Rename rename) {
  Rows renamed;
  for (auto it = rows.begin(); it != rows.end();) {
    RowKey key = it->first;
    bool changed = false;
    for (KeyPart& part : key.by) changed |= rename(part);
    if (!changed) {
      ++it;
      continue;
    }
    Row& row = renamed[std::move(key)];
    row.shape = it->second.shape;
    row.add(it->second);
    it = rows.erase(it);
  }
  rows.merge(renamed);
}

}  // namespace tracectl
