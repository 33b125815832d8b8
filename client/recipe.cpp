// SPDX-License-Identifier: BSD-2-Clause
//
// recipe list and recipe show. main.cpp runs recipes, because it parses their commands as command lines.
#include <algorithm>

#include "client/output/output.h"
#include "client/recipes/recipes.h"
#include "client/render/table.h"
#include "client/verbs.h"
#include "daemon/protocol/messages/recipes.h"

namespace tracectl {
namespace {

using namespace protocol;

RecipeOptionPart part_of(const RecipeParameter& parameter) {
  const RecipeOption& option = recipe_option(parameter.option);
  return {.name = option.name,
          .value = option.value,
          .fallback = parameter.fallback,
          .tells = option.tells};
}

Result<RecipePart> part_of(const Recipe& recipe, const RecipeValues& values) {
  auto commands = commands_of(recipe, values, false);
  if (!commands) return commands.error();
  RecipePart part{.name = recipe.name, .tells = recipe.tells, .needs = recipe.needs};
  for (const RecipeParameter& parameter : recipe.parameters)
    part.options.push_back(part_of(parameter));
  for (const Words& words : *commands) part.commands.push_back("tracectl " + shell_text(words));
  return part;
}

std::string list_text(const RecipesPart& list) {
  Table table({{"RECIPE"}, {"WHAT IT TELLS"}});
  for (const RecipePart& recipe : list.recipes) table.add({recipe.name, recipe.tells});
  return table.text();
}

std::string options_text(const std::vector<RecipeOptionPart>& options) {
  size_t width = 0;
  for (const RecipeOptionPart& option : options)
    width = std::max(width, option.name.size() + option.value.size());
  std::string text;
  for (const RecipeOptionPart& option : options)
    text += "  --" + option.name + " " + option.value +
            std::string(width - option.name.size() - option.value.size() + 2, ' ') + option.tells +
            (option.fallback ? "; " + *option.fallback + " if not given\n" : "; must be given\n");
  return text;
}

std::string recipe_text(const RecipePart& recipe) {
  std::string text = recipe.name + ": " + recipe.tells + "\nneeds: " + recipe.needs + "\n";
  if (!recipe.options.empty()) text += "options:\n" + options_text(recipe.options);
  text += recipe.commands.size() == 1 ? "the same as\n" : "the same, in one session, as\n";
  for (const std::string& command : recipe.commands) text += "  " + command + "\n";
  return text;
}

}  // namespace

int run_recipe_list(const CommonOptions& common) {
  RecipesPart list;
  for (const Recipe& recipe : all_recipes()) {
    auto part = part_of(recipe, {});
    if (!part) return fail(part.error());
    list.recipes.push_back(std::move(*part));
  }
  show<RecipesPart>(common, list, list_text);
  return kDone;
}

int run_recipe_show(const CommonOptions& common, const std::string& name,
                    const RecipeValues& values) {
  auto recipe = find_recipe(name);
  if (!recipe) return fail(recipe.error());
  auto part = part_of(**recipe, values);
  if (!part) return fail(part.error());
  show<RecipePart>(common, *part, recipe_text);
  return kDone;
}

}  // namespace tracectl
