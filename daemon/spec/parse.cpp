// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/spec/parse.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "bpf/abi.h"
#include "daemon/base/nearest.h"
#include "daemon/spec/check.h"
#include "daemon/spec/cursor.h"
#include "daemon/spec/parse_expr.h"

namespace tracectl {
namespace {

static_assert(Spec::kMostValues == TC_MAX_ARGS);
static_assert(Spec::kMostTriggers == TC_MAX_TRIGGERS && Spec::kMostTagBytes == TC_TAG_LEN - 1);

constexpr size_t kMostNameBytes = 64;  // of a session's name

constexpr const char* kActions =
    "event, event(E, ...), return, split, graph, graph(N), syscalls, stack, stack(N), count, time, "
    "sum(E), avg(E), "
    "min(E), max(E), "
    "hist(E), lhist(E, MIN, MAX, STEP), by KEY, sample(N), limit(N), deepest, tag(\"T\"), silent, "
    "silent(off), trigger(SESSION), trigger(SESSION, off)";

// Only tag and stack are also names of values, so what follows a comma after a key is unambiguous.
constexpr std::array kActionNames = std::to_array<std::string_view>(
    {"event",  "return", "split",   "syscalls", "graph",  "stack",  "count",
     "time",   "sum",    "avg",     "min",      "max",    "hist",   "lhist",
     "sample", "limit",  "deepest", "tag",      "silent", "trigger"});

bool is_whole_stack(const Expr& key) {
  return key.kind == Expr::Kind::operand && key.operand == Operand::stack;
}

bool is_action(const Token& token) {
  return token.kind == Token::Kind::word &&
         std::find(kActionNames.begin(), kActionNames.end(), token.text) != kActionNames.end();
}

// Times of a graph's calls, by the calls around them.
bool sums_by_path(const Spec& spec) {
  return spec.aggregates.size() == 1 && spec.aggregates[0].kind == Aggregate::Kind::time &&
         spec.aggregates[0].by.size() == 1 && has_path_keys(spec);
}

class SpecParser {
 public:
  explicit SpecParser(Cursor cursor) : cursor_(std::move(cursor)) {}

  // ACTION[, ACTION...]
  Result<Spec> spec() {
    do {
      if (Status status = action(); !status) return status.error();
    } while (cursor_.take_if(Token::Kind::comma));
    if (!cursor_.at(Token::Kind::end)) return unexpected_behind_action();
    if (spec_.graph) return graph_alone();
    if (has_path_keys(spec_))
      return cursor_.error(path_,
                           "path is a key of what calls of a graph took: graph, time by path");
    if (spec_.syscalls)
      return cursor_.error(syscalls_,
                           "syscalls are shown within the calls of a graph: graph, syscalls");
    if (spec_.split && !has_durations()) return split_alone();
    if (spec_.deepest && (spec_.sample || spec_.limit)) return deepest_alone();
    bool acts = spec_.event || !spec_.aggregates.empty() || spec_.tag || spec_.silent ||
                !spec_.triggers.empty();
    if (!acts || spec_.returns || spec_.stack) spec_.event = true;
    return std::move(spec_);
  }

  // KEY[, KEY...]
  Result<std::vector<Expr>> only_keys() {
    std::vector<Expr> by;
    const Token first = cursor_.here();
    if (Status status = keys(by); !status) return status.error();
    if (!cursor_.at(Token::Kind::end)) return cursor_.unexpected("a comma or the end");
    if (by.empty()) return cursor_.error(first, "the probes differ: they match by other keys only");
    return by;
  }

 private:
  Status action() {
    const Token name = cursor_.here();
    if (!is_action(name)) return no_action();
    cursor_.take();
    if (auto kind = aggregate_named(name.text)) return aggregate(name, *kind);
    if (name.text == "event") return event(name);
    if (name.text == "return") return returns(name);
    if (name.text == "split") return split(name);
    if (name.text == "syscalls") return syscalls(name);
    if (name.text == "graph") return graph(name);
    if (name.text == "stack") return stack(name);
    if (name.text == "sample") return number(name, spec_.sample);
    if (name.text == "limit") return number(name, spec_.limit);
    if (name.text == "deepest") return deepest(name);
    if (name.text == "tag") return tag(name);
    if (name.text == "trigger") return trigger(name);
    return silent(name);
  }

