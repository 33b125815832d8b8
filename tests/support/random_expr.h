// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "daemon/model/expr.h"

namespace tracectl {

// Makes the next choice: a number below `bound`, which is at least 1.
using Choose = std::function<uint64_t(uint64_t bound)>;

// Random expressions that pass the checker, with a depth of at most `depth`.
class RandomExpr {
 public:
  RandomExpr(Choose choose, size_t arg_count) : choose_(std::move(choose)), arg_count_(arg_count) {}

  Expr integer(unsigned depth);

 private:
  Expr leaf();
  Expr literal();
  Expr unary(unsigned depth);
  Expr binary(unsigned depth);
  Expr of_strings(unsigned depth);

  Choose choose_;
  size_t arg_count_;
};

}  // namespace tracectl
