// SPDX-License-Identifier: BSD-2-Clause
//
// Sites with equal specs and layouts share an entry in the kernel's tables.
#include "daemon/switching/specs.h"

#include <gtest/gtest.h>

#include "daemon/spec/parse.h"
#include "daemon/switching/slots.h"
#include "tests/support/fake_switching.h"
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
  SpecPtr install(const Arguments& arguments) {
    return must(specs_.install(setting_, arguments, nullptr, {}));
  }

  FakeSwitching switching_;
  Specs specs_{switching_};
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

TEST(NumbersOfStrings, AreForgottenWhenNoSpecHasThem) {
  FakeSwitching switching;
  Specs specs{switching};
  const auto install = [&](const char* action) {
    auto setting = std::make_shared<Setting>();
    setting->spec = must(parse_spec(action));
    return must(specs.install(setting, two("size", "fd"), nullptr, {}));
  };
  SpecPtr numbered = install("count by stack");
  const SpecPtr other = install("sum(arg0)");
  EXPECT_TRUE(switching.log.empty());
  numbered.reset();
  const SpecPtr next = install("sum(arg1)");
  EXPECT_EQ(switching.log, std::vector<std::string>{"forget numbers"});
}

std::shared_ptr<const Arguments> at_offset(int64_t offset) {
  Argument one;
  one.place = Argument::Place::constant;
  one.size_bytes = 8;
  one.offset = offset;
  return std::make_shared<const Arguments>(Arguments{one});
}

TEST(LayoutsOfArguments, DifferWhereAWidthDoes) {
  FakeSwitching switching;
  Layouts layouts{switching};
  const auto layout = [&](uint8_t size_bytes) {
    return must(layouts.of(std::make_shared<const Arguments>(
        Arguments{in_register(Register::rdi, size_bytes, true, "")})));
  };
  const LayoutPtr wide = layout(8), narrow = layout(4);
  EXPECT_NE(wide->place(), narrow->place());
  EXPECT_EQ(layout(8), wide);
}

TEST(LayoutsOfArguments, GiveTheirPlacesBackWhenNobodyHoldsThem) {
  FakeSwitching switching;
  Layouts layouts{switching};
  std::vector<LayoutPtr> held;
  for (int64_t offset = 1; offset < TC_MAX_LAYOUTS; ++offset)
    held.push_back(must(layouts.of(at_offset(offset))));
  EXPECT_FALSE(layouts.of(at_offset(TC_MAX_LAYOUTS)));
  EXPECT_EQ(layouts.all().size(), held.size());
  const uint32_t given_back = held[7]->place();
  held[7].reset();
  const LayoutPtr another = must(layouts.of(at_offset(TC_MAX_LAYOUTS)));
  EXPECT_EQ(another->place(), given_back);
  EXPECT_FALSE(layouts.of(at_offset(8)));  // the former owner of the place no longer has it
}

TEST(LayoutsOfArguments, OfAFormerDaemonAreHeldUntilItsHooksAreNoMore) {
  FakeSwitching switching;
  Layouts layouts{switching};
  layouts.restore({{Layouts::text_of(*at_offset(5)), 9}, {Layouts::text_of(*at_offset(6)), 1}});
  const LayoutPtr kept = must(layouts.of(at_offset(5)));
  EXPECT_EQ(kept->place(), 9u);
  layouts.end_restoring();
  EXPECT_EQ(layouts.all(), (std::map<std::string, uint32_t>{{Layouts::text_of(*at_offset(5)), 9}}));
  const LayoutPtr fresh = must(layouts.of(at_offset(6)));
  EXPECT_EQ(fresh->place(), 1u);
}

// ---- specs at the return ----

AssembledSpec assembled(const char* action, const char* when = nullptr,
                        const Argument* result = nullptr) {
  Spec spec = must(parse_spec(action));
  if (when) spec.when = must(parse_condition(when));
  return *must(assemble(spec, two("size", "fd"), result));
}

TEST(AtTheReturn, IsWhatNeedsItAndNothingElse) {
  EXPECT_EQ(assembled("count by arg0").kernel.at_return, 0u);
  EXPECT_EQ(assembled("event, return").kernel.at_return, uint32_t{TC_RETURN_EVENT});
  EXPECT_EQ(assembled("event(retval)").kernel.at_return, uint32_t{TC_EVENT_AT_RETURN});
  EXPECT_EQ(assembled("event(retval, arg1)").kernel.at_return,
            uint32_t{TC_EVENT_AT_RETURN | TC_KEEP_ARGS});
  EXPECT_EQ(assembled("event", "retval == 0").kernel.at_return,
            uint32_t{TC_CONDITION_AT_RETURN | TC_EVENT_AT_RETURN | TC_KEEP_ARGS});
  const AssembledSpec mixed = assembled("sum(arg0), time by arg1, count by tid");
  EXPECT_EQ(mixed.kernel.at_return, uint32_t{TC_KEEP_ARGS});
  EXPECT_EQ(mixed.kernel.aggregates[0].at, TC_AT_HIT);
  EXPECT_EQ(mixed.kernel.aggregates[1].at, TC_AT_END);
  EXPECT_EQ(mixed.kernel.aggregates[2].at, TC_AT_HIT);
}

