%% SPDX-License-Identifier: BSD-2-Clause
%%
%% An Erlang program to trace that knows how often it does what, and how long. It is run on a virtual machine
%% of Erlang/OTP, as `erl -noshell -s erlang_work main ROUNDS`, and controlled like the programs of
%% stdin_protocol.h.
-module(erlang_work).
-export([main/1, worker/2, plain/1, through/1]).

-define(PLAIN, 1).     % calls of plain/1
-define(INNER_NS, 2).  % what they took at least, all together
-define(OUTER_NS, 3).  % and at most
-define(DOWN, 4).      % recursive calls of deep/1, with the first
-define(AROUND, 5).    % tail calls of around/2, with the first
-define(FAILED, 6).    % calls of fails/1
-define(PUTS, 7).      % calls of erlang:put/2
-define(SENT, 8).      % messages of workers
-define(COLLECTED, 9). % garbage collections that it asked for
-define(NAMES, [plain, inner_ns, outer_ns, down, around, failed, puts, sent, collected]).

main([Rounds]) ->
    io:format("ready ~s~n", [os:getpid()]),
    "go\n" = io:get_line(""),
    Counters = counters:new(9, []),
    Reasons = [round(Counters, Number) || Number <- lists:seq(1, list_to_integer(atom_to_list(Rounds)))],
    Counts = [io_lib:format("\"~s\": ~b, ", [Name, counters:get(Counters, Index)])
              || {Index, Name} <- lists:enumerate(?NAMES)],
    Normal = length([normal || normal <- Reasons]),
    io:format("done~n{~s\"normal\": ~b, \"stopped\": ~b, \"main\": \"~p\"}~n",
              [Counts, Normal, length(Reasons) - Normal, self()]),
    "exit\n" = io:get_line(""),
    halt(0).

%% Returns the reason for which the worker of the round has ended.
round(Counters, Number) ->
    Worker = spawn(?MODULE, worker, [Counters, self()]),
    Monitor = monitor(process, Worker),
    Worker ! {work, Number},
    receive {done, Worker} -> ok end,
    receive {'DOWN', Monitor, process, Worker, Reason} -> Reason end.

worker(Counters, Parent) ->
    Number = receive {work, Given} -> Given end,
    Begun = erlang:monotonic_time(nanosecond),
    ?MODULE:plain(Counters),
    ?MODULE:through(Counters),
    counters:add(Counters, ?OUTER_NS, erlang:monotonic_time(nanosecond) - Begun),
    5 = deep(Counters, 5),
    done = around(Counters, 10),
    failed = try fails(Counters) catch throw:Reason -> Reason end,
    counters:add(Counters, ?PUTS, 1),
    put(number, Number),
    counters:add(Counters, ?COLLECTED, 1),
    garbage_collect(),
    counters:add(Counters, ?SENT, 1),
    Parent ! {done, self()},
    case Number rem 2 of
        0 -> exit(stopped);
        1 -> ok
    end.

%% Takes a time that it knows itself. Returns a constant, as all do that are timed: the virtual machine has no probe
%% where a function with a stack frame returns what is computed last.
plain(Counters) ->
    Begun = erlang:monotonic_time(nanosecond),
    counters:add(Counters, ?PLAIN, 1),
    receive after 1 -> ok end,
    counters:add(Counters, ?INNER_NS, erlang:monotonic_time(nanosecond) - Begun),
    ok.

%% Calls itself, and returns as often; only the innermost call returns a constant.
deep(Counters, 0) ->
    counters:add(Counters, ?DOWN, 1),
    0;
deep(Counters, More) ->
    counters:add(Counters, ?DOWN, 1),
    1 + deep(Counters, More - 1).

%% Calls itself in its place, and returns once.
around(Counters, 0) ->
    counters:add(Counters, ?AROUND, 1),
    done;
around(Counters, More) ->
    counters:add(Counters, ?AROUND, 1),
    around(Counters, More - 1).

%% Never returns: another function does so in its place.
through(Counters) ->
    plain(Counters).

fails(Counters) ->
    counters:add(Counters, ?FAILED, 1),
    throw(failed).
