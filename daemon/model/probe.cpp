// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/model/probe.h"

namespace tracectl {

std::shared_ptr<const Arguments> operands_of(const Site& site) {
  if (!site.symbols) return site.args;
  auto operands = std::make_shared<Arguments>(*site.args);
  operands->insert(operands->end(), site.symbols->begin(), site.symbols->end());
  return operands;
}

}  // namespace tracectl
