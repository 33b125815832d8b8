// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/spec/event_sums.h"

#include <utility>

#include "daemon/model/stack_bytes.h"
#include "daemon/spec/event_facts.h"
#include "daemon/spec/lexer.h"
#include "daemon/spec/parse.h"

namespace tracectl {
namespace {

// Whether it has aggregates only. Other actions run when a hit happens.
bool is_sums_only(const Spec& spec) {
  Spec sums;
  sums.aggregates = spec.aggregates;
  sums.split = spec.split;
  return !spec.aggregates.empty() && spec == sums;
}

// Stacks as rows show them; of the callers only the direct one.
KeyValue stack_key(const Event& event, ValueType type) {
  if (!event.stack) return {};
  if (type != ValueType::caller) return *event.stack;
  Stack caller = *event.stack;
  // Skips the function that was hit, with the functions inlined into it.
  size_t at = 0;
  while (at < caller.frames.size() && caller.frames[at].inlined) ++at;
  if (at + 1 >= caller.frames.size()) return {};
  caller.frames = {caller.frames[at + 1]};
  return caller;
}

KeyValue key_value(const Expr& key, ValueType type, const Event& event, const Facts& facts) {
  if (is_stack(type)) return stack_key(event, type);
  if (!is_integer(type)) {
    const auto text = evaluate_string(key, facts);
    return text ? KeyValue(*text) : KeyValue{};
  }
  const auto number = evaluate(key, facts);
  if (!number) return {};
  if (type == ValueType::u64) return number->bits();
  return static_cast<int64_t>(number->bits());
}

Row row_of_value(const RowShape& shape, uint64_t bits) {
  Row row{.shape = shape, .count = 1, .sum = bits, .min = bits, .max = bits};
  if (shape.kind != RowShape::Kind::sums) row.buckets[bucket_number(shape, bits)] = 1;
  return row;
}

Row row_of_duration(const RowShape& shape, const Event& event) {
  if (!event.duration_ns) return {.shape = shape, .unread = 1};
  Row row = row_of_value(shape, *event.duration_ns);
  if (!event.off_cpu) return row;
  row.split = 1;
  row.runnable = event.off_cpu->runnable_ns;
  row.blocked = event.off_cpu->blocked_ns;
  const uint64_t off_ns = row.runnable + row.blocked;
  row.running = *event.duration_ns - std::min(*event.duration_ns, off_ns);  // files may be wrong
  return row;
}

Row row_of(const Aggregate& aggregate, const RowShape& shape, const Event& event,
           const Facts& facts) {
  if (event.kind == EventKind::unwound && shape.kind != RowShape::Kind::count)
    return {.shape = shape, .unwound = 1};
  if (shape.kind == RowShape::Kind::count) return {.shape = shape, .count = 1};
  if (shape.kind == RowShape::Kind::time) return row_of_duration(shape, event);
  const auto value = evaluate(*aggregate.value, facts);
  return value ? row_of_value(shape, value->bits()) : Row{.shape = shape, .unread = 1};
}

struct SizeOf {
  size_t operator()(const std::string& text) const { return text.size(); }
  size_t operator()(const Stack& stack) const { return bytes_of(stack); }
  size_t operator()(const auto&) const { return 0; }
};

size_t size_of(const RowKey& key) {
  size_t bytes = key.probe.size() + key.aggregate.size();
  for (const KeyPart& part : key.by)
    bytes += sizeof(part) + part.name.size() + std::visit(SizeOf{}, part.value);
  return bytes;
}

bool is_end(const Event& event) { return event.kind != EventKind::hit; }

bool is_hit(const Event& event) {
  return event.kind == EventKind::hit || event.kind == EventKind::latency;
}

}  // namespace

Result<EventSums> EventSums::parse(std::string_view actions, std::string_view when) {
  auto spec = parse_spec(actions);
  if (!spec) return spec.error();
  if (!is_sums_only(*spec))
    return error_at(
        actions, 0,
        "of a recording sums are made: count, sum, avg, min, max, hist, lhist and time, "
        "each with or without by");
  if (when.empty()) return EventSums(*std::move(spec));
  auto condition = parse_condition(when);
  if (!condition) return condition.error();
  spec->when = *std::move(condition);
  return EventSums(*std::move(spec));
}

Result<EventSums::Prepared> EventSums::prepare(const EventSource& source) const {
  auto spec = for_source(spec_, source);
  if (!spec) return spec.error();
  auto assembled = assemble(*spec, read_arguments(source));
  if (!assembled) return assembled.error();
  Prepared prepared{.when = spec->when};
  const bool counts = std::erase_if(spec->aggregates, [&](const Aggregate& one) {
                        return counts_hits(*spec, one);
                      }) > 0;
  if (counts) {
    AggregateMeaning meaning;
    meaning.name = name_of(Aggregate::Kind::count);
    prepared.sums.push_back({Aggregate{}, std::move(meaning), false});
  }
  for (const AggregateMeaning& meaning : (*assembled)->aggregates) {
    const Aggregate& aggregate = spec->aggregates[meaning.first];
    Sum sum{aggregate, meaning, is_all_at_return(*spec) || waits_for_return(aggregate)};
    sum.meaning.shape.of_calls = false;  // events do not show which time is a call's own
    prepared.sums.push_back(std::move(sum));
  }
  return prepared;
}

void EventSums::add(const Event& event) {
  const Prepared* source =
      sources_.of(event.source, [&](const EventSource& one) { return prepare(one); });
  if (!source) return;
  // If the condition is about ends, hits are counted at the end.
  const bool is_counted = is_all_at_return(spec_) ? is_end(event) : is_hit(event);
  hits_ += is_counted;
  if (source->when) {
    const auto holds = evaluate(*source->when, EventFacts(event));
    if (!holds || holds->value == 0) {
      filtered_ += is_counted;
      return;
    }
  }
  for (const Sum& sum : source->sums)
    if (sum.is_of_ends ? is_end(event) : is_hit(event)) add(sum, event);
}

void EventSums::add(const Sum& sum, const Event& event) {
  const EventFacts facts(event);
  RowKey key{.probe = event.source->probe, .aggregate = sum.meaning.name, .by = {}};
  for (size_t i = 0; i < sum.aggregate.by.size(); ++i)
    key.by.push_back({sum.meaning.by[i].name,
                      key_value(sum.aggregate.by[i], sum.meaning.by[i].type, event, facts)});
  const Row value = row_of(sum.aggregate, sum.meaning.shape, event, facts);
  const auto row = rows_.find(key);
  if (row != rows_.end())
    row->second.add(value);
  else if (const size_t bytes = size_of(key);
           rows_.size() < kMostRows && key_bytes_ + bytes <= kMostKeyBytes)
    key_bytes_ += bytes, rows_.emplace(std::move(key), value);
  else
    ++left_out_;
}

}  // namespace tracectl
