// SPDX-License-Identifier: BSD-2-Clause
//
// The shares of accounts in the tables that hits fill, and what each account uses of them (bpf/shares.bpf.h). The BPF
// programs change the same words at the same time.
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
  // This many entries of the account were deleted.
  void give_back(tc_table table, uint32_t account, uint32_t entries);
  // Call it when the account has no entries any more, and nobody makes new ones for it.
  void end_account(uint32_t account);

 private:
  static void settle_rest(tc_room& room);

  std::span<tc_room, TC_TABLES> rooms_;
};

}  // namespace tracectl
