// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <stdexcept>
#include <utility>

#include "daemon/base/result.h"
#include "daemon/model/target.h"

namespace tracectl::on_kernel {

// A failure ends the test or the measurement.
template <class T> T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

inline Target process(pid_t pid) {
  Target target;
  target.pids = {pid};
  return target;
}

}  // namespace tracectl::on_kernel
