// SPDX-License-Identifier: BSD-2-Clause
//
// Ready specs under names. A recipe is one or several ordinary command lines of tracectl, whose
// settings are put in force together, as one session; where they have {name} the value of the option
// --name goes. All there are stand in recipes.cpp, and nothing else knows any one of them.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/render/keys.h"
#include "client/shell_text.h"
#include "daemon/base/result.h"

namespace tracectl {

struct RecipeOption {
  enum class Kind { time, text };  // how a value is written into a command: in ns, as it is
  std::string name;
  std::string value;  // as usage texts call it
  Kind kind;
  std::string tells;
};

// An option that a recipe takes.
struct RecipeParameter {
  std::string option;
  std::optional<std::string> fallback;  // none: it must be given
};

struct Recipe {
  std::string name;
  std::string tells;
  std::string needs;  // of the target
  std::vector<std::vector<std::string>> commands;
  // For different targets: those are left out whose probes the target does not have.
  bool is_any_of = false;
  std::vector<RecipeParameter> parameters = {};
  std::vector<KeyView> keys = {};
};

using RecipeValues = std::map<std::string, std::string>;  // by the names of options

std::span<const Recipe> all_recipes();
std::span<const RecipeOption> all_recipe_options();
const RecipeOption& recipe_option(const std::string& name);

Result<const Recipe*> find_recipe(const std::string& name);

// Its commands with these values and the defaults of the others. Refuses options that it does not
// take and values that are none; where `needs_all` is false, what must be given may be missing.
Result<std::vector<Words>> commands_of(const Recipe& recipe, const RecipeValues& values,
                                       bool needs_all = true);

}  // namespace tracectl
