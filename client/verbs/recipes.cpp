// SPDX-License-Identifier: BSD-2-Clause
#include <map>

#include "client/output/output.h"
#include "client/recipes/recipes.h"
#include "client/verbs/all.h"
#include "client/verbs/command_line.h"
#include "client/verbs/tracing.h"

namespace tracectl {
namespace {

// The recipe's name, and values for it.
class RecipeChoice {
 public:
  void add_options(Grammar& grammar) {
    grammar.option("NAME", name, "of the recipe").required();
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
  int run(const CommonOptions& common) override { return run_recipe_list(common); }
};

class ShowRecipe final : public Verb {
 public:
  void add_options(Grammar& grammar) override { choice_.add_options(grammar); }
  int run(const CommonOptions& common) override {
    return run_recipe_show(common, choice_.name, choice_.values());
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
    auto commands = commands_of(**recipe, choice_.values());
    if (!commands) return fail(commands.error());
    std::vector<CommandLine> lines(commands->size());  // not reallocated while read
    for (size_t i = 0; i < lines.size(); ++i) {
      if (auto status = read((*commands)[i], lines[i])) return *status;
      take_run_options(*lines[i].chosen->traced());
    }
    TraceOptions& first = *lines[0].chosen->traced();
    for (size_t i = 1; i < lines.size(); ++i) first.beside.push_back(*lines[i].chosen->traced());
    first.any_of = (*recipe)->is_any_of;
    first.keys = (*recipe)->keys;
    return lines[0].chosen->run(common);
  }

 private:
  // Passes the options of `recipe run` to a command: target, duration and so on.
  void take_run_options(TraceOptions& to) const {
    std::vector<std::string> patterns = std::move(to.probes.patterns);
    to.probes = trace_.probes;
    to.probes.patterns = std::move(patterns);
    to.seconds = trace_.seconds;
    to.rows = trace_.rows;
    to.budget = trace_.budget;
    to.partial |= trace_.partial;
    to.dry_run = trace_.dry_run;
  }

  RecipeChoice choice_;
};

}  // namespace

void add_recipes(Grammar grammar) {
  Grammar recipe = grammar.group("recipe", "ready specs for common questions: list, show, run");
  recipe.verb<ListRecipes>("list", "all recipes");
  recipe.verb<ShowRecipe>("show", "what one needs and does, as ordinary commands");
  recipe.verb<RunRecipe>("run", "carry one out, until ^C or the targets end");
}

}  // namespace tracectl
