// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/spec/assemble.h"

#include <algorithm>
#include <cstring>

#include "daemon/spec/compile.h"
#include "daemon/spec/lexer.h"
#include "daemon/spec/names.h"

namespace tracectl {
namespace {

constexpr uint32_t kWordsOfText = TC_STR_LEN / sizeof(uint64_t);

bool is_sum(Aggregate::Kind kind) {
  return kind == Aggregate::Kind::sum || kind == Aggregate::Kind::avg ||
         kind == Aggregate::Kind::min || kind == Aggregate::Kind::max;
}

bool is_text(ValueType type) {
  return !is_integer(type) && !is_float(type) && !is_cgroup_name(type) && !is_stack(type) &&
         !is_path(type);
}

uint16_t effects_of(const Spec& spec) {
  unsigned effects = (spec.tag ? TC_SET_TAG : 0) | (spec.learns_tags ? TC_LEARN_TAG : 0);
  if (spec.silent) effects |= *spec.silent ? TC_SILENCE : TC_UNSILENCE;
  if (spec.deepest) effects |= TC_DEEPEST;
  return static_cast<uint16_t>(effects);
}

// An operand that is returned as it is needs no code.
bool is_operand(const ExprCode& code) {
  if (code.insns.size() != 1 || is_text(code.type)) return false;
  const uint8_t from = code.insns[0].a_from;
  return from != TC_FROM_REGISTER && from != TC_FROM_IMMEDIATE;
}

class Assembler {
 public:
  // `side` is the spec's side of a pair, or null.
  Assembler(const Arguments& arguments, const PairSide* side)
      : arguments_(arguments), side_(side) {}

  Status take(const Spec& spec) {
    out_->kernel.sample = spec.sample.value_or(0);
    out_->kernel.limit = spec.limit.value_or(0);
    out_->is_rated = spec.sample || spec.limit;
    out_->follows_calls = !side_ && follows_calls(spec);
    out_->kernel.at_return = side_ ? at_match(spec) : at_return(spec);
    all_at_return_ = side_ || is_all_at_return(spec);
    splits_ = spec.split;
    if (side_)
      if (auto matched = match_by(); !matched) return matched;
    if (auto kept = check_kept(spec); !kept) return kept;
    if (spec.deepest && all_at_return_)
      return Error{Code::unsupported,
                   "deepest is about where calls begin, and this condition is known at their end"};
    out_->kernel.effects = effects_of(spec);
    out_->kernel.graph_depth = spec.graph_depth.value_or(0);
    if (auto stacked = stack(spec); !stacked) return stacked;
    if (spec.when)
      if (auto taken = condition(*spec.when); !taken) return taken;
    if (spec.keep_if)
      if (auto taken = keep_if(*spec.keep_if); !taken) return taken;
    for (const Expr& value : spec.values)
      if (auto taken = record_value(value); !taken) return taken;
    if (!side_ && shows_text(spec, arguments_))
      if (auto taken = record_arguments(); !taken) return taken;
    for (size_t i = 0; i < spec.aggregates.size(); ++i)
      if (auto taken = aggregate(spec.aggregates[i], i); !taken) return taken;
    return ok();
  }

  std::unique_ptr<AssembledSpec> result() && { return std::move(out_); }

 private:
  static uint32_t at_return(const Spec& spec) {
    uint32_t flags = 0;
    if (is_all_at_return(spec)) flags |= TC_CONDITION_AT_RETURN;
    if (is_event_at_return(spec)) flags |= TC_EVENT_AT_RETURN;
    if (spec.returns || (spec.graph && has_events(spec))) flags |= TC_RETURN_EVENT;
    if (has_path_keys(spec)) flags |= TC_KEEP_PATH;
    if (keeps_arguments(spec)) flags |= TC_KEEP_ARGS;
    if (spec.keep_if) flags |= TC_KEEP_IF;
    if (splits_durations(spec)) flags |= TC_SPLIT;
    if (spec.syscalls) flags |= TC_SYSCALLS;
    return flags;
  }

  static uint32_t at_match(const Spec& spec) {
    return TC_CONDITION_AT_RETURN | (spec.event ? TC_EVENT_AT_RETURN : 0) |
           (uses_arguments(spec) ? TC_KEEP_ARGS : 0) | (splits_durations(spec) ? TC_SPLIT : 0);
  }

