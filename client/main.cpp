// SPDX-License-Identifier: BSD-2-Clause
//
// tracectl: the command line. Options and verbs only; each verb has a function in verbs.h.
#include <CLI/CLI.hpp>
#include <array>
#include <functional>
#include <map>
#include <optional>

#include "client/duration.h"
#include "client/options.h"
#include "client/output.h"
#include "client/recipes.h"
#include "client/usage.h"
#include "client/verb_options.h"
#include "client/verbs.h"

namespace {

using namespace tracectl;

CLI::App& add_verb(CLI::App& app, const std::string& name, const std::string& help,
                   std::function<int()>& chosen, std::function<int()> run) {
  CLI::App* verb = app.add_subcommand(name, help);
  verb->fallthrough();
  verb->callback([&chosen, run = std::move(run)] { chosen = run; });
  return *verb;
}

// How sums of calls are shown; the options exclude each other.
std::array<CLI::Option*, 2> add_forms(CLI::App& verb, GraphChoice::Form& form) {
  using Form = GraphChoice::Form;
  auto* tree = verb.add_flag_callback(
      "--tree", [&form] { form = Form::tree; }, "the tree of calls, with what they took");
  auto* folded = verb.add_flag_callback(
      "--folded", [&form] { form = Form::folded; },
      "each way of calls and the time of its last, as flame graphs "
      "want them");
  tree->excludes(folded);
  return {tree, folded};
}

void add_graph(CLI::App& app, CommandLine& line) {
  auto& graph = add_verb(app, "graph", "show how functions call, and what the calls take",
                         line.chosen, [&] { return run_graph(line.common, line.trace); });
  graph
      .add_option("FUNCTION", line.trace.probes.patterns,
                  "of the main executable, or OBJECT:FUNCTION, or a pattern uprobe:...")
      ->required();
  add_target_options(graph, line.trace.probes);
  auto* only =
      graph.add_option("--only", line.graph.only, "of the calls below show these functions only");
  only->allow_extra_args(false);
  graph
      .add_flag("--grow", line.graph.grow,
                "add functions that are called by pointers when they are")
      ->excludes(only);
  graph.add_option("--skip", line.graph.skip, "do not show these functions below")
      ->allow_extra_args(false);
  auto* beside =
      graph
          .add_option("--beside", line.graph.beside,
                      "show these USDT probes, too, where they fire: usdt::PROVIDER:NAME")
          ->allow_extra_args(false);
  graph.add_option("--depth", line.graph.depth, "show so many levels of calls at most")
      ->check(CLI::Range(1, 10000));
  auto* least = graph.add_option("--min-duration", line.min_duration,
                                 "show no calls that took less: 10us, 1ms");
  least->check(check_duration);
  auto* arguments =
      graph.add_flag("--arguments", line.graph.arguments, "show what calls are given");
  auto* results = graph.add_flag("--results", line.graph.results, "show what calls return");
  auto* sums = graph.add_flag_callback(
      "--report", [&] { line.graph.form = GraphChoice::Form::functions; },
      "at the end, by function: calls, total, self, least, average, greatest");
  const auto [tree, folded] = add_forms(graph, line.graph.form);
  tree->excludes(sums);
  folded->excludes(sums);
  add_record_to(graph, line.record);
  auto* output = graph.get_option("--output");
  for (CLI::Option* of_calls : {least, arguments, results, beside, output})
    for (CLI::Option* form : {sums, tree, folded}) form->excludes(of_calls);
  output->excludes(least);
  add_returns(graph, line.trace.returns);
  add_how(graph, line);
  tell_of_command(graph);

  auto& report = add_verb(app, "report", "sum up what has been recorded", line.chosen,
                          [&] { return run_report(line.common, line.report); });
  report
      .add_option("FILE", line.report.file,
                  "a trace file, or what graph --json has printed; -: that from standard input")
      ->required();
  auto* against = report.add_option("--against", line.report.against,
                                    "tell what has changed since this recording");
  for (CLI::Option* form : add_forms(report, line.report.form)) form->excludes(against);
  report
      .add_option("-n,--rows", line.trace.rows,
                  "how many rows of a table are printed, first those with most")
      ->check(CLI::NonNegativeNumber);
}

void add_recordings(CLI::App& app, CommandLine& line) {
  auto& record =
      add_verb(app, "record", "record events to a trace file until ^C or the targets end",
               line.chosen, [&] { return run_trace(line.common, line.trace); });
  add_trace_options(record, line);
  add_do(record, line.trace.action);
  add_from(record, line.trace.latency);
  add_record_to(record, line.record);
  record.get_option("--output")->required();
  tell_of_command(record);

  auto& show = add_verb(app, "show", "the events of a trace file", line.chosen,
                        [&] { return run_show(line.common, line.show); });
  show.add_option("FILE", line.show.file, "the trace file")->required();
  show.add_option("--from", line.show_from,
                  "leave out what came sooner after the first: 10s, 500ms")
      ->check(check_duration);
  show.add_option("--to", line.show_to, "leave out what came later after the first")
      ->check(check_duration);
  auto* graph = show.add_flag("--graph", line.show.graph, "calls, as graph shows them");
  show.add_flag("--arguments", line.show.arguments, "show what calls are given")->needs(graph);
  show.add_flag("--results", line.show.results, "show what calls return")->needs(graph);
}

void add_tracing(CLI::App& app, CommandLine& line) {
  auto& list = add_verb(app, "list", "what can be traced", line.chosen,
                        [&] { return run_list(line.common, line.trace.probes); });
  add_probe_options(list, line.trace.probes);

  auto& trace = add_verb(app, "trace", "stream events until ^C or the targets end", line.chosen,
                         [&] { return run_trace(line.common, line.trace); });
  add_trace_options(trace, line);
  add_do(trace, line.trace.action);
  add_from(trace, line.trace.latency);
  trace.add_flag("--folded", line.trace.folded,
                 "count the stacks, and print them at the end as flame graphs want them");
  tell_of_command(trace);

  auto& count = add_verb(app, "count", "count hits in the kernel until ^C or the targets end",
                         line.chosen, [&] { return run_count(line.common, line.trace); });
  add_trace_options(count, line);
  add_by(count, line.by);
  count.add_flag("--folded", line.trace.folded,
                 "count by stack, and print the stacks as flame graphs want them");
  tell_of_command(count);

  auto& hist = add_verb(app, "hist", "histogram of a value, until ^C or the targets end",
                        line.chosen, [&] { return run_count(line.common, line.trace); });
  add_trace_options(hist, line);
  hist.add_option("--of", line.of, "the value: arg2, 'arg1 - arg0', 'u32(arg0 + 8)'")->required();
  add_by(hist, line.by);
  tell_of_command(hist);

  auto& time = add_verb(app, "time", "what calls take, until ^C or the targets end", line.chosen,
                        [&] { return run_count(line.common, line.trace); });
  add_trace_options(time, line);
  add_by(time, line.by);
  tell_of_command(time);

  auto& latency = add_verb(app, "latency", "the time from one probe to another, matched by a key",
                           line.chosen, [&] { return run_count(line.common, line.trace); });
  latency.add_option("--from", line.trace.latency.from, "the pattern at which the time begins")
      ->required();
  latency.add_option("--to", line.trace.probes.patterns, "the pattern at which it ends")
      ->required()
      ->expected(1);
  add_pair_options(latency, line.trace.latency);
  latency.add_option("--per", line.by,
                     "a row for each value of these, known at the end: 'str(arg0)'");
  add_target_options(latency, line.trace.probes);
  add_how(latency, line);
  tell_of_command(latency);

  auto& stacks =
      add_verb(app, "stacks", "the deepest stack of each thread, with what its frames take",
               line.chosen, [&] { return run_trace(line.common, line.trace); });
  add_probe_options(stacks, line.trace.probes);
  stacks.add_flag("--deepest", line.trace.deepest,
                  "at the end, of each thread the deepest stack of all hits");
  add_how(stacks, line);
  tell_of_command(stacks);

  add_graph(app, line);
  add_recordings(app, line);

  auto& info = add_verb(app, "info", "what is set on probes, by which sessions", line.chosen,
                        [&] { return run_info(line.common, line.info); });
  info.add_option("PATTERN", line.info.pattern, "compared with the names of armed probes")
      ->required();
  info.add_flag("--global", line.info.global, "only functions in the dynamic symbol table");
  info.add_flag("--generations", line.info.generations,
                "what each of the two copies of the sites' settings has");
}

void add_sessions(CLI::App& app, CommandLine& line) {
  CLI::App* session = app.add_subcommand("session", "named sessions: new, list, show, delete");
  session->require_subcommand(1);
  session->fallthrough();
  const auto add_named = [&](const char* name, const char* help, auto run) {
    add_verb(*session, name, help, line.chosen,
             [&line, run] { return run(line.common, line.name); })
        .add_option("NAME", line.name, "of the session")
        ->required();
  };
  auto& made = add_verb(*session, "new", "make an empty session", line.chosen,
                        [&] { return run_session_new(line.common, line.name, line.trace.budget); });
  made.add_option("NAME", line.name, "of the session")->required();
  add_budget(made, line.trace.budget);
  add_named("show", "its settings, its draft, its counts", run_session_show);
  add_named("delete", "remove all its settings, and its results", run_session_delete);
  add_verb(*session, "list", "all sessions", line.chosen,
           [&] { return run_session_list(line.common); });
}

void add_staging(CLI::App& app, CommandLine& line) {
  CLI::App* stage = app.add_subcommand("stage", "edit a session's draft: stage NAME set|remove");
  stage->require_subcommand(1);
  stage->fallthrough();
  stage->add_option("NAME", line.stage.session, "of the session")->required();
  auto& set = add_verb(*stage, "set", "add settings to the draft", line.chosen,
                       [&] { return run_stage_set(line.common, line.stage); });
  add_probe_options(set, line.stage.probes);
  add_do(set, line.stage.action);
  add_from(set, line.stage.latency);
  add_when(set, line.stage.when);
  add_returns(set, line.stage.returns);
  set.add_flag("--explain", line.stage.explain, "say how the spec was read, and what it costs");
  auto& remove = add_verb(*stage, "remove", "take settings out of the draft", line.chosen,
                          [&] { return run_stage_remove(line.common, line.stage); });
  add_probe_options(remove, line.stage.probes);

  auto& commit = add_verb(app, "commit", "switch a session to its draft, in one atomic step",
                          line.chosen, [&] { return run_commit(line.common, line.commit); });
  commit.add_option("NAME", line.commit.session, "of the session")->required();
  commit.add_flag("--partial", line.commit.partial, "arm the rest where some sites are refused");
  commit.add_flag("--dry-run", line.commit.dry_run, "say what would be done, and do nothing");
  add_verb(app, "abort", "throw a session's draft away", line.chosen,
           [&] { return run_abort(line.common, line.name); })
      .add_option("NAME", line.name, "of the session")
      ->required();
}

void add_pauses(CLI::App& app, CommandLine& line) {
  const auto add_pause = [&](const char* name, const char* help, auto run) {
    auto& verb = add_verb(app, name, help, line.chosen, [&line, run] {
      return run(line.common, line.all_sessions ? std::nullopt : std::optional(line.name));
    });
    auto* session = verb.add_option("NAME", line.name, "of the session");
    auto* all = verb.add_flag("--all", line.all_sessions, "all sessions, by one switch");
    session->excludes(all);
    verb.require_option(1, 0);
    return &verb;
  };
  add_pause("pause", "stop counting and streaming, in one step; counters are kept", run_pause);
  add_pause("resume", "go on after a pause, in one step", run_resume);
  add_verb(app, "restart", "set counters to zero and resume, in one step", line.chosen,
           [&] { return run_restart(line.common, line.name); })
      .add_option("NAME", line.name, "of the session")
      ->required();
}

void add_results(CLI::App& app, CommandLine& line) {
  auto& read = add_verb(app, "read", "counts so far", line.chosen,
                        [&] { return run_read(line.common, line.name, line.clear); });
  read.add_option("NAME", line.name, "of the session")->required();
  read.add_flag("--clear", line.clear, "read and zero, in one cut");
  auto& watch = add_verb(app, "watch", "stream a session's events until ^C", line.chosen, [&] {
    return run_watch(line.common, line.name, parse_duration(line.duration));
  });
  watch.add_option("NAME", line.name, "of the session")->required();
  watch.add_option("--for", line.duration, "end after this time: 10s, 500ms, 2m")
      ->check(check_duration);
  add_verb(app, "flush", "return once every event fired before has been delivered", line.chosen,
           [&] { return run_flush(line.common, line.name); })
      .add_option("NAME", line.name)
      ->required();
}

void add_daemon(CLI::App& app, CommandLine& line) {
  add_verb(app, "status", "the daemon, and what it holds", line.chosen,
           [&] { return run_status(line.common); });
  add_verb(app, "stats", "the daemon's own counters", line.chosen,
           [&] { return run_stats(line.common); });
  add_verb(app, "doctor", "try what this kernel can do, and say what that means", line.chosen,
           [&] { return run_doctor(line.common); });
}

constexpr std::array kKinds =
    std::to_array<std::string_view>({"u:", "uprobe:", "ur:", "uretprobe:", "U:", "usdt:"});

int run_recipe(const CommandLine& line);

RecipeValues given_values(const CommandLine& line) {
  RecipeValues values;
  for (const auto& [name, value] : line.recipe_values)
    if (value) values[name] = *value;
  return values;
}

void add_recipe_options(CLI::App& verb, CommandLine& line) {
  verb.add_option("NAME", line.name, "of the recipe")->required();
  for (const RecipeOption& option : all_recipe_options())
    verb.add_option("--" + option.name, line.recipe_values[option.name], option.tells)
        ->option_text(option.value);
}

void add_recipes(CLI::App& app, CommandLine& line) {
  CLI::App* recipe =
      app.add_subcommand("recipe", "ready specs for common questions: list, show, run");
  recipe->require_subcommand(1);
  recipe->fallthrough();
  add_verb(*recipe, "list", "all recipes", line.chosen,
           [&] { return run_recipe_list(line.common); });
  auto& show =
      add_verb(*recipe, "show", "what one needs and does, as ordinary commands", line.chosen,
               [&] { return run_recipe_show(line.common, line.name, given_values(line)); });
  add_recipe_options(show, line);
  auto& run = add_verb(*recipe, "run", "carry one out, until ^C or the targets end", line.chosen,
                       [&] { return run_recipe(line); });
  add_recipe_options(run, line);
  add_target_options(run, line.trace.probes);
  add_run_options(run, line);
  run.footer("As in: tracectl recipe run lock-waits -p 4711 --longer-than 1ms --for 10s\n");
  tell_of_command(run);
}

void add_schema(CLI::App& app, CommandLine& line) {
  add_verb(app, "schema", "the JSON Schema of the protocol and of every --json", line.chosen,
           run_schema);
}

void add_common(CLI::App& app, CommonOptions& common) {
  app.set_version_flag("--version", TRACECTL_VERSION);
  app.add_option("--socket", common.socket, "the daemon's socket")
      ->envname("TRACECTL_SOCKET")
      ->capture_default_str();
  app.add_flag("--embedded", common.embedded, "trace without a daemon (as root)");
  app.add_flag("--fast-nops", common.fast_nops,
               "of the embedded engine: probes on 5-byte nops may become calls; see tracectld(8)");
  app.add_flag("--json", common.json, "one JSON document, or one a line when streaming");
  app.add_flag("-q,--quiet", common.quiet, "results only");
  app.add_flag("-v,--verbose", common.verbose, "log what the embedded engine does");
}

bool takes_command(const CLI::App& app) {
  for (const char* verb :
       {"list", "trace", "count", "hist", "time", "latency", "stacks", "graph", "record"})
    if (app.got_subcommand(verb)) return true;
  if (app.got_subcommand("stage")) return true;  // to say why it does not
  return app.got_subcommand("recipe") && app.get_subcommand("recipe")->got_subcommand("run");
}

// A bare FUNCTION is one of the main executable, OBJECT:FUNCTION one of that.
void name_functions(std::vector<std::string>& patterns) {
  for (std::string& pattern : patterns) {
    const bool has_kind = std::any_of(kKinds.begin(), kKinds.end(), [&](std::string_view kind) {
      return pattern.starts_with(kind);
    });
    if (has_kind) continue;
    const size_t colon = pattern.find(':');
    const bool has_object = colon != std::string::npos && !pattern.substr(colon).starts_with("::");
    pattern = (has_object ? "uprobe:" : "uprobe::") + pattern;
  }
}

Status check_form(const CommonOptions& common, GraphChoice::Form form) {
  if (!common.json || form != GraphChoice::Form::folded) return ok();
  return Error{Code::invalid,
               "--folded is for programs that read its text: with --json take --tree"};
}

Status complete_graph(CommandLine& line) {
  if (line.common.json && !line.min_duration.empty())
    return Error{Code::invalid, "--json prints every call: leave --min-duration away"};
  if (auto readable = check_form(line.common, line.graph.form); !readable) return readable;
  name_functions(line.trace.probes.patterns);
  name_functions(line.graph.only);
  if (const auto seconds = parse_duration(line.min_duration))
    line.graph.min_duration_ns = static_cast<uint64_t>(*seconds * 1e9);
  line.trace.action =
      line.graph.depth ? "graph(" + std::to_string(*line.graph.depth) + ")" : "graph";
  if (line.graph.arguments) line.trace.action += ", event";
  if (line.graph.form != GraphChoice::Form::calls) line.trace.action += ", time by path";
  line.trace.graph = line.graph;
  return ok();
}

// What is made of several options.
Status complete(CommandLine& line, const CLI::App& app) {
  line.trace.seconds = parse_duration(line.duration);
  if (app.got_subcommand("graph"))
    if (auto completed = complete_graph(line); !completed) return completed;
  if (auto readable = check_form(line.common, line.report.form); !readable) return readable;
  line.report.rows = line.trace.rows;
  if (!line.record.file.empty()) line.trace.record = line.record;
  line.show.from_s = parse_duration(line.show_from);
  line.show.to_s = parse_duration(line.show_to);
  std::string& action = line.trace.action;
  if (app.got_subcommand("stacks")) {
    if (!line.trace.deepest)
      return Error{Code::invalid,
                   "stacks shows the deepest only: add --deepest; count PATTERN --by stack counts "
                   "all of them"};
    action = "deepest, event(stack_bytes), stack(" + std::to_string(kMostFrames) + ")";
  }
  if (app.got_subcommand("count")) action = "count";
  if (app.got_subcommand("time") || app.got_subcommand("latency")) action = "time";
  if (app.got_subcommand("hist")) action = "hist(" + line.of + ")";
  if (app.got_subcommand("count") && line.trace.folded && !line.by) line.by = "stack";
  if (line.by) action += " by " + *line.by;
  if (action.empty()) action = line.trace.folded ? "stack" : "event";
  if (line.trace.folded && action.find("stack") == std::string::npos)
    return Error{Code::invalid, "--folded prints stacks, and \"" + action +
                                    "\" takes none: leave it away, or put stack into it"};
  if (!line.trace.probes.command.empty() && !takes_command(app))
    return Error{Code::invalid, words_of(app) + " starts no command: leave -- away"};
  return ok();
}

// Reads words into what they choose; the exit status where there is nothing to run.
std::optional<int> read(std::vector<std::string> words, CommandLine& line) {
  CLI::App app{"Traces running programs with uprobes and USDT probes.", "tracectl"};
  app.require_subcommand(1);
  app.fallthrough();
  app.failure_message(usage_text);
  add_common(app, line.common);
  add_tracing(app, line);
  add_recipes(app, line);
  add_sessions(app, line);
  add_staging(app, line);
  add_pauses(app, line);
  add_results(app, line);
  add_daemon(app, line);
  add_schema(app, line);

  // What stands behind -- is the command to start.
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes != words.end()) {
    line.trace.probes.command.assign(dashes + 1, words.end());
    line.stage.probes.command = line.trace.probes.command;
    words.erase(dashes, words.end());
  }
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kUsage;
  }
  if (auto completed = complete(line, app); !completed) return fail(completed.error()), kUsage;
  return std::nullopt;
}

