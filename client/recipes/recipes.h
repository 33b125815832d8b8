// SPDX-License-Identifier: BSD-2-Clause
//
// Recipes: named, ready-made specs. A recipe is one or several ordinary command lines of tracectl, whose
// settings take effect together, in one session; {name} in them is replaced by the value of the option
// --name. All recipes are in recipes.cpp, and no other code depends on a particular one.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/options/shell_text.h"
#include "client/render/keys.h"
#include "daemon/base/result.h"

namespace tracectl {

struct RecipeOption {
  enum class Kind { time, text };  // how a value is written into a command: in ns, or as it is
  std::string name;
  std::string value;  // the name of the value in usage texts
  Kind kind;
  std::string tells;
};

// An option that a recipe takes.
struct RecipeParameter {
  std::string option;
  std::optional<std::string> fallback;  // none: it must be given
};

using RecipeCommands = std::vector<std::vector<std::string>>;

// Other commands, for targets in which this USDT probe has so many arguments. The first has the verb of the
// recipe's own first.
struct RecipeVariant {
  std::string of;  // what such targets are
  std::string probe;
  size_t arguments;
  RecipeCommands commands;
  std::vector<KeyView> keys;
};

struct Recipe {
  std::string name;
  std::string tells;
  std::string needs;  // requirements on the target
  RecipeCommands commands;
  // The commands are for different targets: those whose probes the target does not have are left out.
  bool is_any_of = false;
  std::vector<RecipeParameter> parameters = {};
  std::vector<KeyView> keys = {};
  std::vector<RecipeVariant> variants = {};
};

using RecipeValues = std::map<std::string, std::string>;  // by the names of options

std::span<const Recipe> all_recipes();
std::span<const RecipeOption> all_recipe_options();
const RecipeOption& recipe_option(const std::string& name);

Result<const Recipe*> find_recipe(const std::string& name);

// Commands of the recipe, its own or those of a variant, with these values, and defaults for the others. Refuses
// unknown options and invalid values; if `needs_all` is false, required options may be missing.
Result<std::vector<Words>> filled_commands(const Recipe& recipe, const RecipeCommands& commands,
                                           const RecipeValues& values, bool needs_all = true);

}  // namespace tracectl
