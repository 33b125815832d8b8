// SPDX-License-Identifier: BSD-2-Clause
//
// Expressions with the addresses of variables and functions, compared with what the program says that it had in them
// (tests/targets/symbols.cpp).
#include "tests/support/collected.h"
#include "tests/support/tracer.h"

namespace tracectl::on_kernel {
namespace {

class Symbols : public KernelTest {
 protected:
  using Rows = std::vector<std::vector<int64_t>>;

  // The values of the events of one run, and what the program says.
  std::pair<Rows, nlohmann::json> run(const std::string& action, const std::string& when = "") {
    create("s");
    const auto sink = std::make_shared<Collected>();
    must(engine->streams().subscribe("s", sink));
    Setting set = setting("u::step", process(program_.pid()), action);
    if (!when.empty()) set.spec.when = must(parse_condition(when));
    must(engine->drafts().set("s", {std::move(set)}));
    must(engine->commits().commit("s", {}));
    const auto said = parsed(program_.run());
    must(engine->streams().flush("s"));
    Rows rows;
    for (const Event& event : sink->events()) {
      std::vector<int64_t>& row = rows.emplace_back();
      for (const Value& value : event.args) row.push_back(static_cast<int64_t>(value.value()));
    }
    return {rows, said["calls"]};
  }

  Program program_{"symbols", {}};
};

TEST_F(Symbols, HaveTheValuesThatTheProgramHas) {
  const auto [rows, calls] =
      run("event(s32(uaddr(\"counter\")), u64(uaddr(\"zeroed\")), "
          "s64(uaddr(\"shop::stock\") + 8), arg.handler == uaddr(\"shop::sell\"))");
  ASSERT_EQ(rows.size(), calls.size());
  for (size_t i = 0; i < rows.size(); ++i)
    EXPECT_EQ(rows[i], (std::vector<int64_t>{calls[i]["counter"], calls[i]["zeroed"],
                                             calls[i]["stock"], calls[i]["sells"]}));
}

// The call's own arguments are shown, and no symbol.
TEST_F(Symbols, OfConditionsAreNoValues) {
  const auto [rows, calls] = run("event", "s32(uaddr(\"counter\")) >= 14");
  ASSERT_EQ(rows.size(), 3u);
  for (size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(rows[i].size(), 2u);
    EXPECT_EQ(rows[i][1], static_cast<int64_t>(i + 3));
  }
}

TEST_F(Symbols, AreReadWhereTheCallReturns) {
  create("s");
  set("s", "u::step", process(program_.pid()), "time by s32(uaddr(\"counter\"))");
  const auto said = parsed(program_.run())["calls"];
  std::map<int64_t, uint64_t> expected, counted;
  for (const auto& call : said) ++expected[call["after"]];
  for (const auto& [key, row] : read("s").rows)
    if (!key.by.empty()) counted[std::get<int64_t>(key.by[0].value)] += row.count;
  EXPECT_EQ(counted, expected);
}

}  // namespace
}  // namespace tracectl::on_kernel
