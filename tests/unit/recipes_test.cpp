// SPDX-License-Identifier: BSD-2-Clause
#include "client/recipes/recipes.h"

#include <gtest/gtest.h>

#include <set>
#include <typeinfo>

using namespace tracectl;
using namespace tracectl::protocol;

namespace {

Recipe recipe_with(std::vector<std::string> words, std::vector<RecipeParameter> parameters) {
  return {.name = "r",
          .tells = "",
          .needs = "",
          .commands = {std::move(words)},
          .parameters = std::move(parameters)};
}

std::set<std::string> places_in(const Recipe& recipe) {
  std::set<std::string> places;
  std::vector<Words> commands = recipe.commands;
  for (const RecipeVariant& variant : recipe.variants)
    commands.insert(commands.end(), variant.commands.begin(), variant.commands.end());
  for (const Words& words : commands)
    for (const std::string& word : words)
      for (size_t at = 0; (at = word.find('{', at)) != std::string::npos; ++at)
        places.insert(word.substr(at + 1, word.find('}', at) - at - 1));
  return places;
}

RowPart row_by(Named<Key> by) { return {.probe = "p", .by = std::move(by), .count = 1}; }

std::string type_shown(const std::string& name) {
  ReadReply reply;
  reply.rows = {row_by({{"t", name}})};
  name_types(reply, {{.key = "t", .title = "type", .is_type_name = true}});
  return std::get<std::string>(reply.rows[0].by->at("t"));
}

}  // namespace

TEST(Recipes, HaveAPlaceForEachOfTheirOptionsAndNoOther) {
  std::set<std::string> names;
  for (const Recipe& recipe : all_recipes()) {
    EXPECT_TRUE(names.insert(recipe.name).second) << recipe.name;
    std::set<std::string> options;
    for (const RecipeParameter& parameter : recipe.parameters) options.insert(parameter.option);
    EXPECT_EQ(places_in(recipe), options) << recipe.name;
  }
}

TEST(Recipes, EveryOptionIsOfSome) {
  std::set<std::string> known, used;
  for (const RecipeOption& option : all_recipe_options()) known.insert(option.name);
  for (const Recipe& recipe : all_recipes())
    for (const RecipeParameter& parameter : recipe.parameters) used.insert(parameter.option);
  EXPECT_EQ(used, known);
}

// The verb of the recipe's first command prints the results, and knows nothing of variants when it prints events.
TEST(Recipes, VariantsHaveTheVerbOfTheRecipeWhichCounts) {
  for (const Recipe& recipe : all_recipes())
    for (const RecipeVariant& variant : recipe.variants) {
      EXPECT_EQ(variant.commands[0][0], recipe.commands[0][0]) << recipe.name;
      EXPECT_NE(variant.commands[0][0], "trace") << recipe.name;
    }
}

TEST(RecipeCommands, TakeTheDefaultUnlessAValueIsGiven) {
  const Recipe recipe = recipe_with({"time", "{function}", "d > {longer-than}{longer-than}"},
                                    {{"function", std::nullopt}, {"longer-than", "1ms"}});
  auto commands = filled_commands(recipe, recipe.commands, {{"function", "u::{f}"}});
  ASSERT_TRUE(commands);
  EXPECT_EQ((*commands)[0], (Words{"time", "u::{f}", "d > 10000001000000"}));
  commands =
      filled_commands(recipe, recipe.commands, {{"function", "f"}, {"longer-than", "0.5us"}});
  ASSERT_TRUE(commands);
  EXPECT_EQ((*commands)[0], (Words{"time", "f", "d > 500500"}));
}

TEST(RecipeCommands, WhatMustBeGivenIsAskedForOrShownByItsName) {
  const Recipe recipe = recipe_with({"time", "{function}"}, {{"function", std::nullopt}});
  EXPECT_FALSE(filled_commands(recipe, recipe.commands, {}));
  auto commands = filled_commands(recipe, recipe.commands, {}, false);
  ASSERT_TRUE(commands);
  EXPECT_EQ((*commands)[0], (Words{"time", "PATTERN"}));
}

TEST(RecipeCommands, AreQuotedForTheShellWhereTheyMustBe) {
  EXPECT_EQ(shell_text({"count", "usdt:*:a", "--by", "tid", "", "it's", "$x", "~"}),
            R"(count 'usdt:*:a' --by tid '' 'it'\''s' '$x' '~')");
}

TEST(Keys, TypesOfCxxAreNamedAsInSourceCode) {
  EXPECT_EQ(type_shown(typeid(std::string::iterator).name()),
            "__gnu_cxx::__normal_iterator<char*, std::__cxx11::basic_string<char, "
            "std::char_traits<char>, std::allocator<char> > >");
  EXPECT_EQ(type_shown("*N12_GLOBAL__N_15LocalE"), "(anonymous namespace)::Local");
  EXPECT_EQ(type_shown("i"), "int");
  EXPECT_EQ(type_shown("St12out_of_ra"), "St12out_of_ra");  // cut off
  EXPECT_EQ(type_shown(""), "");
}

// Each level holds the one below twice, the second time by a reference of three bytes.
TEST(Keys, TypesWhoseNamesWouldBeHugeAreShownAsTheyAreMangled) {
  std::string type = "S_IiE";
  for (const char reference : std::string{"0123456789ABCDEFGHIJ"})
    type = "S_I" + type + "S" + reference + "_E";
  EXPECT_EQ(type_shown("1aI" + type + "E"), "1aI" + type + "E");
  EXPECT_EQ(type_shown("1aIS_IS_IiES0_EE"), "a<a<a<int>, a<int> > >");
}

TEST(Keys, OtherKeysAreNotTakenForTypes) {
  ReadReply reply;
  reply.rows = {row_by({{"t", std::monostate{}}, {"u", std::string{"i"}}}), {.probe = "q"}};
  name_types(reply,
             {{.key = "t", .title = "type", .is_type_name = true}, {.key = "u", .title = "other"}});
  EXPECT_EQ(std::get<std::string>(reply.rows[0].by->at("u")), "i");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(reply.rows[0].by->at("t")));
}

TEST(Keys, HaveTheirTitlesInRowsAndAmongTheSlowest) {
  ReadReply reply;
  reply.rows = {row_by({{"str(arg0)", std::string{"a"}}}),
                row_by({{"str(arg1)", std::string{"b"}}}), row_by({{"tid", uint64_t{7}}})};
  SlowPart slow;
  slow.by = {{"str(arg0)", std::string{"c"}}};
  LatencyPart latency;
  latency.slowest = {slow};
  reply.latencies = {latency};
  const ReadReply shown = titled(reply, {{"str(arg0)", "path"}, {"str(arg1)", "path"}});
  EXPECT_EQ(std::get<std::string>(shown.rows[0].by->at("path")), "a");
  EXPECT_EQ(std::get<std::string>(shown.rows[1].by->at("path")), "b");
  EXPECT_TRUE(shown.rows[2].by->contains("tid"));
  EXPECT_EQ(shown.latencies->at(0).slowest[0].by.begin()->first, "path");
}
