// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/output/output.h"
#include "client/recipes/recipes.h"
#include "client/render/table.h"
#include "client/verbs/all.h"
#include "client/verbs/command_line.h"
#include "client/verbs/shared_options.h"
#include "client/verbs/tracing_verb.h"
#include "daemon/protocol/messages/recipes.h"

namespace tracectl {
namespace {

using namespace protocol;

// ---- what recipes are ----

RecipeOptionPart part_of(const RecipeParameter& parameter) {
  const RecipeOption& option = recipe_option(parameter.option);
  return {.name = option.name,
          .value = option.value,
          .fallback = parameter.fallback,
          .tells = option.tells};
}

Result<std::vector<std::string>> command_texts(const Recipe& recipe, const RecipeCommands& commands,
                                               const RecipeValues& values) {
  auto filled = filled_commands(recipe, commands, values, false);
  if (!filled) return filled.error();
  std::vector<std::string> texts;
  for (const Words& words : *filled) texts.push_back("tracectl " + shell_text(words));
  return texts;
}

Result<RecipePart> part_of(const Recipe& recipe, const RecipeValues& values) {
  RecipePart part{.name = recipe.name, .tells = recipe.tells, .needs = recipe.needs};
  for (const RecipeParameter& parameter : recipe.parameters)
    part.options.push_back(part_of(parameter));
  auto texts = command_texts(recipe, recipe.commands, values);
  if (!texts) return texts.error();
  part.commands = std::move(*texts);
  for (const RecipeVariant& variant : recipe.variants) {
    auto others = command_texts(recipe, variant.commands, values);
    if (!others) return others.error();
    part.variants.push_back({variant.of, variant.probe, variant.arguments, std::move(*others)});
  }
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

std::string commands_text(const std::vector<std::string>& commands) {
  std::string text = commands.size() == 1 ? "the same as\n" : "the same, in one session, as\n";
  for (const std::string& command : commands) text += "  " + command + "\n";
  return text;
}

std::string recipe_text(const RecipePart& recipe) {
  std::string text = recipe.name + ": " + recipe.tells + "\nneeds: " + recipe.needs + "\n";
  if (!recipe.options.empty()) text += "options:\n" + options_text(recipe.options);
  text += commands_text(recipe.commands);
  for (const RecipeVariantPart& variant : recipe.variants)
    text += "where " + variant.probe + " has " + std::to_string(variant.arguments) +
            " arguments, as in " + variant.of + ", " + commands_text(variant.commands);
  return text;
}

// ---- the verbs ----

// The recipe's name, and values for it.
class RecipeChoice {
 public:
  void add_options(Grammar& grammar) {
    grammar.option("RECIPE", name, "its name").required();
    for (const RecipeOption& option : all_recipe_options())
      grammar.option("--" + option.name, values_[option.name], option.tells)
          .value_name(option.value);
  }
  RecipeValues values() const {
    RecipeValues given;
    for (const auto& [option, value] : values_)
      if (value) given[option] = *value;
    return given;
  }

  std::string name;

 private:
  std::map<std::string, std::optional<std::string>> values_;  // by option
};

class ListRecipes final : public Verb {
 public:
  int run(const CommonOptions& common) override {
    RecipesPart list;
    for (const Recipe& recipe : all_recipes()) {
      auto part = part_of(recipe, {});
      if (!part) return fail(part.error());
      list.recipes.push_back(std::move(*part));
    }
    show<RecipesPart>(common, list, list_text);
    return kDone;
  }
};

class ShowRecipe final : public Verb {
 public:
  void add_options(Grammar& grammar) override { choice_.add_options(grammar); }
  int run(const CommonOptions& common) override {
    auto recipe = find_recipe(choice_.name);
    if (!recipe) return fail(recipe.error());
    auto part = part_of(**recipe, choice_.values());
    if (!part) return fail(part.error());
    show<RecipePart>(common, *part, recipe_text);
    return kDone;
  }

 private:
  RecipeChoice choice_;
};

// Runs the recipe's commands as if they had been typed, in one session.
class RunRecipe final : public TracingVerb {
 public:
  void add_options(Grammar& grammar) override {
    choice_.add_options(grammar);
    add_target_options(grammar, trace_.probes);
    add_run_options(grammar);
    grammar.footer("As in: tracectl recipe run lock-waits -p 4711 --longer-than 1ms --for 10s\n");
    grammar.starts_command();
  }

  int run(const CommonOptions& common) override {
    auto recipe = find_recipe(choice_.name);
    if (!recipe) return fail(recipe.error());
    std::vector<CommandLine> lines;
    if (auto status = read_all(**recipe, (*recipe)->commands, (*recipe)->keys, lines))
      return *status;
    TraceOptions& first = *lines[0].chosen->traced();
    first.any_of = (*recipe)->is_any_of;
    first.needs = (*recipe)->name + " needs " + (*recipe)->needs;
    for (const RecipeVariant& variant : (*recipe)->variants) {
      std::vector<CommandLine> others;
      if (auto status = read_all(**recipe, variant.commands, variant.keys, others)) return *status;
      first.variants.push_back({variant.probe, variant.arguments, *others[0].chosen->traced()});
    }
    return lines[0].chosen->run(common);
  }

 private:
  // The first of the lines has the settings of all of them. Returns an exit status if there is nothing to run.
  std::optional<int> read_all(const Recipe& recipe, const RecipeCommands& commands,
                              const std::vector<KeyView>& keys, std::vector<CommandLine>& lines) {
    const auto filled = filled_commands(recipe, commands, choice_.values());
    if (!filled) return fail(filled.error());
    lines = std::vector<CommandLine>(filled->size());  // not reallocated while read
    for (size_t i = 0; i < lines.size(); ++i) {
      if (auto status = read((*filled)[i], lines[i])) return *status;
      take_run_options(*lines[i].chosen->traced());
    }
    TraceOptions& first = *lines[0].chosen->traced();
    for (size_t i = 1; i < lines.size(); ++i) first.beside.push_back(*lines[i].chosen->traced());
    first.keys = keys;
    return std::nullopt;
  }

  // Passes the options of `recipe run` to a command: target, duration and so on.
  void take_run_options(TraceOptions& to) const {
    std::vector<std::string> patterns = std::move(to.probes.patterns);
    to.probes = trace_.probes;
    to.probes.patterns = std::move(patterns);
    to.seconds = trace_.seconds;
    to.rows = trace_.rows;
    to.budget = trace_.budget;
    to.partial |= trace_.partial;
    to.yes = trace_.yes;
    to.strict = trace_.strict;
    to.dry_run = trace_.dry_run;
  }

  RecipeChoice choice_;
};

}  // namespace

void add_recipe(Grammar grammar) {
  Grammar recipe = grammar.group("recipe", "ready specs for common questions: list, show, run");
  recipe.verb<ListRecipes>("list", "all recipes");
  recipe.verb<ShowRecipe>("show", "what one needs and does, as ordinary commands");
  recipe.verb<RunRecipe>("run", "carry one out, until ^C or the targets end");
}

}  // namespace tracectl