  // The keys belong to no aggregate.
  Status match_by() {
    AggregateMeaning meaning;
    out_->kernel.pair = side_->number;
    out_->kernel.pair_sides = side_->sides;
    Aggregate one;
    one.by = *side_->by;
    auto keyed = keys(one, out_->kernel.matched_by, meaning);
    out_->matched_by = std::move(meaning.by);
    return keyed;
  }

  // Only the first arguments are kept for the return.
  Status check_kept(const Spec& spec) const {
    if (all_at_return_ && spec.when)
      if (auto kept = check_kept(*spec.when, *spec.when); !kept) return kept;
    if (spec.keep_if)
      if (auto kept = check_kept(*spec.keep_if, *spec.keep_if); !kept) return kept;
    for (const Expr& value : spec.values)
      if (all_at_return_ || is_event_at_return(spec))
        if (auto kept = check_kept(value, value); !kept) return kept;
    for (const Aggregate& one : spec.aggregates) {
      if (!all_at_return_ && !waits_for_return(one)) continue;
      if (one.value)
        if (auto kept = check_kept(*one.value, *one.value); !kept) return kept;
      for (const Expr& key : one.by)
        if (auto kept = check_kept(key, key); !kept) return kept;
    }
    return ok();
  }

  static Status check_kept(const Expr& part, const Expr& whole) {
    const bool is_arg = part.kind == Expr::Kind::operand &&
                        (part.operand == Operand::arg || part.operand == Operand::symbol);
    if (is_arg && part.number >= TC_CALL_ARGS)
      return error_at(
          to_string(whole), column_of(part, whole),
          "only the first " + std::to_string(int{TC_CALL_ARGS}) +
              " arguments are kept until the call returns, and symbols count as further ones");
    if (part.kind == Expr::Kind::operand && part.operand == Operand::stack_bytes)
      return error_at(to_string(whole), column_of(part, whole),
                      "stack_bytes is known where a call begins, and not kept until it ends");
    for (const Expr& child : part.children)
      if (auto kept = check_kept(child, whole); !kept) return kept;
    return ok();
  }

  // The stack is that of the call's begin; at its end there is another.
  Status stack(const Spec& spec) {
    if (!spec.stack) return ok();
    if (out_->kernel.at_return & TC_EVENT_AT_RETURN)
      return Error{Code::unsupported,
                   "a stack is taken where a call begins, and this event is of its end: stage "
                   "the two as settings of two sessions"};
    out_->kernel.stack_frames = spec.stack->most_frames;
    return ok();
  }

  Status condition(const Expr& expr) {
    auto code = compile_condition(expr, arguments_);
    if (!code) return code.error();
    auto start = append(*code);
    if (!start) return start.error();
    const bool at_once = is_terms(*code) && !(out_->kernel.at_return & TC_CONDITION_AT_RETURN);
    out_->kernel.condition_kind = at_once ? TC_TERMS : TC_CODE;
    out_->kernel.condition = code_at(*start);
    return ok();
  }

  Status keep_if(const Expr& expr) {
    auto code = compile_condition(expr, arguments_);
    if (!code) return code.error();
    auto start = append(*code);
    if (!start) return start.error();
    out_->kernel.keep_if = code_at(*start);
    return ok();
  }

  static tc_value code_at(uint32_t start) {
    return tc_value{.kind = TC_VALUE_CODE, .from = 0, .a = 0, .most_bytes = 0, .code = start};
  }

  Status record_value(const Expr& expr) {
    auto compiled = compile_value(expr, arguments_);
    if (!compiled) return compiled.error();
    auto placed = place(*compiled);
    if (!placed) return placed.error();
    tc_spec& kernel = out_->kernel;
    kernel.values[kernel.value_count++] = *placed;
    kernel.value_words += is_text(compiled->type) ? kWordsOfText : 1;
    Argument type;
    type.is_signed = compiled->type == ValueType::s64;
    type.is_string = is_text(compiled->type);
    type.is_float = is_float(compiled->type);
    if (compiled->type == ValueType::f32) type.size_bytes = sizeof(float);
    if (compiled->type == ValueType::bytes) type.byte_count = compiled->most_bytes;
    type.text = to_string(expr);
    out_->values.push_back(std::move(type));
    return ok();
  }

