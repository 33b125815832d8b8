// SPDX-License-Identifier: BSD-2-Clause
//
// What `tracectl recipe` prints as JSON; no method has these. The rules of such structs:
// daemon/protocol/messages.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tracectl::protocol {

struct RecipeOptionPart {
  std::string name;                          // without the dashes
  std::string value;                         // what stands for its value in a usage text
  std::optional<std::string> fallback = {};  // none: it must be given
  std::string tells;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("name", s.name);
    f("value", s.value);
    f("default", s.fallback);
    f("tells", s.tells);
  }
};
// The commands are as a shell reads them, without a target. An option that must be given and was not
// stands in them as `value` has it.
struct RecipePart {
  std::string name;
  std::string tells;
  std::string needs;
  std::vector<RecipeOptionPart> options = {};
  std::vector<std::string> commands = {};
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("name", s.name);
    f("tells", s.tells);
    f("needs", s.needs);
    f("options", s.options);
    f("commands", s.commands);
  }
};
struct RecipesPart {
  std::vector<RecipePart> recipes;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("recipes", s.recipes); }
};

}  // namespace tracectl::protocol