  // event or event(E, ...)
  Status event(const Token& name) {
    if (spec_.event) return twice(name);
    spec_.event = true;
    if (!cursor_.take_if(Token::Kind::open)) return ok();
    do {
      if (Status status = event_value(); !status) return status;
    } while (cursor_.take_if(Token::Kind::comma));
    return cursor_.expect(Token::Kind::close, "\")\"");
  }

  // Streams an event of the return, besides that of the hit.
  Status returns(const Token& name) {
    return std::exchange(spec_.returns, true) ? twice(name) : ok();
  }

  Status split(const Token& name) {
    split_ = name;
    return std::exchange(spec_.split, true) ? twice(name) : ok();
  }

  Status syscalls(const Token& name) {
    syscalls_ = name;
    return std::exchange(spec_.syscalls, true) ? twice(name) : ok();
  }

  bool has_durations() const {
    return spec_.returns ||
           std::any_of(spec_.aggregates.begin(), spec_.aggregates.end(),
                       [](const Aggregate& one) { return one.kind == Aggregate::Kind::time; });
  }

  Error split_alone() const {
    return cursor_.error(
        split_,
        "split shows the parts of durations, and nothing here has one: time, return "
        "and graph have");
  }

  Status deepest(const Token& name) {
    deepest_ = name;
    return std::exchange(spec_.deepest, true) ? twice(name) : ok();
  }

  // A hit that sample or limit leaves out could be the deepest so far.
  Error deepest_alone() const {
    return cursor_.error(deepest_,
                         "beside deepest there is no sample and no limit: each hit that is "
                         "deeper than all before is taken");
  }

  // graph or graph(N)
  Status graph(const Token& name) {
    if (std::exchange(spec_.graph, true)) return twice(name);
    graph_ = name;
    if (!cursor_.take_if(Token::Kind::open)) return ok();
    const Token at = cursor_.here();
    auto levels = cursor_.integer("how many levels of calls, an integer,");
    if (!levels) return levels.error();
    if (*levels == 0 || *levels > Spec::kMostGraphDepth)
      return cursor_.error(
          at, "a graph has 1 to " + std::to_string(Spec::kMostGraphDepth) + " levels of calls");
    spec_.graph_depth = static_cast<uint32_t>(*levels);
    return cursor_.expect(Token::Kind::close, "\")\"");
  }

  // A graph is of many functions, and other actions are of one.
  Result<Spec> graph_alone() {
    Spec alone;
    alone.graph = true;
    alone.graph_depth = spec_.graph_depth;
    alone.event = spec_.event;
    alone.split = spec_.split;
    alone.syscalls = spec_.syscalls;
    if (spec_.syscalls && !has_events(spec_))
      return cursor_.error(syscalls_,
                           "system calls are events, and this graph has none: add event");
    if (sums_by_path(spec_)) alone.aggregates = spec_.aggregates;
    alone.sample = spec_.sample;
    alone.limit = spec_.limit;
    if (alone == spec_) return std::move(spec_);
    return cursor_.error(graph_,
                         "beside graph there may be event, split, syscalls, time by path, sample "
                         "and limit; stage what "
                         "else is wanted as a setting of another session");
  }

  Status event_value() {
    if (spec_.values.size() == Spec::kMostValues)
      return cursor_.error_here("an event has " + std::to_string(Spec::kMostValues) +
                                " values at most");
    auto value = parse_expr(cursor_);
    if (!value) return value.error();
    if (auto type = check_value(*value, in_text()); !type) return type.error();
    spec_.values.push_back(*std::move(value));
    return ok();
  }