// What is asked of the recipe's commands: where, for how long.
void take_run_options(const CommandLine& from, CommandLine& to) {
  to.common = from.common;
  std::vector<std::string> patterns = std::move(to.trace.probes.patterns);
  to.trace.probes = from.trace.probes;
  to.trace.probes.patterns = std::move(patterns);
  to.trace.seconds = from.trace.seconds;
  to.trace.rows = from.trace.rows;
  to.trace.budget = from.trace.budget;
  to.trace.partial |= from.trace.partial;
  to.trace.dry_run = from.trace.dry_run;
}

// As if its commands had been typed, into one session.
int run_recipe(const CommandLine& line) {
  auto recipe = find_recipe(line.name);
  if (!recipe) return fail(recipe.error());
  auto commands = commands_of(**recipe, given_values(line));
  if (!commands) return fail(commands.error());
  std::vector<CommandLine> lines(commands->size());  // those that were read stay where they are
  for (size_t i = 0; i < lines.size(); ++i) {
    if (auto status = read((*commands)[i], lines[i])) return *status;
    take_run_options(line, lines[i]);
    if (i > 0) lines[0].trace.beside.push_back(lines[i].trace);
  }
  lines[0].trace.any_of = (*recipe)->is_any_of;
  lines[0].trace.keys = (*recipe)->keys;
  return lines[0].chosen();
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine line;
  if (auto status = read({argv + 1, argv + argc}, line)) return *status;
  return line.chosen();
}
