// SPDX-License-Identifier: BSD-2-Clause
//
// Makes the commands of a recipe from the values of its options.
#include <algorithm>
#include <cmath>

#include "client/options/duration.h"
#include "client/recipes/recipes.h"

namespace tracectl {
namespace {

bool takes(const Recipe& recipe, const std::string& option) {
  return std::any_of(recipe.parameters.begin(), recipe.parameters.end(),
                     [&](const RecipeParameter& parameter) { return parameter.option == option; });
}

std::string options_text(const Recipe& recipe) {
  if (recipe.parameters.empty()) return "it has no options of its own";
  std::string text = "it has";
  for (const RecipeParameter& parameter : recipe.parameters) text += " --" + parameter.option;
  return text;
}

Error refused(const std::string& option, const std::string& message) {
  return Error{Code::invalid, message, option};
}

Result<std::string> written(const RecipeOption& option, const std::string& value) {
  if (option.kind == RecipeOption::Kind::text) return value;
  const auto seconds = parse_duration(value);
  if (!seconds) return refused(option.name, "--" + option.name + ": " + check_duration(value));
  return std::to_string(std::llround(*seconds * 1e9));
}

Error missing(const Recipe& recipe, const RecipeOption& option) {
  return refused(option.name, recipe.name + " needs --" + option.name + " " + option.value + ": " +
                                  option.tells);
}

// An option's value: as given, or its default, or if it may be missing the placeholder of usage texts.
Result<std::string> value_of(const Recipe& recipe, const RecipeParameter& parameter,
                             const RecipeValues& given, bool needs_all) {
  const RecipeOption& option = recipe_option(parameter.option);
  const auto found = given.find(option.name);
  if (found != given.end()) return written(option, found->second);
  if (parameter.fallback) return written(option, *parameter.fallback);
  if (needs_all) return missing(recipe, option);
  return option.value;
}

// The values to be written into the recipe's commands.
Result<RecipeValues> all_values(const Recipe& recipe, const RecipeValues& given, bool needs_all) {
  for (const auto& [name, value] : given)
    if (!takes(recipe, name))
      return refused(name, recipe.name + " takes no --" + name + "; " + options_text(recipe));
  RecipeValues values;
  for (const RecipeParameter& parameter : recipe.parameters) {
    auto value = value_of(recipe, parameter, given, needs_all);
    if (!value) return value.error();
    values[parameter.option] = std::move(*value);
  }
  return values;
}

std::string filled(std::string word, const RecipeValues& values) {
  for (const auto& [name, value] : values) {
    const std::string place = "{" + name + "}";
    for (size_t at = 0; (at = word.find(place, at)) != std::string::npos; at += value.size())
      word.replace(at, place.size(), value);
  }
  return word;
}

}  // namespace

Result<std::vector<Words>> filled_commands(const Recipe& recipe, const RecipeCommands& commands,
                                           const RecipeValues& given, bool needs_all) {
  auto values = all_values(recipe, given, needs_all);
  if (!values) return values.error();
  std::vector<Words> with_values = commands;
  for (Words& words : with_values)
    for (std::string& word : words) word = filled(std::move(word), *values);
  return with_values;
}

}  // namespace tracectl
