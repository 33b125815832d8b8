// SPDX-License-Identifier: BSD-2-Clause
//
// How the tables that hits fill are shared out, and what each account has of them: bpf/shares.bpf.h, whose programs
// change the same words meanwhile.
#pragma once

#include <cstdint>
#include <span>

#include "bpf/abi.h"

namespace tracectl {

class Rooms {
 public:
  explicit Rooms(std::span<tc_room, TC_TABLES> rooms) : rooms_(rooms) {}

  void share_out(uint32_t users);
  uint32_t used(tc_table table, uint32_t account) const {
    return __atomic_load_n(&rooms_[table].used[account], __ATOMIC_SEQ_CST);
  }
  // So many entries that were made for the account are gone.
  void give_back(tc_table table, uint32_t account, uint32_t entries);
  // Nobody makes entries for it any more, and none that was made for it is left.
  void end_account(uint32_t account);

 private:
  static void settle_rest(tc_room& room);

  std::span<tc_room, TC_TABLES> rooms_;
};

}  // namespace tracectl
