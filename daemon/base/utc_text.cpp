// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/base/utc_text.h"

#include <ctime>

namespace tracectl {

std::string utc_text(uint64_t wall_ns) {
  const auto seconds = static_cast<time_t>(wall_ns / 1'000'000'000);
  tm parts{};
  ::gmtime_r(&seconds, &parts);
  char date[32];
  std::strftime(date, sizeof(date), "%Y%m%dT%H%M%S", &parts);
  std::string fraction = std::to_string(wall_ns / 1000 % 1'000'000);
  return std::string(date) + "." + std::string(6 - fraction.size(), '0') + fraction + "Z";
}

}  // namespace tracectl
