// SPDX-License-Identifier: BSD-2-Clause
//
// tracectl: the command line. Options and verbs only; each verb has a function in verbs.h.
#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <optional>

#include "client/duration.h"
#include "client/options.h"
#include "client/output.h"
#include "client/recipes.h"
#include "client/recorder_bound.h"
#include "client/recording_verbs.h"
#include "client/remote.h"
#include "client/usage.h"
#include "client/verb_options.h"
#include "client/verbs.h"

namespace {

using namespace tracectl;

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
  CLI::App* session =
      app.add_subcommand("session", "named sessions: new, list, show, prove, save, delete");
  session->require_subcommand(1);
  session->fallthrough();
  const auto add_named = [&](const char* name, const char* help, auto run) {
    add_verb(*session, name, help, line.chosen,
             [&line, run] { return run(line.common, line.name); })
        .add_option("NAME", line.name, "of the session")
        ->required();
  };
  auto& made = add_verb(*session, "new", "make an empty session", line.chosen, [&] {
    return run_session_new(line.common,
                           {line.name, line.trace.budget, line.recorder, line.dump_on, line.saved});
  });
  made.add_option("NAME", line.name, "of the session")->required();
  made.add_flag("--saved", line.saved, "it goes on when the daemon is restarted or upgraded");
  add_budget(made, line.trace.budget);
  auto* recorder = made.add_option("--recorder", line.recorder,
                                   "keep its last events in memory, for dump: 64M, 10s, or 64M,10s")
                       ->option_text("SIZE|TIME")
                       ->check(check_recorder_bound);
  made.add_option(
          "--dump-on", line.dump_on,
          "dump them to the daemon's directory when a process it traces crashes: crash; when a "
          "unit of systemd's fails: failed:nginx")
      ->option_text("WHAT")
      ->needs(recorder)
      ->check(check_dump_on);
  add_named("show", "its settings, its draft, its counts", run_session_show);
  auto& prove =
      add_verb(*session, "prove", "let it see your processes that it has left out, and those of -p",
               line.chosen,
               [&] { return run_session_prove(line.common, line.name, line.trace.probes.pids); });
  prove.add_option("NAME", line.name, "of the session")->required();
  prove.add_option("-p,--pid", line.trace.probes.pids, "these processes, too")->option_text("PID");
  add_named("save", "print what begins it with the daemon: for /etc/tracectl/sessions.d/NAME.json",
            run_session_save);
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
  add_keep_if(set, line.stage.keep_if);
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
    return run_watch(line.common,
                     {line.name, parse_duration(line.duration), *parse_duration(line.reconnect)});
  });
  watch.add_option("NAME", line.name, "of the session")->required();
  watch.add_option("--for", line.duration, "end after this time: 10s, 500ms, 2m")
      ->check(check_duration);
  watch
      .add_option("--reconnect", line.reconnect,
                  "how long to try to go on with a saved session after the daemon has ended")
      ->check(check_duration)
      ->capture_default_str();
  add_verb(app, "flush", "return once every event fired before has been delivered", line.chosen,
           [&] { return run_flush(line.common, line.name); })
      .add_option("NAME", line.name)
      ->required();
}

std::string check_interval(const std::string& text) {
  const auto seconds = parse_duration(text);
  if (!seconds) return check_duration(text);
  return *seconds >= 0.01 && *seconds <= 86400 ? "" : "an interval is from 10ms to a day";
}

void add_top(CLI::App& app, CommandLine& line) {
  auto& top = add_verb(app, "top", "armed probes as they are hit, those that cost most first",
                       line.chosen, [&] {
                         line.top.interval_s = *parse_duration(line.interval);
                         return run_top(line.common, line.top);
                       });
  top.add_option("--interval", line.interval, "between two tables: 1s, 500ms")
      ->check(check_interval)
      ->capture_default_str();
  top.add_option("-n,--iterations", line.top.iterations, "end after so many tables")
      ->check(CLI::Range(uint64_t{1}, UINT64_MAX));
  top.add_option("--rows", line.top.rows, "how many rows of a table are printed");
}

void add_daemon(CLI::App& app, CommandLine& line) {
  add_verb(app, "status", "the daemon, and what it holds", line.chosen,
           [&] { return run_status(line.common); });
  add_verb(app, "stats", "the daemon's own counters", line.chosen,
           [&] { return run_stats(line.common); });
  add_verb(app, "metrics", "the same in the text format of Prometheus", line.chosen,
           [&] { return run_metrics(line.common); });
  add_verb(app, "doctor", "try what this kernel can do, and say what that means", line.chosen,
           [&] { return run_doctor(line.common); });
}

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

// ssh would treat it as an option.
std::string check_host(const std::string& host) {
  return host.empty() || host.starts_with('-') ? "a host is wanted, not \"" + host + '"' : "";
}

void add_common(CLI::App& app, CommonOptions& common) {
  app.set_version_flag("--version", TRACECTL_VERSION);
  app.add_option("--socket", common.socket, "the daemon's socket")
      ->envname("TRACECTL_SOCKET")
      ->capture_default_str();
  app.add_flag("--embedded", common.embedded, "trace without a daemon (as root)");
  app.add_flag("--fast-nops", common.fast_nops,
               "of the embedded engine: probes on 5-byte nops may become calls; see tracectld(8)");
  app.add_option("-H,--host", common.host, "run this on another host, over ssh")
      ->option_text("[USER@]HOST")
      ->check(check_host);
  app.add_flag("--end-with-input", common.end_with_input, "take the end of standard input for ^C");
  app.add_flag("--json", common.json, "one JSON document, or one a line when streaming");
  app.add_flag("-q,--quiet", common.quiet, "results only");
  app.add_flag("-v,--verbose", common.verbose, "log what the embedded engine does");
}

bool takes_command(const CLI::App& app) {
  for (const char* verb :
       {"list", "trace", "count", "hist", "time", "latency", "stacks", "graph", "record"})
    if (app.got_subcommand(verb)) return true;
  if (app.got_subcommand("stage")) return true;  // it refuses them with an explanation
  return app.got_subcommand("recipe") && app.get_subcommand("recipe")->got_subcommand("run");
}

// Settings that depend on several options.
Status complete(CommandLine& line, const CLI::App& app) {
  line.trace.seconds = parse_duration(line.duration);
  if (app.got_subcommand("graph"))
    if (auto completed = complete_graph(line); !completed) return completed;
  if (auto completed = complete_recordings(line); !completed) return completed;
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

// Parses the words of a command line; returns an exit status if there is nothing to run.
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
  add_top(app, line);
  add_daemon(app, line);
  add_schema(app, line);

  // The command to start follows --.
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

// Passes the options of `recipe run` to the recipe's commands: target, duration and so on.
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

// Runs the recipe's commands as if they had been typed, in one session.
int run_recipe(const CommandLine& line) {
  auto recipe = find_recipe(line.name);
  if (!recipe) return fail(recipe.error());
  auto commands = commands_of(**recipe, given_values(line));
  if (!commands) return fail(commands.error());
  std::vector<CommandLine> lines(commands->size());  // not reallocated while read
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
  const Words words{argv + 1, argv + argc};
  if (auto status = read(words, line)) return *status;
  if (!line.common.host.empty()) {
    const auto there = without_host(words);
    return there ? run_remote(line.common.host, *there) : (fail(there.error()), kUsage);
  }
  if (line.common.end_with_input)
    if (auto set = end_with_input(); !set) return fail(set.error());
  return line.chosen();
}