  // stack, stack(N), stack(HOW), stack(N, HOW)
  Status stack(const Token& name) {
    if (spec_.stack) return twice(name);
    spec_.stack.emplace();
    if (!cursor_.take_if(Token::Kind::open)) return ok();
    if (!cursor_.at(Token::Kind::word)) {
      if (Status status = frames(spec_.stack->most_frames); !status) return status;
      if (!cursor_.take_if(Token::Kind::comma)) return cursor_.expect(Token::Kind::close, "\")\"");
    }
    if (Status status = stack_by(*spec_.stack); !status) return status;
    return cursor_.expect(Token::Kind::close, "\")\"");
  }

  Status frames(unsigned& to) {
    const Token at = cursor_.here();
    auto value = cursor_.integer("how many frames, an integer,");
    if (!value) return value.error();
    if (*value == 0 || *value > kMostFrames)
      return cursor_.error(at, "a stack has 1 to " + std::to_string(kMostFrames) + " frames");
    to = static_cast<unsigned>(*value);
    return ok();
  }

  Status stack_by(StackCapture& stack) {
    stack.by = stack_by_named(cursor_.here().text);
    if (!stack.by)
      return cursor_.error_here(
          "how the stack is found is missing here: frame_pointers or "
          "unwind_tables");
    cursor_.take();
    return ok();
  }

  // NAME(E) [by KEY, ...], where count has no E and lhist has more
  Status aggregate(const Token& name, Aggregate::Kind kind) {
    Aggregate aggregate{.kind = kind};
    if (spec_.aggregates.size() == Spec::kMostAggregates)
      return cursor_.error(name, std::to_string(Spec::kMostAggregates) + " aggregates at most");
    if (kind != Aggregate::Kind::count && kind != Aggregate::Kind::time)
      if (Status status = aggregate_value(name, aggregate); !status) return status;
    if (kind == Aggregate::Kind::count && cursor_.take_if(Token::Kind::open))  // as in bpftrace
      if (Status closed = cursor_.expect(Token::Kind::close, "\")\""); !closed) return closed;
    if (cursor_.take_word("by"))
      if (Status status = keys(aggregate.by); !status) return status;
    const auto& all = spec_.aggregates;
    if (const auto why = why_not_beside(aggregate, all)) return cursor_.error(name, *why);
    if (std::find(all.begin(), all.end(), aggregate) != all.end()) return twice(name);
    spec_.aggregates.push_back(std::move(aggregate));
    return ok();
  }

  Status aggregate_value(const Token& name, Aggregate& aggregate) {
    if (Status status = open(name, "arg0"); !status) return status;
    auto value = parse_expr(cursor_);
    if (!value) return value.error();
    if (auto type = check_aggregated(*value, aggregate.kind, in_text()); !type) return type.error();
    aggregate.value = *std::move(value);
    if (aggregate.kind == Aggregate::Kind::lhist)
      if (Status status = buckets(aggregate); !status) return status;
    return cursor_.expect(Token::Kind::close, "\")\"");
  }

  // The rest of lhist's parameters: , MIN, MAX, STEP
  Status buckets(Aggregate& lhist) {
    if (Status status = bound("MIN", lhist.min); !status) return status;
    const Token max = cursor_.next();
    if (Status status = bound("MAX", lhist.max); !status) return status;
    if (lhist.max <= lhist.min) return cursor_.error(max, "MAX must be greater than MIN");
    const Token step = cursor_.next();
    if (Status status = bound("STEP", lhist.step); !status) return status;
    if (lhist.step <= 0) return cursor_.error(step, "STEP must be 1 at least");
    const auto span = static_cast<uint64_t>(lhist.max) - static_cast<uint64_t>(lhist.min);
    if ((span - 1) / static_cast<uint64_t>(lhist.step) < Aggregate::kMostBuckets) return ok();
    return cursor_.error(step, "a histogram has " + std::to_string(Aggregate::kMostBuckets) +
                                   " buckets at most; take a greater STEP");
  }

  Status bound(const std::string& name, int64_t& to) {
    const std::string what = "lhist(E, MIN, MAX, STEP)";
    if (Status status = cursor_.expect(Token::Kind::comma, "\", " + name + "\" of " + what);
        !status)
      return status;
    auto value = cursor_.signed_integer(name + ", an integer,");
    if (!value) return value.error();
    to = *value;
    return ok();
  }