  // Records all arguments; those that are text, as text.
  Status record_arguments() {
    for (size_t i = 0; i < count_of_probe(arguments_); ++i) {
      const Argument& argument = arguments_[i];
      Expr value = Expr::of_operand(Operand::arg, i);
      if (argument.is_shown_as_text) value = Expr::of_str(std::move(value), Expr::kMostStrBytes);
      if (auto taken = record_value(value); !taken) return taken;
      const bool is_string = out_->values.back().is_string;
      out_->values.back() = argument;
      out_->values.back().is_string = is_string;
    }
    return ok();
  }

  Status aggregate(const Aggregate& one, size_t number) {
    if (is_sum(one.kind) && joins(one)) return ok();
    if (is_of_blocks(one) && all_at_return_)
      return Error{
          Code::unsupported,
          "block is summed while a call goes on, and " +
              std::string(side_ ? "a pair is none" : "this condition is known at its end")};
    AggregateMeaning meaning = meaning_of(one);
    meaning.first = number;
    tc_aggregate to{};
    to.kind = static_cast<uint8_t>(kernel_kind(one.kind));
    if (one.value) {
      if (auto type = check_aggregated(*one.value, one.kind, {.arguments = &arguments_}); !type)
        return type.error();
      auto compiled = compile_value(*one.value, arguments_);
      if (!compiled) return compiled.error();
      meaning.shape.is_unsigned = compiled->type == ValueType::u64;
      // Sites of one probe can differ in signedness. Values that compare differently get a row of
      // their own.
      if (meaning.shape.is_unsigned) meaning.name += " unsigned";
      if (auto placed = place(*compiled))
        to.value = *placed;
      else
        return placed.error();
    }
    to.at = all_at_return_ || waits_for_return(one) ? TC_AT_END : TC_AT_HIT;
    if (is_of_blocks(one)) to.at = TC_AT_BLOCK;
    to.is_unsigned = meaning.shape.is_unsigned;
    to.min = one.min;
    to.max = one.max;
    to.step = static_cast<uint64_t>(one.step);
    if (auto keyed = keys(one, to, meaning); !keyed) return keyed;
    out_->kernel.aggregates[out_->kernel.aggregate_count++] = to;
    if (is_of_blocks(one)) out_->kernel.blocked = out_->kernel.aggregate_count;
    out_->aggregates.push_back(std::move(meaning));
    aggregates_.push_back(&one);
    return ok();
  }

  Status keys(const Aggregate& one, tc_aggregate& to, AggregateMeaning& meaning) {
    for (const Expr& key : one.by) {
      if (auto type = check_key(key, {.arguments = &arguments_}); !type) return type.error();
      auto compiled = compile_value(key, arguments_);
      if (!compiled) return compiled.error();
      auto placed = place(*compiled);
      if (!placed) return placed.error();
      to.keys[to.key_count++] = *placed;
      out_->has_numbered_keys |= !is_integer(compiled->type) && !is_cgroup_name(compiled->type);
      meaning.by.push_back({to_string(key), compiled->type, compiled->most_bytes});
    }
    return ok();
  }

  // Sums of one expression by the same keys are one aggregate in the kernel.
  bool joins(const Aggregate& one) {
    for (size_t i = 0; i < aggregates_.size(); ++i) {
      const Aggregate& other = *aggregates_[i];
      if (!is_sum(other.kind) || other.value != one.value || other.by != one.by) continue;
      ask_for(one.kind, out_->aggregates[i].shape);
      return true;
    }
    return false;
  }

  static void ask_for(Aggregate::Kind kind, RowShape& shape) {
    shape.sum |= kind == Aggregate::Kind::sum;
    shape.avg |= kind == Aggregate::Kind::avg;
    shape.min |= kind == Aggregate::Kind::min;
    shape.max |= kind == Aggregate::Kind::max;
  }

