// SPDX-License-Identifier: BSD-2-Clause
//
// The JSON output of `tracectl recipe`; no method has these. The rules for such structs:
// daemon/protocol/messages.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracectl::protocol {

struct RecipeOptionPart {
  std::string name;                          // without the dashes
  std::string value;                         // placeholder of its value in usage texts
  std::optional<std::string> fallback = {};  // none: it must be given
  std::string tells;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("name", s.name);
    f("value", s.value);
    f("default", s.fallback);
    f("tells", s.tells);
  }
};
// Other commands, for targets in which the probe has so many arguments.
struct RecipeVariantPart {
  std::string of;  // what such targets are
  std::string probe;
  uint64_t arguments = 0;
  std::vector<std::string> commands;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("of", s.of);
    f("probe", s.probe);
    f("arguments", s.arguments);
    f("commands", s.commands);
  }
};
// The commands are quoted for a shell, and have no target. A required option that was not given appears as
// its `value`.
struct RecipePart {
  std::string name;
  std::string tells;
  std::string needs;
  std::vector<RecipeOptionPart> options = {};
  std::vector<std::string> commands = {};
  std::vector<RecipeVariantPart> variants = {};
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("name", s.name);
    f("tells", s.tells);
    f("needs", s.needs);
    f("options", s.options);
    f("commands", s.commands);
    f("variants", s.variants);
  }
};
struct RecipesPart {
  std::vector<RecipePart> recipes;
  template <class Self, class F> static void fields(Self& s, F&& f) { f("recipes", s.recipes); }
};

}  // namespace tracectl::protocol
