// SPDX-License-Identifier: BSD-2-Clause
//
// Which sites share what the kernel's tables hold: those for which it is the same.
#include "daemon/trace/specs.h"

#include <gtest/gtest.h>

#include "daemon/spec/parse.h"
#include "daemon/trace/slots.h"
#include "tests/support/fake_kernel.h"
#include "tests/support/must.h"

namespace tracectl::on_kernel {
namespace {

Argument in_register(Register base, uint8_t size_bytes, bool is_signed, const char* name) {
  Argument argument;
  argument.place = Argument::Place::in_register;
  argument.base = base;
  argument.size_bytes = size_bytes;
  argument.is_signed = is_signed;
  argument.name = name;
  return argument;
}

Arguments two(const char* first, const char* second) {
  return {in_register(Register::rdi, 8, true, first), in_register(Register::rsi, 8, true, second)};
}

class SharedSpecs : public ::testing::Test {
 protected:
  SpecPtr install(const Arguments& arguments) { return must(specs_.install(setting_, arguments, nullptr)); }

  FakeKernel kernel_;
  Specs specs_{kernel_};
  std::shared_ptr<const Setting> setting_ = [] {
    Setting setting;
    setting.spec = must(parse_spec("sum(arg.size)"));
    return std::make_shared<const Setting>(setting);
  }();
};

TEST_F(SharedSpecs, AreOneWhereTheArgumentsThatAreUsedAreTheSame) {
  EXPECT_EQ(install(two("size", "fd")), install(two("size", "other")));
}

TEST_F(SharedSpecs, AreTwoWhereANameIsAnotherArguments) {
  const SpecPtr first = install(two("size", "fd")), second = install(two("fd", "size"));
  EXPECT_EQ((*first)->kernel.aggregates[0].value.a, 0);
  EXPECT_EQ((*second)->kernel.aggregates[0].value.a, 1);
}

TEST_F(SharedSpecs, AreTwoWhereOneIsUnsigned) {
  Arguments other = two("size", "fd");
  other[0].is_signed = false;
  const SpecPtr first = install(two("size", "fd")), second = install(other);
  EXPECT_FALSE((*first)->kernel.aggregates[0].is_unsigned);
  EXPECT_TRUE((*second)->kernel.aggregates[0].is_unsigned);
}

TEST_F(SharedSpecs, GiveTheirPlaceBackWhenNobodyHoldsThem) {
  const uint32_t place = install(two("size", "fd"))->place();
  EXPECT_EQ(install(two("size", "fd"))->place(), place);
}

TEST(LayoutsOfArguments, DifferWhereAWidthDoes) {
  FakeKernel kernel;
  Layouts layouts{kernel};
  const auto index = [&](uint8_t size_bytes) {
    return must(layouts.index_of(std::make_shared<const Arguments>(
        Arguments{in_register(Register::rdi, size_bytes, true, "")})));
  };
  EXPECT_NE(index(8), index(4));
  EXPECT_EQ(index(8), index(8));
}

}  // namespace
}  // namespace tracectl::on_kernel
