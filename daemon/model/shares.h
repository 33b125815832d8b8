// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

namespace tracectl {

// How the entries of a table are divided between a number of users, root and the group (who count
// as one), and a rest that anybody may use. Together they are at most all entries.
struct Shares {
  uint32_t of_root = 0;
  uint32_t of_user = 0;  // of each
  uint32_t rest = 0;

  // Root gets a quarter, and another quarter is divided among the users.
  static constexpr Shares of(uint32_t places, uint32_t users) {
    const uint32_t of_root = places / 4;
    const uint32_t of_user = users ? places / 4 / users : 0;
    return {of_root, of_user, places - of_root - of_user * users};
  }
  // The most entries of one, if nobody else uses the rest.
  constexpr uint32_t most_of_root() const { return of_root + rest; }
  constexpr uint32_t most_of_user() const { return of_user + rest; }
};

}  // namespace tracectl