  AggregateMeaning meaning_of(const Aggregate& one) const {
    AggregateMeaning meaning;
    Aggregate unkeyed = one;
    unkeyed.by.clear();
    if (one.value) meaning.shape.of = to_string(*one.value);
    meaning.name = is_sum(one.kind) ? meaning.shape.of : to_string(unkeyed);
    meaning.shape.kind = one.kind == Aggregate::Kind::count   ? RowShape::Kind::count
                         : one.kind == Aggregate::Kind::hist  ? RowShape::Kind::hist
                         : one.kind == Aggregate::Kind::lhist ? RowShape::Kind::lhist
                         : one.kind == Aggregate::Kind::time  ? RowShape::Kind::time
                                                              : RowShape::Kind::sums;
    meaning.shape.low = one.min;
    meaning.shape.high = one.max;
    meaning.shape.step = one.step;
    meaning.shape.of_calls = !side_;
    meaning.shape.splits = splits_;
    if (one.kind == Aggregate::Kind::time) meaning.shape.of = "duration";
    if (one.kind == Aggregate::Kind::time) meaning.shape.is_unsigned = true;
    ask_for(one.kind, meaning.shape);
    return meaning;
  }

  static tc_aggregate_kind kernel_kind(Aggregate::Kind kind) {
    if (kind == Aggregate::Kind::count) return TC_COUNT;
    if (kind == Aggregate::Kind::hist) return TC_HIST;
    if (kind == Aggregate::Kind::time) return TC_TIME;
    return kind == Aggregate::Kind::lhist ? TC_LHIST : TC_SUM;
  }

  Result<tc_value> place(const ExprCode& code) {
    tc_value value{};
    value.most_bytes = code.most_bytes;
    out_->reads_memory |= code.type == ValueType::string || code.type == ValueType::bytes;
    if (code.type == ValueType::comm || code.type == ValueType::tag) {
      value.kind = code.type == ValueType::comm ? TC_VALUE_COMM : TC_VALUE_TAG;
      return value;
    }
    if (is_stack(code.type)) {
      value.kind = TC_VALUE_STACK;
      value.a = code.most_frames;
      value.from = code.type == ValueType::caller;
      return value;
    }
    if (is_path(code.type)) {
      value.kind = TC_VALUE_PATH;
      return value;
    }
    if (is_operand(code)) {
      value.kind = TC_VALUE_OPERAND;
      value.from = code.insns[0].a_from;
      value.a = code.insns[0].a;
      return value;
    }
    auto start = append(code);
    if (!start) return start.error();
    value.kind = code.type == ValueType::string  ? TC_VALUE_STR
                 : code.type == ValueType::bytes ? TC_VALUE_BYTES
                                                 : TC_VALUE_CODE;
    value.code = *start;
    return value;
  }

  // Returns the index of its first instruction.
  Result<uint32_t> append(const ExprCode& code) {
    std::vector<uint32_t> texts;
    for (const std::string& text : code.texts) {
      auto at = text_at(text);
      if (!at) return at.error();
      texts.push_back(*at);
    }
    const uint32_t start = insns_;
    if (insns_ + code.insns.size() > TC_SPEC_INSNS)
      return Error{Code::invalid, "the spec is too long: its expressions have more than " +
                                      std::to_string(int{TC_SPEC_INSNS}) + " instructions"};
    for (tc_insn insn : code.insns) {
      out_->reads_memory |= reads_memory(insn);
      if (compares_text(insn.op)) insn.immediate = texts[static_cast<size_t>(insn.immediate)];
      out_->kernel.code[insns_++] = insn;
    }
    return start;
  }

  Result<uint32_t> text_at(const std::string& text) {
    const auto known = std::find(texts_.begin(), texts_.end(), text);
    const auto at = static_cast<uint32_t>(known - texts_.begin());
    if (known != texts_.end()) return at;
    if (at == TC_SPEC_TEXTS)
      return Error{Code::invalid, "the spec compares with more than " +
                                      std::to_string(int{TC_SPEC_TEXTS}) + " different strings"};
    texts_.push_back(text);
    tc_text& to = out_->kernel.texts[at];
    to.length = static_cast<uint8_t>(text.size());
    std::memcpy(to.bytes, text.data(), text.size());
    return at;
  }

