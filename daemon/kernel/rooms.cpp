// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/rooms.h"

#include <algorithm>
#include <array>
#include <optional>

#include "daemon/model/shares.h"

namespace tracectl {
namespace {

uint32_t entries_of(tc_table table) {
  switch (table) {
    case TC_TABLE_COUNTS:
    case TC_TABLE_SUMS:
    case TC_TABLE_TEXTS: return TC_MAX_KEYS;
    case TC_TABLE_TIMES: return TC_MAX_TIMES;
    case TC_TABLE_KEY_STACKS: return TC_MAX_KEY_STACKS;
    case TC_TABLE_PATHS: return TC_MAX_PATHS;
    case TC_TABLE_STARTS: return TC_MAX_STARTS;
    case TC_TABLE_CALLERS: return TC_MAX_CALLERS;
    case TC_TABLE_DEEP_BLOCKS: return TC_MAX_DEEP_BLOCKS;
    case TC_TABLE_HELD_BLOCKS: return TC_MAX_HELD_BLOCKS;
    case TC_TABLES: break;
  }
  return 0;
}

uint32_t load(const uint32_t& word) { return __atomic_load_n(&word, __ATOMIC_SEQ_CST); }
void store(uint32_t& word, uint32_t value) { __atomic_store_n(&word, value, __ATOMIC_SEQ_CST); }

uint32_t share_of(const tc_room& room, uint32_t account) {
  return account ? room.share_of_user : room.share_of_root;
}

uint32_t beyond(uint32_t used, uint32_t share) { return used > share ? used - share : 0; }

// By how much rest_used is too small. None if something changed meanwhile.
std::optional<uint32_t> missing_in_rest(const tc_room& room) {
  std::array<uint32_t, TC_MAX_ACCOUNTS> used;
  const uint32_t rest_used = load(room.rest_used);
  uint32_t sum = 0;
  for (uint32_t account = 0; account < TC_MAX_ACCOUNTS; ++account) {
    used[account] = load(room.used[account]);
    sum += beyond(used[account], share_of(room, account));
  }
  for (uint32_t account = 0; account < TC_MAX_ACCOUNTS; ++account)
    if (load(room.used[account]) != used[account]) return std::nullopt;
  if (load(room.rest_used) != rest_used) return std::nullopt;
  return sum - rest_used;
}

}  // namespace

void Rooms::share_out(uint32_t users) {
  for (uint32_t table = 0; table < TC_TABLES; ++table) {
    tc_room& room = rooms_[table];
    const Shares shares = Shares::of(entries_of(static_cast<tc_table>(table)), users);
    store(room.share_of_root, shares.of_root);
    store(room.share_of_user, shares.of_user);
    store(room.rest, shares.rest);
    settle_rest(room);
  }
}

// For tables that a former daemon left, maybe with other shares. Hits go on meanwhile, and do not change the
// difference; so it is computed again until nothing has changed in between.
void Rooms::settle_rest(tc_room& room) {
  constexpr int kMostTries = 10'000;
  for (int tries = 0; tries < kMostTries; ++tries)
    if (const auto missing = missing_in_rest(room)) {
      __atomic_add_fetch(&room.rest_used, *missing, __ATOMIC_SEQ_CST);
      return;
    }
}

void Rooms::give_back(tc_table table, uint32_t account, uint32_t entries) {
  tc_room& room = rooms_[table];
  const uint32_t share = share_of(room, account);
  uint32_t before = load(room.used[account]), after = 0;
  do after = before - std::min(before, entries);
  while (!__atomic_compare_exchange_n(&room.used[account], &before, after, false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST));
  const uint32_t of_rest = beyond(before, share) - beyond(after, share);
  __atomic_sub_fetch(&room.rest_used, of_rest, __ATOMIC_SEQ_CST);
}

// A daemon that was killed may have deleted entries without subtracting them.
void Rooms::end_account(uint32_t account) {
  for (uint32_t table = 0; table < TC_TABLES; ++table)
    give_back(static_cast<tc_table>(table), account, load(rooms_[table].used[account]));
}

}  // namespace tracectl