  // A comma continues the keys unless an action follows it.
  Status keys(std::vector<Expr>& by) {
    if (is_action_ahead(0) || cursor_.at(Token::Kind::end))
      return cursor_.error_here("a key is missing behind by: by pid, by arg0, by str(arg1)");
    bool by_probe = false;
    while (true) {
      if (Status status = key(by, by_probe); !status) return status;
      bool more = cursor_.at(Token::Kind::comma) && !is_action_ahead(1) &&
                  cursor_.next().kind != Token::Kind::end;
      if (!more) return ok();
      cursor_.take();
    }
  }

  // `tag` is a value, or with a parenthesis an action. `stack` after a key is one more key: the
  // action comes before.
  bool is_action_ahead(size_t tokens) const {
    const Token& token = cursor_.next(tokens);
    const bool is_value = token.text == "tag" && cursor_.next(tokens + 1).kind != Token::Kind::open;
    return is_action(token) && !is_value && token.text != "stack";
  }

  // Rows are always by probe, so naming it has no effect.
  Status key(std::vector<Expr>& by, bool& by_probe) {
    const Token first = cursor_.here();
    if (cursor_.take_word("probe")) return std::exchange(by_probe, true) ? twice(first) : ok();
    auto expr = parse_expr(cursor_, kActionNames);
    if (!expr) return expr.error();
    auto type = check_key(*expr, in_text());
    if (!type) return type.error();
    if (is_path(*type)) path_ = first;
    if (std::find(by.begin(), by.end(), *expr) != by.end()) return twice(first);
    if (is_whole_stack(*expr) && std::any_of(by.begin(), by.end(), is_whole_stack))
      return twice(first);
    if (by.size() == Aggregate::kMostKeys)
      return cursor_.error(first, std::to_string(Aggregate::kMostKeys) + " keys at most");
    by.push_back(*std::move(expr));
    return ok();
  }

  // sample(N) and limit(N)
  Status number(const Token& name, std::optional<uint64_t>& to) {
    if (to) return twice(name);
    if (Status status = open(name, "10"); !status) return status;
    const Token at = cursor_.here();
    auto value = cursor_.integer("an integer");
    if (!value) return value.error();
    if (*value == 0) return cursor_.error(at, std::string{name.text} + " takes 1 or more");
    to = *value;
    return cursor_.expect(Token::Kind::close, "\")\"");
  }

  Status tag(const Token& name) {
    if (spec_.tag) return twice(name);
    if (Status status = open(name, "\"T\""); !status) return status;
    auto text = cursor_.quoted("a text in quotes", Spec::kMostTagBytes);
    if (!text) return text.error();
    spec_.tag = *std::move(text);
    return cursor_.expect(Token::Kind::close, "\")\"");
  }

  // silent or silent(off)
  Status silent(const Token& name) {
    if (spec_.silent) return twice(name);
    spec_.silent = true;
    if (!cursor_.take_if(Token::Kind::open)) return ok();
    if (!cursor_.take_word("off"))
      return cursor_.error_here("off is missing here: silent(off) ends what silent began");
    spec_.silent = false;
    return cursor_.expect(Token::Kind::close, "\")\"");
  }

  // trigger(SESSION) or trigger(SESSION, off)
  Status trigger(const Token& name) {
    if (spec_.triggers.size() == Spec::kMostTriggers)
      return cursor_.error(name, std::to_string(Spec::kMostTriggers) + " triggers at most");
    if (Status status = open(name, "SESSION"); !status) return status;
    auto session = session_name();
    if (!session) return session.error();
    const bool known = std::any_of(spec_.triggers.begin(), spec_.triggers.end(),
                                   [&](const Trigger& one) { return one.session == *session; });
    if (known)
      return cursor_.error(
          name, "a hit triggers a session once; it has a trigger of \"" + *session + "\" already");
    Trigger& trigger = spec_.triggers.emplace_back(Trigger{*std::move(session)});
    if (cursor_.take_if(Token::Kind::comma)) {
      if (!cursor_.take_word("off"))
        return cursor_.error_here("off is missing here: trigger(SESSION, off) silences it");
      trigger.speaks = false;
    }
    return cursor_.expect(Token::Kind::close, "\")\"");
  }

