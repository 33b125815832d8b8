// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/stage_request.h"

#include "daemon/base/nearest.h"
#include "daemon/protocol/convert.h"
#include "daemon/spec/names.h"
#include "daemon/spec/parse.h"

namespace tracectl {

using namespace protocol;

Error in_field(Error error, const char* field) {
  if (error.field.empty()) error.field = field;
  return error;
}

Result<Returns> returns_of(const std::string& name) {
  if (const auto returns = returns_named(name)) return *returns;
  return Error{Code::invalid,
               "unknown way to see returns \"" + name + "\": auto, trampoline, exits" +
                   did_you_mean(name, {"auto", "trampoline", "exits"}),
               "returns"};
}

Result<std::vector<Pattern>> patterns_of(const std::vector<std::string>& texts,
                                         const std::string& scope_name) {
  auto scope = scope_of(scope_name);
  if (!scope) return scope.error();
  if (texts.empty()) return Error{Code::invalid, "no pattern is given", "patterns"};
  std::vector<Pattern> patterns;
  for (const std::string& text : texts) {
    auto pattern = parse_pattern(text, *scope);
    if (!pattern) return in_field(pattern.error(), "patterns");
    patterns.push_back(std::move(*pattern));
  }
  return patterns;
}

namespace {

Status add_keep_if(const StageSet& request, Spec& spec) {
  if (!spec.graph || !request.graph || !request.graph->keep_if) return ok();
  if (!has_events(spec))
    return Error{
        Code::invalid,
        "keep_if does not apply to sums, which are of all calls: add event, or leave keep_if out",
        "graph.keep_if"};
  auto keep_if = parse_condition(*request.graph->keep_if);
  if (!keep_if) return in_field(keep_if.error(), "graph.keep_if");
  spec.keep_if = std::move(*keep_if);
  return ok();
}

Result<Spec> spec_of(const StageSet& request) {
  auto spec = parse_spec(request.action);
  if (!spec) return in_field(spec.error(), "do");
  if (auto kept = add_keep_if(request, *spec); !kept) return kept.error();
  if (!request.when) return spec;
  auto when = parse_condition(*request.when);
  if (!when) return in_field(when.error(), "when");
  if (spec->graph && waits_for_return(*when))
    return Error{
        Code::invalid,
        "this condition is known only when the function returns, and a graph begins when it is "
        "called",
        "when"};
  spec->when = std::move(*when);
  return spec;
}

// uretprobe: is uprobe: with the return, if it is streamed.
bool asks_for_return(const std::string& pattern) {
  return pattern.starts_with("ur:") || pattern.starts_with("uretprobe:");
}

Error from_needed(const char* field, const char* instead) {
  return Error{Code::invalid,
               std::string(field) + " is for times between two probes: give from too" + instead,
               field};
}

// The time from one probe to another, if requested.
Result<std::optional<Latency>> latency_of(const StageSet& request) {
  if (!request.from) {
    if (request.by) return from_needed("by", ", or a spec with keys, as count by tid");
    if (request.slowest) return from_needed("slowest", "");
    return std::optional<Latency>{};
  }
  auto from = patterns_of({*request.from}, request.scope);
  if (!from) return Error{from.error().code, from.error().message, "from"};
  if (request.patterns.size() != 1 || asks_for_return(request.patterns[0]) ||
      asks_for_return(*request.from))
    return Error{Code::invalid, "a time is measured from one pattern to one other, no uretprobe",
                 "patterns"};
  auto by = parse_keys(request.by.value_or("tid"));
  if (!by) return in_field(by.error(), "by");
  Latency latency{.from = std::move(from->front()), .by = std::move(*by)};
  const uint64_t slowest = request.slowest.value_or(Latency::kSlowest);
  if (slowest > Latency::kMostSlowest)
    return Error{Code::invalid, "at most " + std::to_string(Latency::kMostSlowest) + " are kept",
                 "slowest"};
  latency.slowest = static_cast<uint32_t>(slowest);
  return std::optional(std::move(latency));
}

Result<GraphScope> graph_scope_of(const StageSet& request, const Spec& spec) {
  GraphScope scope;
  if (!request.graph) return scope;
  if (!spec.graph)
    return Error{Code::invalid, "`graph` says what a graph shows, and \"do\" has none", "graph"};
  for (const auto& [texts, to] :
       {std::pair{&request.graph->only, &scope.only}, {&request.graph->beside, &scope.beside}}) {
    if (texts->empty()) continue;
    auto patterns = patterns_of(*texts, request.scope);
    if (!patterns) return Error{patterns.error().code, patterns.error().message, "graph"};
    *to = std::move(*patterns);
  }
  for (const Pattern& pattern : scope.beside)
    if (pattern.kind != ProbeKind::usdt)
      return Error{Code::invalid,
                   "what fires beside the calls is a USDT probe, and " + to_string(pattern) +
                       (pattern.kind == ProbeKind::function ? " is a function: name it in `only`"
                                                            : " has no calls to show"),
                   "graph"};
  if (request.graph->grow && !scope.only.empty())
    return Error{Code::invalid,
                 "`only` says what a graph shows, so nothing is left for it to grow by: leave out "
                 "`only` or `grow`",
                 "graph"};
  if (request.graph->imports && !scope.only.empty())
    return Error{Code::invalid,
                 "`only` says what a graph shows: name functions of libraries there, as "
                 "libc.so*:malloc, or leave out `only` or `imports`",
                 "graph"};
  scope.skip = request.graph->skip;
  scope.imports = request.graph->imports;
  scope.grow = request.graph->grow;
  return scope;
}

}  // namespace

Result<std::vector<Setting>> settings_of(const StageSet& request) {
  auto patterns = patterns_of(request.patterns, request.scope);
  if (!patterns) return patterns.error();
  auto target = target_of(request.target);
  if (!target) return target.error();
  auto spec = spec_of(request);
  if (!spec) return spec.error();
  auto returns = returns_of(request.returns);
  if (!returns) return returns.error();
  auto latency = latency_of(request);
  if (!latency) return latency.error();
  auto graph = graph_scope_of(request, *spec);
  if (!graph) return graph.error();
  if (request.types && request.types->size() > GivenTypes::kMost)
    return Error{Code::invalid,
                 "types are of at most " + std::to_string(GivenTypes::kMost) +
                     " probes: give those that the patterns name",
                 "types"};
  const GivenTypes types(request.types.value_or(std::vector<ProbeTypes>{}));
  std::vector<Setting> settings;
  for (size_t i = 0; i < patterns->size(); ++i) {
    settings.push_back({(*patterns)[i], *target, *spec, *returns, *latency, *graph, types});
    Spec& own = settings.back().spec;
    own.returns |= own.event && asks_for_return(request.patterns[i]);
  }
  if (auto few = check_field_paths(settings.front()); !few) return in_field(few.error(), "do");
  return settings;
}

}  // namespace tracectl
