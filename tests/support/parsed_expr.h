// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "daemon/model/expr.h"
#include "daemon/spec/parse.h"

namespace tracectl {

// Parses a condition; fails the test if it is invalid.
inline Expr parsed_expr(std::string_view text) {
  auto expr = parse_condition(text);
  EXPECT_TRUE(expr) << text << ": " << (expr ? "" : expr.error().message);
  return expr ? *expr : Expr{};
}

}  // namespace tracectl