  Result<std::string> session_name() {
    if (cursor_.at(Token::Kind::word)) return std::string{cursor_.take().text};
    return cursor_.quoted("the name of a session, in quotes if it is no plain word,",
                          kMostNameBytes);
  }

  Status open(const Token& name, const std::string& example) {
    if (cursor_.take_if(Token::Kind::open)) return ok();
    const std::string text{name.text};
    return cursor_.error(name, text + " needs parentheses: " + text + "(" + example + ")");
  }

  Error no_action() const {
    const Token& token = cursor_.here();
    if (token.kind != Token::Kind::word)
      return cursor_.error_here(std::string{"an action is missing here: "} + kActions);
    const bool prints = token.text == "print" || token.text == "printf";
    return cursor_.error_here(
        "unknown action \"" + std::string{token.text} + "\": " + kActions +
        (prints ? "; event(E, ...) shows values" : did_you_mean(token.text, kActionNames)));
  }

  Error unexpected_behind_action() const {
    const std::string text{cursor_.here().text};
    return cursor_.error_here("\"" + text + "\" is not expected here" +
                              did_you_mean(cursor_.here().text, {"by"}));
  }

  Error twice(const Token& token) const {
    return cursor_.error(token, std::string{token.text} + " stands here twice");
  }

  CheckAgainst in_text() const { return {.text = cursor_.text()}; }

  Cursor cursor_;
  Spec spec_;
  Token graph_, deepest_, split_, syscalls_;  // the place of each
  Token path_;                                // the place of this key
};

// Escapes and spaces can make the canonical text longer than the one that was read.
Status check_length(std::string_view text, const std::string& canonical) {
  if (canonical.size() <= kMostSpecBytes) return ok();
  return error_at(
      text, 0, "written in full this has more than " + std::to_string(kMostSpecBytes) + " bytes");
}

Result<Expr> condition(Cursor cursor) {
  auto expr = parse_expr(cursor);
  if (!expr) return expr.error();
  if (!cursor.at(Token::Kind::end)) return cursor.unexpected("an operator or the end");
  if (auto type = check_integer(*expr, {.text = cursor.text()}); !type) return type.error();
  return expr;
}

}  // namespace

Result<Spec> parse_spec(std::string_view text) {
  auto tokens = lex(text);
  if (!tokens) return tokens.error();
  auto spec = SpecParser{Cursor{text, *std::move(tokens)}}.spec();
  if (!spec) return spec;
  if (Status fits = check_length(text, to_string(*spec)); !fits) return fits.error();
  return spec;
}

Result<std::vector<Expr>> parse_keys(std::string_view text) {
  auto tokens = lex(text);
  if (!tokens) return tokens.error();
  auto keys = SpecParser{Cursor{text, *std::move(tokens)}}.only_keys();
  if (!keys) return keys;
  std::string canonical;
  for (const Expr& key : *keys) {
    if (is_stack(type_of(key, {})) || is_path(type_of(key, {})))
      return error_at(text, key.column,
                      to_string(key) + " is no key: the two probes are not hit by one call");
    if (waits_for_return(key))
      return error_at(text, key.column,
                      to_string(key) + " is no key: it is not known at the start");
    canonical += (canonical.empty() ? "" : ", ") + to_string(key);
  }
  if (Status fits = check_length(text, canonical); !fits) return fits.error();
  return keys;
}

Result<Expr> parse_condition(std::string_view text) {
  auto tokens = lex(text);
  if (!tokens) return tokens.error();
  auto expr = condition(Cursor{text, *std::move(tokens)});
  if (!expr) return expr;
  if (Status fits = check_length(text, to_string(*expr)); !fits) return fits.error();
  return expr;
}

}  // namespace tracectl