// The count of every hook is of hits at the begin; calls that are taken at their end need another
// count.
TEST(AtTheReturn, CallsThatAreTakenThereAreCountedThere) {
  EXPECT_EQ(assembled("count", "arg0 > 1").kernel.aggregate_count, 0u);
  const AssembledSpec spec = assembled("count", "retval > 1");
  ASSERT_EQ(spec.kernel.aggregate_count, 1u);
  EXPECT_EQ(spec.kernel.aggregates[0].kind, TC_COUNT);
  EXPECT_EQ(spec.kernel.aggregates[0].at, TC_AT_END);
}

TEST(WhenBlocked, SumsAreOneAggregateThatTheSpecNames) {
  const AssembledSpec spec =
      assembled("count by arg0, sum(block) by stack(5), max(block) by stack(5)");
  ASSERT_EQ(spec.kernel.aggregate_count, 2u);
  EXPECT_EQ(spec.kernel.blocked, 2u);
  EXPECT_EQ(spec.kernel.aggregates[1].at, TC_AT_BLOCK);
  EXPECT_EQ(spec.kernel.aggregates[1].keys[0].a, 5);
  EXPECT_TRUE(spec.follows_calls);
  EXPECT_EQ(assembled("sum(duration)").kernel.blocked, 0u);
}

TEST(WhenBlocked, NothingElseIsKnown) {
  for (const char* action :
       {"hist(block)", "lhist(block, 0, 9, 1)", "event(block)", "count by block", "sum(block + 1)",
        "sum(u8(block))", "sum(block) by tid", "sum(block) by caller", "sum(block) by stack, tid",
        "sum(block) by stack, max(block)"})
    EXPECT_FALSE(parse_spec(action)) << action;
  EXPECT_FALSE(parse_condition("block > 1"));
  EXPECT_TRUE(parse_spec("sum(block), min(block), avg(block), max(block)"));

  Spec late = must(parse_spec("sum(block)"));
  late.when = must(parse_condition("duration > 5"));
  EXPECT_FALSE(assemble(late, two("size", "fd"), nullptr));
}

TEST(AtTheReturn, TheResultHasTheTypeThatIsKnown) {
  Argument result = in_register(Register::rax, 4, true, "");
  EXPECT_EQ(assembled("sum(retval)", nullptr, &result).kernel.aggregates[0].value.a,
            4 | TC_RETVAL_SIGNED);
  EXPECT_EQ(assembled("sum(retval)").kernel.aggregates[0].value.a, 8 | TC_RETVAL_SIGNED);
  result = in_register(Register::rax, 8, false, "");
  const AssembledSpec spec = assembled("sum(retval)", nullptr, &result);
  EXPECT_EQ(spec.kernel.aggregates[0].value.a, 8);
  EXPECT_TRUE(spec.kernel.aggregates[0].is_unsigned);
  result.is_float = true;
  const auto refused = assemble(must(parse_spec("sum(retval)")), {}, &result);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("retval is a float"), std::string::npos);
  EXPECT_EQ(refused.error().spot->column, 0u);
}

TEST(AtTheReturn, OnlyTheFirstArgumentsAreKept) {
  const Arguments seven(7, in_register(Register::rdi, 8, true, ""));
  EXPECT_TRUE(assemble(must(parse_spec("time by arg5")), seven));
  EXPECT_TRUE(assemble(must(parse_spec("time, sum(arg6)")), seven));
  const auto refused = assemble(must(parse_spec("time by arg6")), seven);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("first 6 arguments"), std::string::npos);
}

// The depth of the stack is known where a call begins.
TEST(AtTheReturn, HowDeepAStackIsWaitsForNoReturn) {
  const auto refusal = [](const char* action, const char* when) {
    Spec spec = must(parse_spec(action));
    if (when) spec.when = must(parse_condition(when));
    const auto refused = assemble(spec, {}, nullptr);
    return refused ? std::string{} : refused.error().message;
  };
  EXPECT_EQ(refusal("deepest, event(stack_bytes), time", "stack_bytes > 5"), "");
  EXPECT_NE(refusal("event(stack_bytes, duration)", nullptr).find("stack_bytes"),
            std::string::npos);
  EXPECT_NE(refusal("count by stack_bytes", "duration > 5").find("stack_bytes"), std::string::npos);
  EXPECT_NE(refusal("deepest, count", "duration > 5").find("deepest"), std::string::npos);
}

}  // namespace
}  // namespace tracectl::on_kernel
