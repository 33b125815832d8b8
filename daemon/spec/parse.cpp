// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/spec/parse.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/nearest.h"
#include "daemon/spec/lexer.h"

namespace tracectl {
namespace {

constexpr const char* kActions = "event, count, count by KEY";
constexpr const char* kKeys = "pid, tid";

std::optional<Key> key_of(const Token& token) {
  if (token.kind != Token::Kind::word) return std::nullopt;
  if (token.text == "pid") return Key::pid;
  if (token.text == "tid") return Key::tid;
  return std::nullopt;
}

class Parser {
 public:
  Parser(std::string_view text, std::vector<Token> tokens)
      : text_(text), tokens_(std::move(tokens)) {}

  // ACTION[, ACTION...]
  Result<Spec> spec() {
    do {
      if (Status status = action(); !status) return status.error();
    } while (take_comma());
    if (here().kind != Token::Kind::end) return unexpected_behind_action();
    return spec_;
  }

 private:
  Status action() {
    Token name = here();
    if (name.kind != Token::Kind::word) {
      return error(name, std::string{"an action is missing here: "} + kActions);
    }
    if (name.text == "event") return event();
    if (name.text == "count") return count();
    return error(name, "unknown action \"" + std::string{name.text} + "\": " + kActions +
                           did_you_mean(name.text, {"event", "count"}));
  }

  Status event() {
    if (spec_.event) return error(here(), "event stands here twice");
    spec_.event = true;
    at_++;
    return ok();
  }

  // count [by KEY[, KEY...]]
  Status count() {
    if (spec_.count) return error(here(), "count stands here twice");
    spec_.count = true;
    at_++;
    if (here().text != "by") return ok();
    at_++;
    return keys();
  }

  // A comma goes on with the keys only where a key follows it; else it begins the next action.
  Status keys() {
    if (Status status = key(); !status) return status;
    while (here().kind == Token::Kind::comma && key_of(tokens_[at_ + 1])) {
      at_++;
      if (Status status = key(); !status) return status;
    }
    return ok();
  }

  Status key() {
    auto key = key_of(here());
    if (!key) return unknown_key();
    if (std::find(spec_.by.begin(), spec_.by.end(), *key) != spec_.by.end()) {
      return error(here(), std::string{here().text} + " stands here twice");
    }
    spec_.by.push_back(*key);
    at_++;
    return ok();
  }

  Error unknown_key() const {
    if (here().kind != Token::Kind::word) {
      return error(here(), std::string{"a key is missing behind by: "} + kKeys);
    }
    return error(here(), "unknown key \"" + std::string{here().text} + "\": " + kKeys +
                             did_you_mean(here().text, {"pid", "tid"}));
  }

  Error unexpected_behind_action() const {
    return error(here(), "\"" + std::string{here().text} + "\" is not expected here" +
                             did_you_mean(here().text, {"by"}));
  }

  // The last token is `end`, and nothing steps over it.
  const Token& here() const { return tokens_[at_]; }

  bool take_comma() {
    bool comma = here().kind == Token::Kind::comma;
    if (comma) at_++;
    return comma;
  }

  Error error(const Token& token, std::string message) const {
    return error_at(text_, token.column, std::move(message));
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  Spec spec_;
};

}  // namespace

Result<Spec> parse_spec(std::string_view text) {
  auto tokens = lex(text);
  if (!tokens) return tokens.error();
  return Parser{text, *std::move(tokens)}.spec();
}

}  // namespace tracectl
