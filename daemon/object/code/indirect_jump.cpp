// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/indirect_jump.h"

namespace tracectl {

bool jump_leads_out(const Listing& listing, uint64_t address, const ReadFile& read) {
  const auto step = listing.at(address);
  return step && indirect_jump(listing, *step, read).leads == Leads::outside;
}

}  // namespace tracectl
