// SPDX-License-Identifier: BSD-2-Clause
//
// Fields by name, for tests. The programs are tests/targets/fields*.c* and declared.cpp.
#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "daemon/object/demangle.h"
#include "daemon/object/parameters.h"
#include "daemon/object/probes.h"
#include "daemon/spec/parse.h"
#include "tests/support/must.h"
#include "tests/support/program.h"

namespace tracectl {

inline Function function_with_name(const ElfFile& file, const std::string& name) {
  for (const Function& function : file.functions()) {
    const std::string plain = demangle(function.name).value_or(function.name);
    if (plain.substr(0, plain.find('(')) == name) return function;
  }
  ADD_FAILURE() << "no function " << name;
  return {};
}

// The field that the path leads to from an argument or the result of a target's function.
inline ReachedField field_in(const std::string& target, const std::string& name,
                             const std::string& path) {
  const std::string file_path = on_kernel::target_path(target.c_str());
  const ElfFile file = on_kernel::must(
      ElfFile::open(Fd{::open(file_path.c_str(), O_RDONLY | O_CLOEXEC)}.get(), file_path, "/none"));
  FunctionParameters parameters(file, {.paths = {path}});
  const Function function = function_with_name(file, name);
  Arguments all = parameters.of(function).value_or(Arguments{});
  all.push_back(parameters.result_of(function));
  for (const Argument& one : all)
    if (one.asked_fields) return one.asked_fields->at(0);
  ADD_FAILURE() << "nothing knows " << path;
  return {};
}

inline void expect_field_refused(const std::string& text, size_t column, const std::string& part) {
  const auto expr = parse_condition(text);
  ASSERT_FALSE(expr) << text;
  EXPECT_EQ(expr.error().spot.value_or(Spot{}), (Spot{text, column}));
  EXPECT_THAT(expr.error().message, ::testing::HasSubstr(part)) << text;
}

}  // namespace tracectl
