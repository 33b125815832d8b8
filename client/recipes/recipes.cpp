// SPDX-License-Identifier: BSD-2-Clause
#include "client/recipes/recipes.h"

#include <algorithm>

#include "daemon/base/nearest.h"

namespace tracectl {
namespace {

using Kind = RecipeOption::Kind;

const std::vector<RecipeOption> kOptions = {
    {"longer-than", "TIME", Kind::time, "only what takes at least this time: 20us, 100ms, 2s"},
    {"function", "PATTERN", Kind::text, "the functions, as in uprobe::parse_*"},
    {"argument", "EXPR", Kind::text, "what the rows are by: arg1, 'str(arg0)', 'arg0 / 1024'"},
};

constexpr const char* kErlang =
    "an Erlang virtual machine with USDT probes: Erlang/OTP, configured "
    "--with-dynamic-trace=systemtap, or one of your own (docs/erlang.md)";
constexpr const char* kErlangCalls =
    "an Erlang virtual machine with USDT probes of calls: Erlang/OTP, configured "
    "--with-dynamic-trace=systemtap --disable-jit, or one of your own (docs/erlang.md, which also "
    "says which calls Erlang/OTP does not report)";
constexpr const char* kOwnErlang =
    "an Erlang virtual machine of your own with the USDT probes of docs/erlang.md: Erlang/OTP has "
    "no such probes";
// Of BIFs and NIFs.
const std::vector<std::string> kErlangNativeTimes = {"latency",
                                                     "--from",
                                                     "usdt::erlang:[bn]if-entry",
                                                     "--to",
                                                     "usdt::erlang:[bn]if-return",
                                                     "--by",
                                                     "str(arg0), str(arg1)",
                                                     "--per",
                                                     "str(arg1)"};
constexpr const char* kOwn = "an Erlang virtual machine of your own";

const std::vector<Recipe> kRecipes = {
    {
        .name = "postgresql-slow-queries",
        .tells = "queries that take long, as they end, and a histogram of their times",
        .needs = "postgres with its USDT probes, as Debian builds it; queries of the simple "
                 "protocol, as psql sends them, not prepared ones",
        .commands = {{"trace", "usdt:postgres:postgresql:query__done", "--from",
                      "usdt:postgres:postgresql:query__start", "--by", "pid, str(arg0)", "--when",
                      "duration >= {longer-than}", "--do", "event(str(arg0)), time"}},
        .parameters = {{"longer-than", "100ms"}},
        .keys = {{"str(arg0)", "query"}},
    },
    {
        .name = "python-functions",
        .tells = "how often the functions of a Python program are called, by file and name",
        .needs = "CPython 3.11 with its USDT probes, as Debian builds it; a generator is counted "
                 "each time it yields",
        .commands = {{"count", "usdt:*python3*:python:function__return", "--by",
                      "str(arg0), str(arg1)"}},
        .keys = {{"str(arg0)", "file"}, {"str(arg1)", "function"}},
    },
    {
        .name = "python-function-times",
        .tells = "what the calls of the functions of a Python program take",
        .needs = "CPython 3.11 with its USDT probes, as Debian builds it, while the program has a "
                 "profiler or tracer set, as by sys.setprofile; of recursive calls the innermost "
                 "is timed",
        .commands = {{"latency", "--from", "usdt:*python3*:python:function__entry", "--to",
                      "usdt:*python3*:python:function__return", "--by", "tid, str(arg0), str(arg1)",
                      "--per", "str(arg0), str(arg1)"}},
        .keys = {{"str(arg0)", "file"}, {"str(arg1)", "function"}},
    },
    {
        .name = "ruby-methods",
        .tells = "how often the methods of a Ruby program are called, by class and name",
        .needs = "libruby with its USDT probes, as Debian builds it; Ruby 3.1 tells of methods "
                 "written in C always, of those written in Ruby while a TracePoint for :call is on",
        .commands = {{"count", "usdt:libruby*:ruby:*method__entry", "--by",
                      "str(arg0), str(arg1)"}},
        .keys = {{"str(arg0)", "class"}, {"str(arg1)", "method"}},
    },
    {
        .name = "ruby-method-times",
        .tells = "what the calls of the methods of a Ruby program take",
        .needs = "what ruby-methods needs; of recursive calls the innermost is timed",
        .commands = {{"latency", "--from", "usdt:libruby*:ruby:method__entry", "--to",
                      "usdt:libruby*:ruby:method__return", "--by", "tid, str(arg0), str(arg1)",
                      "--per", "str(arg0), str(arg1)"},
                     {"latency", "--from", "usdt:libruby*:ruby:cmethod__entry", "--to",
                      "usdt:libruby*:ruby:cmethod__return", "--by", "tid, str(arg0), str(arg1)",
                      "--per", "str(arg0), str(arg1)"}},
        .keys = {{"str(arg0)", "class"}, {"str(arg1)", "method"}},
    },
    {
        .name = "erlang-messages",
        .tells = "how long the queues of Erlang processes are, and who sends whom how many words",
        .needs = kErlang,
        .commands = {{"hist", "usdt::erlang:message-queued", "--of", "arg2", "--by", "str(arg0)"},
                     {"trace", "usdt::erlang:message-send", "--do",
                      "sum(arg2) by str(arg0), str(arg1)"}},
        .keys = {{"str(arg0)", "process"}, {"str(arg1)", "receiver"}},
    },
    {
        .name = "erlang-calls",
        .tells = "how often Erlang functions, BIFs and NIFs are called",
        .needs = kErlangCalls,
        .commands = {{"count", "usdt::erlang:*-function-entry", "--by", "str(arg1)"}},
        .keys = {{"str(arg1)", "function"}},
        .variants = {{kOwn,
                      "usdt::erlang:bif-entry",
                      3,
                      {{"count", "usdt::erlang:*-entry", "--by", "str(arg1)"}},
                      {{"str(arg1)", "function"}}}},
    },
    {
        .name = "erlang-call-times",
        .tells = "what the calls of Erlang functions, BIFs and NIFs take",
        .needs = kErlangCalls,
        .commands = {{"latency", "--from", "usdt::erlang:*-function-entry", "--to",
                      "usdt::erlang:function-return", "--by", "str(arg0), str(arg1)", "--per",
                      "str(arg1)"},
                     kErlangNativeTimes},
        .keys = {{"str(arg0)", "process"}, {"str(arg1)", "function"}},
        .variants = {{kOwn,
                      "usdt::erlang:function-return",
                      4,
                      {{"latency", "--from", "usdt::erlang:*-function-entry", "--to",
                        "usdt::erlang:function-return", "--by", "str(arg0), str(arg1), arg2",
                        "--per", "str(arg1)"},
                       kErlangNativeTimes},
                      {{"str(arg0)", "process"}, {"str(arg1)", "function"}, {"arg2", "depth"}}}},
    },
    {
        .name = "erlang-spawns",
        .tells =
            "with which function Erlang processes are spawned, and who does it if the probe has it",
        .needs = kErlang,
        .commands = {{"count", "usdt::erlang:process-spawn", "--by", "str(arg1)"}},
        .keys = {{"str(arg1)", "function"}},
        .variants = {{kOwn,
                      "usdt::erlang:process-spawn",
                      4,
                      {{"count", "usdt::erlang:process-spawn", "--by", "str(arg2), str(arg1)"}},
                      {{"str(arg2)", "function"}, {"str(arg1)", "parent"}}}},
    },
    {
        .name = "erlang-lives",
        .tells = "how long Erlang processes live, by the reason why they end",
        .needs = kErlang,
        .commands = {{"latency", "--from", "usdt::erlang:process-spawn", "--to",
                      "usdt::erlang:process-exit", "--by", "str(arg0)", "--per", "str(arg1)"}},
        .keys = {{"str(arg0)", "process"}, {"str(arg1)", "reason"}},
    },
    {
        .name = "erlang-links",
        .tells = "which Erlang processes and ports are linked, and unlinked, how often",
        .needs = kOwnErlang,
        .commands = {{"count", "usdt::erlang:*link*", "--by", "str(arg0), str(arg1)"}},
        .keys = {{"str(arg0)", "process"}, {"str(arg1)", "other"}},
    },
    {
        .name = "erlang-names",
        .tells = "which names Erlang processes and ports get and lose, as it happens",
        .needs = kOwnErlang,
        .commands = {{"trace", "usdt::erlang:*registered", "--do", "event(str(arg0), str(arg1))"}},
    },
    {
        .name = "erlang-scheduling",
        .tells = "how long Erlang processes run at a time, and how long they do not",
        .needs = kErlang,
        .commands = {{"latency", "--from", "usdt::erlang:process-*scheduled", "--to",
                      "usdt::erlang:process-*scheduled", "--by", "str(arg0)", "--per",
                      "{argument}"}},
        .parameters = {{"argument", "str(arg0)"}},
        .keys = {{"str(arg0)", "process"}, {"str(arg1)", "function"}},
    },
    {
        .name = "erlang-gc",
        .tells = "how long garbage collections of Erlang processes take",
        .needs = kErlang,
        .commands = {{"latency", "--from", "usdt::erlang:gc_*-start", "--to",
                      "usdt::erlang:gc_*-end", "--by", "str(arg0)", "--per", "{argument}"}},
        .parameters = {{"argument", "str(arg0)"}},
        .keys = {{"str(arg0)", "process"}},
    },
    {
        .name = "erlang-gc-words",
        .tells = "how many words Erlang processes need when they collect, and what that reclaims",
        .needs = kErlang,
        .commands = {{"hist", "usdt::erlang:gc_*-start", "--of", "arg1"},
                     {"trace", "usdt::erlang:gc_*-end", "--do", "sum(arg1) by str(arg0)"}},
        .keys = {{"str(arg0)", "process"}},
    },
    {
        .name = "erlang-activity",
        .tells = "how long Erlang processes, ports and schedulers are active, and inactive",
        .needs = kOwnErlang,
        .commands = {{"latency", "--from", "usdt::erlang:*-*active", "--to",
                      "usdt::erlang:*-*active", "--by", "str(arg0)", "--per", "str(arg0)"}},
        .keys = {{"str(arg0)", "who"}},
    },
    {
        .name = "malloc-sizes",
        .tells = "how large the pieces of memory are that are asked for, by who asks",
        .needs =
            "glibc, or the allocator's function as --function; in C++ operator new calls malloc: "
            "there --function 'uprobe:libstdc++*:_Znwm' tells who calls it",
        .commands = {{"hist", "{function}", "--of", "arg0", "--by", "caller"}},
        .parameters = {{"function", "uprobe:libc.so*:malloc"}},
    },
    {
        .name = "lock-waits",
        .tells = "how long threads wait for each mutex and read-write lock",
        .needs = "glibc 2.34 or later; a lock is known by its address",
        .commands = {{"time", "uprobe:libc.so*:pthread_mutex_lock",
                      "uprobe:libc.so*:pthread_rwlock_rdlock",
                      "uprobe:libc.so*:pthread_rwlock_wrlock", "--by", "arg0", "--when",
                      "duration >= {longer-than}"}},
        .parameters = {{"longer-than", "20us"}},
        .keys = {{"arg0", "lock"}},
    },
    {
        .name = "cxx-exceptions",
        .tells = "which exceptions are thrown, by type and place",
        .needs = "C++ with libstdc++, shared or in the executable",
        .commands = {{"count", "uprobe:libstdc++*:__cxa_throw", "--by",
                      "str(u64(arg1 + 8)), caller"},
                     {"count", "uprobe::__cxa_throw", "--by", "str(u64(arg1 + 8)), caller"}},
        .is_any_of = true,
        .keys = {{"str(u64(arg1 + 8))", "type", true}},
    },
    {
        .name = "file-opens",
        .tells = "which files are opened, and how often it is tried",
        .needs = "glibc; paths are as the program gives them, of up to 64 bytes",
        .commands = {{"count", "uprobe:libc.so*:open64", "--by", "str(arg0)"},
                     {"count", "uprobe:libc.so*:openat64", "--by", "str(arg1)"}},
        .keys = {{"str(arg0)", "path"}, {"str(arg1)", "path"}},
    },
    {
        .name = "gc-pauses",
        .tells = "how long garbage collections take",
        .needs = "CPython 3 or Ruby with their USDT probes, as Debian builds them",
        .commands = {{"latency", "--from", "usdt:*python3*:python:gc__start", "--to",
                      "usdt:*python3*:python:gc__done"},
                     {"latency", "--from", "usdt:libruby*:ruby:gc__mark__begin", "--to",
                      "usdt:libruby*:ruby:gc__mark__end"},
                     {"latency", "--from", "usdt:libruby*:ruby:gc__sweep__begin", "--to",
                      "usdt:libruby*:ruby:gc__sweep__end"}},
        .is_any_of = true,
    },
    {
        .name = "latency-by-argument",
        .tells = "what the calls of a function take, by an argument",
        .needs = "a symbol of the function; USDT probes have no duration",
        .commands = {{"time", "{function}", "--by", "{argument}"}},
        .parameters = {{"function", std::nullopt}, {"argument", "arg0"}},
    },
    {
        .name = "hottest-functions",
        .tells = "how often each function of a program is called, the most called first",
        .needs = "symbols; it arms all functions of the executable, and each call then costs "
                 "about a microsecond",
        .commands = {{"count", "{function}", "--partial"}},
        .parameters = {{"function", "uprobe::*"}},
    },
};

}  // namespace

std::span<const Recipe> all_recipes() { return kRecipes; }
std::span<const RecipeOption> all_recipe_options() { return kOptions; }

const RecipeOption& recipe_option(const std::string& name) {
  return *std::find_if(kOptions.begin(), kOptions.end(),
                       [&](const RecipeOption& option) { return option.name == name; });
}

Result<const Recipe*> find_recipe(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Recipe& recipe : kRecipes) {
    if (recipe.name == name) return &recipe;
    names.push_back(recipe.name);
  }
  const std::string nearest = did_you_mean(name, names);
  return Error{Code::not_found,
               "there is no recipe \"" + name + "\"" +
                   (nearest.empty() ? "; tracectl recipe list shows all" : nearest)};
}

}  // namespace tracectl