  const Arguments& arguments_;
  const PairSide* side_;
  std::unique_ptr<AssembledSpec> out_ = std::make_unique<AssembledSpec>();
  std::vector<const Aggregate*> aggregates_;  // the source of each aggregate in out_
  std::vector<std::string> texts_;
  uint32_t insns_ = 0;
  bool all_at_return_ = false;
  bool splits_ = false;  // times are shown with their parts
};

// Adds the keys as one more aggregate, the last, so that names in them get numbers, too.
Spec with_keys(Spec spec, const PairSide& side) {
  spec.aggregates.push_back({.by = *side.by});
  return spec;
}

bool uses_result(const Expr& expr) {
  if (expr.kind == Expr::Kind::operand &&
      (expr.operand == Operand::retval || expr.operand == Operand::thrown))
    return true;
  return std::any_of(expr.children.begin(), expr.children.end(), uses_result);
}

// Refuses what calls have and pairs do not.
Status check_of_pair(const Spec& spec, const PairSide& side) {
  const auto no_return = [](const std::string& where) {
    return Error{Code::invalid, where +
                                    ": there is no return between two probes; duration is the "
                                    "time from the one to the other"};
  };
  if (spec.returns) return no_return("return");
  if (spec.tag || spec.silent || !spec.triggers.empty())
    return Error{Code::unsupported,
                 "tag, silent and trigger belong to one probe: stage them at one of the two"};
  if (spec.deepest)
    return Error{Code::unsupported, "deepest belongs to one probe, and this is between two"};
  if (spec.stack)
    return Error{
        Code::unsupported,
        "no stack is taken of what was measured between two probes: take it at one of them"};
  std::vector<const Expr*> exprs;
  if (spec.when) exprs.push_back(&*spec.when);
  for (const Expr& value : spec.values) exprs.push_back(&value);
  for (const Aggregate& one : spec.aggregates) {
    if (one.value) exprs.push_back(&*one.value);
    for (const Expr& key : one.by) exprs.push_back(&key);
  }
  for (const Expr* expr : exprs) {
    if (uses_result(*expr)) return no_return(to_string(*expr));
    if (is_stack(type_of(*expr, {})))
      return Error{Code::invalid, to_string(*expr) + ": the two probes are not hit by one call"};
  }
  for (const Expr& key : *side.by)
    if (waits_for_return(key))
      return Error{Code::invalid, to_string(key) + " is no key: it is not known at the start"};
  return ok();
}

}  // namespace

bool counts_hits(const Spec& spec, const Aggregate& aggregate) {
  return aggregate.kind == Aggregate::Kind::count && aggregate.by.empty() &&
         !is_all_at_return(spec);
}

Spec spec_of_sides(const Setting& setting, uint32_t sides) {
  if (sides != TC_PAIR_FROM) return setting.spec;
  Spec from;
  from.split = splits_durations(setting.spec);
  return from;
}

Result<std::string> pair_compiled_from(const Spec& spec, const PairSide& side,
                                       const Arguments& arguments) {
  auto from = compiled_from(with_keys(spec, side), arguments, nullptr);
  if (!from) return from.error();
  return *from + " pair " + std::to_string(side.number) + ' ' + std::to_string(side.sides);
}

bool uses_arguments(const Spec& spec, const PairSide& side) {
  return uses_arguments(with_keys(spec, side));
}

bool needs_assembly(const Spec& spec, const Arguments& arguments) {
  return shows_text(spec, arguments) || spec.when || !spec.values.empty() || spec.returns ||
         spec.graph || spec.stack || spec.sample || spec.limit || spec.deepest || spec.tag ||
         spec.silent || !spec.triggers.empty() || spec.learns_tags ||
         !std::all_of(spec.aggregates.begin(), spec.aggregates.end(),
                      [&](const Aggregate& one) { return counts_hits(spec, one); });
}

Result<std::unique_ptr<AssembledSpec>> assemble(const Spec& spec, const Arguments& arguments,
                                                const Argument* result, const PairSide* side) {
  if (side)
    if (auto possible = check_of_pair(spec, *side); !possible) return possible.error();
  auto numbered = with_numbers(side ? with_keys(spec, *side) : spec, arguments, result);
  if (!numbered) return numbered.error();
  PairSide numbered_side = side ? *side : PairSide{};
  std::vector<Expr> keys;
  if (side) {
    keys = std::move(numbered->aggregates.back().by);
    numbered->aggregates.pop_back();
    numbered_side.by = &keys;
  } else {
    std::erase_if(numbered->aggregates,
                  [&](const Aggregate& one) { return counts_hits(spec, one); });
  }
  Assembler assembler{arguments, side ? &numbered_side : nullptr};
  if (auto taken = assembler.take(*numbered); !taken) return taken.error();
  return std::move(assembler).result();
}

}  // namespace tracectl
