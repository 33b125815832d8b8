# SPDX-License-Identifier: BSD-2-Clause
"""The probes of Erlang's virtual machine: runs each command of docs/erlang.md on a small machine with all these
probes (tests/targets/erlang_vm.cpp), and compares the results with what the machine knows of itself."""

import json
import os
import re
import shlex
import signal
import subprocess
import tempfile
import unittest

import support

DOCUMENT = (support.ROOT / 'docs/erlang.md').read_text()
PROVIDER = (support.ROOT / 'tests/targets/erlang_vm.d').read_text()
SCHEDULERS, ROUNDS = 3, 20


def declared():
    """The types and names of each probe's arguments in its provider file."""
    return {name: re.findall(r'\s*(.*?)\s*(\w+)\s*(?:,|$)', arguments)
            for name, arguments in re.findall(r'probe (\w+)\(([^)]*)\)', PROVIDER)}


class Tally:
    """The sums of the machine's report on some probes with some names."""

    def __init__(self):
        self.all = self.enabled = self.matched = self.inner = self.outer = self.greatest = 0
        self.sums = [0] * 5

    def add(self, said):
        for name in ('all', 'enabled', 'matched', 'inner', 'outer'):
            setattr(self, name, getattr(self, name) + said[name])
        self.greatest = max(self.greatest, said['greatest'])
        self.sums = [mine + more for mine, more in zip(self.sums, said['sums'])]


class Truth:
    def __init__(self, said):
        self.said = said
        # The ledger has the macro names of the generated header.
        names = {name.replace('__', '_').upper(): name for name in declared()}
        self.ledger = [(names[macro], of, tally) for macro, of, tally in said['ledger']]

    def by(self, pattern, *names):
        """A tally for each matching probe and each value of the names with these numbers."""
        found = {}
        for probe, of, said in self.ledger:
            if re.fullmatch(pattern, probe):
                found.setdefault((probe, *(of[name] for name in names)), Tally()).add(said)
        return found

    def total(self, pattern):
        return sum(tally.all for tally in self.by(pattern).values())

    def enabled(self):
        return {probe for (probe,), tally in self.by('.*').items() if tally.enabled}


def key_of(row, *names):
    return (row['probe'].split(':')[-1], *(row['by'][name] for name in names))


@support.needs_root
class Commands(support.DaemonTest):
    def traced(self, command):
        """Runs this command of the document; returns the machine's report, and the lines that tracectl
        prints."""
        program = self.program('erlang_vm', str(SCHEDULERS), str(ROUNDS))
        words = shlex.split(command)[1:]
        process = subprocess.Popen(
            [support.TRACECTL, '--socket', self.daemon.socket, '--json', *words, '-p',
             str(program.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertTrue(any('^C' in line for line in process.stderr), command)
        program.send('go')
        truth = Truth(program.result())
        process.send_signal(signal.SIGINT)
        printed, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, said)
        self.assert_it_worked(truth)
        self.assert_only_what_was_armed_was_computed(truth, command)
        program.send('exit')
        program.process.wait(timeout=60)
        return truth, [json.loads(line) for line in printed.splitlines()]

    def assert_it_worked(self, truth):
        """Nothing that was sent and kept was lost: the result of the work in erlang_vm_code.h."""
        of_twelve, of_twenty = 12 * (1 + 2), sum(range(20, 40))
        self.assertEqual(truth.said['lists'], ROUNDS * (3 * (5 * of_twelve + of_twenty) + 2 + 3))
        self.assertEqual(truth.said['received'][0],
                         sum(tally.sums[0] for tally in truth.by('message__queued').values()))

    def assert_only_what_was_armed_was_computed(self, truth, command):
        for probe, _, said in truth.ledger:
            self.assertIn(said['enabled'], (0, said['all']), probe)
        self.assertEqual(truth.enabled(), set(ARMED[command]) & {
            probe for probe, *_ in truth.ledger})

    def table(self, command):
        truth, (read,) = self.traced(command)
        self.assertEqual(read['dropped_ring'], 0)
        if 'latencies' not in read:
            self.assertEqual(read['dropped_keys'], 0)
        return truth, read

    def assert_counts(self, rows, expected, *names):
        self.assertTrue(expected)
        self.assertEqual({key_of(row, *names): row['count'] for row in rows if row['count']},
                         {key: tally.all for key, tally in expected.items()})

    def assert_sums(self, rows, expected, number, *names):
        self.assertTrue(any(tally.sums[number] for tally in expected.values()))
        self.assertEqual({key_of(row, *names): (row['count'], row['sum']) for row in rows},
                         {key: (tally.all, tally.sums[number]) for key, tally in expected.items()})

    def assert_times(self, read, expected, *names):
        """Each sum is between the machine's own shortest and longest measurement."""
        expected = {key: tally for key, tally in expected.items() if tally.matched}
        self.assertTrue(expected)
        rows = [row for row in read['rows'] if row['count']]
        for row in rows:
            tally = expected[key_of(row, *names)]
            self.assertLessEqual(row['count'], tally.matched, row)
            self.assertLessEqual(row['sum'], tally.outer, row)
            if row['count'] == tally.matched:
                self.assertLessEqual(tally.inner, row['sum'], row)
        # A dropped hit removes at most one match.
        matched = sum(tally.matched for tally in expected.values())
        counted = sum(row['count'] for row in rows) + read['dropped_keys']
        self.assert_but_for_dropped(counted, matched, *read['latencies'])

    def assert_but_for_dropped(self, counted, passed, *latencies):
        """The numbers are equal, but if a thread was stopped within a hit, others may have been dropped, which
        is reported."""
        self.assertLessEqual(abs(passed - counted), sum(one['dropped'] for one in latencies))

    def assert_pairs(self, latency, truth, starts, ends):
        matched = sum(tally.matched for tally in truth.by(ends).values())
        self.assertEqual(latency['unread'], 0)
        self.assert_but_for_dropped(latency['started'], truth.total(starts), latency)
        self.assert_but_for_dropped(latency['matched'], matched, latency)
        self.assertEqual(latency['started'],
                         latency['matched'] + latency['overwritten'] + latency['open'])

    def assert_left(self, latency, still_open, overwritten=0):
        self.assert_but_for_dropped(latency['open'], still_open, latency)
        self.assert_but_for_dropped(latency['overwritten'], overwritten, latency)

    # ---- trace messages ----

    def erlang_messages(self, command):
        truth, read = self.table(command)
        queues = [row for row in read['rows'] if 'hist' in row]
        expected = truth.by('message__queued', 0)
        self.assert_counts(queues, expected, 'str(arg0)')
        for row in queues:
            longest = row['hist'][-1]
            greatest = expected[key_of(row, 'str(arg0)')].greatest
            self.assertTrue(longest['min'] <= greatest <= longest['max'], row)
        self.assert_sums([row for row in read['rows'] if 'sum' in row],
                         truth.by('message__send', 0, 1), 0, 'str(arg0)', 'str(arg1)')

    def erlang_calls(self, command):
        truth, read = self.table(command)
        self.assert_counts(read['rows'], truth.by('.*__entry', 1), 'str(arg1)')

    def erlang_call_times(self, command):
        truth, read = self.table(command)
        self.assert_times(read, truth.by('(function|[bn]if)__return', 1), 'str(arg1)')
        latencies = {latency['to'].split(':')[-1]: latency for latency in read['latencies']}
        self.assert_pairs(latencies['function-return'], truth, '.*function__entry',
                          'function__return')
        # Functions that fail do not return; neither does erlang:exit/1.
        self.assert_left(latencies['function-return'], ROUNDS)
        self.assert_pairs(latencies['[bn]if-return'], truth, '[bn]if__entry', '[bn]if__return')
        self.assert_but_for_dropped(latencies['[bn]if-return']['open'],
                                    truth.by('bif__entry', 1)['bif__entry', 'erlang:exit/1'].all,
                                    latencies['[bn]if-return'])

    def erlang_spawns(self, command):
        truth, read = self.table(command)
        expected = truth.by('process__spawn', 2, 1)
        self.assert_counts(read['rows'], expected, 'str(arg2)', 'str(arg1)')
        self.assertEqual(expected['process__spawn', 'worker:run/1', '<0.1.0>'].all, 3 * ROUNDS)

    def erlang_lives(self, command):
        truth, read = self.table(command)
        expected = truth.by('process__exit', 1)
        self.assertEqual({reason for _, reason in expected}, {'normal', 'badarith', 'shutdown'})
        self.assert_times(read, expected, 'str(arg1)')
        latency, = read['latencies']
        self.assert_pairs(latency, truth, 'process__spawn', 'process__exit')
        self.assert_left(latency, 0)
        # Init has the longest life. The main thread spawns it, and a scheduler sees its end.
        longest = latency['slowest'][0]
        self.assertEqual(longest['by'], {'str(arg0)': '<0.1.0>'})
        self.assertEqual(longest['from_tid'], longest['from_pid'])
        self.assertNotEqual(longest['to_tid'], longest['from_tid'])

    def erlang_links(self, command):
        truth, read = self.table(command)
        expected = truth.by('.*link.*', 0, 1)
        self.assertEqual(len({probe for probe, *_ in expected}), 8)
        self.assert_counts(read['rows'], expected, 'str(arg0)', 'str(arg1)')

    def erlang_names(self, command):
        truth, events = self.traced(command)
        found, held = {}, {}
        for event in events:
            probe, (who, name) = event['probe'].split(':')[-1], event['args']
            found[probe, who, name] = found.get((probe, who, name), 0) + 1
            if probe.endswith('unregistered'):
                self.assertEqual(held.pop(name), who)
            else:
                self.assertIsNone(held.setdefault(name, who) if name in held else None)
                held[name] = who
        self.assertEqual(held, {})
        expected = truth.by('.*registered', 0, 1)
        self.assertEqual(len({probe for probe, *_ in expected}), 4)
        self.assertEqual(found, {key: tally.all for key, tally in expected.items()})

    def erlang_scheduling(self, command, name=0):
        truth, read = self.table(command)
        expected = truth.by('process__(un)?scheduled', name)
        self.assertEqual(len({probe for probe, _ in expected}), 2)
        self.assert_times(read, expected, f'str(arg{name})')
        latency, = read['latencies']
        self.assert_pairs(latency, truth, 'process__(un)?scheduled', 'process__(un)?scheduled')
        self.assert_left(latency, truth.total('process__exit'))

    def erlang_scheduling_of_functions(self, command):
        self.erlang_scheduling(command, 1)

    def erlang_gc(self, command):
        truth, read = self.table(command)
        expected = truth.by('gc_.*__end', 0)
        self.assertEqual(len({probe for probe, _ in expected}), 2)
        self.assert_times(read, expected, 'str(arg0)')
        latency, = read['latencies']
        self.assert_pairs(latency, truth, 'gc_.*__start', 'gc_.*__end')
        self.assert_left(latency, 0)
        total = sum(row['sum'] for row in read['rows'])
        self.assertLessEqual(total, SCHEDULERS * truth.said['wall'])

    def erlang_gc_words(self, command):
        truth, read = self.table(command)
        needs = [row for row in read['rows'] if 'hist' in row]
        self.assert_counts([{**row, 'by': {}} for row in needs], truth.by('gc_.*__start'))
        self.assert_sums([row for row in read['rows'] if 'sum' in row],
                         truth.by('gc_.*__end', 0), 0, 'str(arg0)')

    # ---- profiling messages ----

    def erlang_activity(self, command):
        truth, read = self.table(command)
        expected = truth.by('.*__(in)?active', 0)
        self.assertEqual(len({probe for probe, _ in expected}), 6)
        self.assert_times(read, expected, 'str(arg0)')
        latency, = read['latencies']
        self.assert_pairs(latency, truth, '.*__(in)?active', '.*__(in)?active')
        self.assert_but_for_dropped(latency['overwritten'], 0, latency)
        running = sum(row['sum'] for row in read['rows'] if row['probe'].endswith(
            'scheduler__inactive'))
        self.assertLessEqual(running, SCHEDULERS * truth.said['wall'])

    # ---- more ----

    def runs_by_function(self, command):
        truth, read = self.table(command)
        self.assert_counts(read['rows'], truth.by('process__scheduled', 1), 'str(arg1)')

    def active_schedulers(self, command):
        truth, read = self.table(command)
        self.assert_counts([{**row, 'by': {}} for row in read['rows']],
                           truth.by('scheduler__(in)?active'))
        for row in read['rows']:
            self.assertLessEqual(row['hist'][-1]['min'], SCHEDULERS)

    def one_sequence(self, command):
        truth, events = self.traced(command)
        found = {}
        for event in events:
            sender, receiver, label, previous, current = event['args']
            self.assertEqual(label, 9)
            self.assertLess(previous, current)
            tally = found.setdefault((sender, receiver), [0, 0, 0])
            found[sender, receiver] = [tally[0] + 1, tally[1] + previous, tally[2] + current]
        said = truth.by('message__send', 0, 1, 2)
        expected = {(sender, receiver): [tally.all, tally.sums[3], tally.sums[4]]
                    for (_, sender, receiver, label), tally in said.items() if label == '9'}
        self.assertLess(len(expected), len(said))
        self.assertEqual(found, expected)

    def one_process(self, command):
        truth, read = self.table(command)
        said = truth.by('.*', 0)
        self.assert_counts([{**row, 'by': {}} for row in read['rows']],
                           {key[:1]: tally for key, tally in said.items() if key[1] == '<0.1.0>'})

    def all_there_is(self, command):
        truth, read = self.table(command)
        self.assertEqual({probe for probe, in truth.by('.*')}, set(declared()))
        self.assert_counts([{**row, 'by': {}} for row in read['rows']], truth.by('.*'))

    def test_each_command_of_the_document(self):
        written = re.findall(r'`(tracectl (?:recipe run|count|hist|trace) .*?)`', DOCUMENT)
        self.assertEqual(sorted(set(written)), sorted(CHECKS))
        for command, check in CHECKS.items():
            with self.subTest(command=command):
                check(self, command)


def probes(pattern):
    return [name for name in declared() if re.fullmatch(pattern, name)]


# The check of each command, and the probes that it arms.
ROWS = {
    'tracectl recipe run erlang-messages': (Commands.erlang_messages, 'message__.*'),
    'tracectl recipe run erlang-calls': (Commands.erlang_calls, '.*__entry'),
    'tracectl recipe run erlang-call-times': (Commands.erlang_call_times, '.*__(entry|return)'),
    'tracectl recipe run erlang-spawns': (Commands.erlang_spawns, 'process__spawn'),
    'tracectl recipe run erlang-lives': (Commands.erlang_lives, 'process__(spawn|exit)'),
    'tracectl recipe run erlang-links': (Commands.erlang_links, '.*link.*'),
    'tracectl recipe run erlang-names': (Commands.erlang_names, '.*registered'),
    'tracectl recipe run erlang-scheduling': (Commands.erlang_scheduling, '.*scheduled'),
    'tracectl recipe run erlang-gc': (Commands.erlang_gc, 'gc_.*'),
    'tracectl recipe run erlang-gc-words': (Commands.erlang_gc_words, 'gc_.*'),
    'tracectl recipe run erlang-activity': (Commands.erlang_activity, '.*active'),
    "tracectl recipe run erlang-scheduling --argument 'str(arg1)'":
        (Commands.erlang_scheduling_of_functions, '.*scheduled'),
    "tracectl count 'usdt::erlang:process-scheduled' --by 'str(arg1)'":
        (Commands.runs_by_function, 'process__scheduled'),
    "tracectl hist 'usdt::erlang:scheduler-*active' --of arg1":
        (Commands.active_schedulers, 'scheduler__.*'),
    "tracectl trace 'usdt::erlang:message-send' --when 'arg3 == 9' "
    "--do 'event(str(arg0), str(arg1), arg3, arg4, arg5)'": (Commands.one_sequence, 'message__send'),
    "tracectl count 'usdt::erlang:*' --when 'str(arg0) == \"<0.1.0>\"'": (Commands.one_process, '.*'),
    "tracectl count 'usdt::erlang:*'": (Commands.all_there_is, '.*'),
}
CHECKS = {command: check for command, (check, _) in ROWS.items()}
ARMED = {command: probes(pattern) for command, (_, pattern) in ROWS.items()}


class Document(unittest.TestCase):
    def test_it_has_each_probe_and_each_recipe(self):
        for name in declared():
            self.assertIn(f'`{name.replace("__", "-")}`', DOCUMENT)
        listed = json.loads(support.run('--json', 'recipe', 'list').stdout)['recipes']
        for recipe in listed:
            if recipe['name'].startswith('erlang-'):
                self.assertIn(f'`tracectl recipe run {recipe["name"]}`', DOCUMENT)

    def test_the_probes_are_there_as_declared(self):
        path = support.target('erlang_vm')
        listed = json.loads(support.run('--json', 'list', f'usdt:{path}:erlang:*').stdout)['probes']
        types = {'char *': 'u64', 'uint32_t': 'u32', 'int': 's32', 'uint64_t': 'u64'}
        self.assertEqual({probe['probe'].split(':')[-1]: [argument['type'] for argument in probe['args']]
                          for probe in listed},
                         {name: [types[kind] for kind, _ in arguments]
                          for name, arguments in declared().items()})
        self.assertEqual({len(probe['sites']) for probe in listed}, {1})


@support.needs_root
class OtherTools(support.DaemonTest):
    """They read and arm the result of tracectl-usdt for the provider file."""

    PROBE, RUN = 'process__spawn', (str(SCHEDULERS), '5')

    def test_bpftrace_counts_what_we_count(self):
        printed, read, said = self.beside_bpftrace(
            f'usdt:PATH:erlang:{self.PROBE} {{ @[str(arg2)] = count(); }}', 1, 'erlang_vm', *self.RUN,
            setting=(f'usdt::erlang:{self.PROBE}', '--do', 'count by str(arg2)'))
        truth = {of: tally.all for (_, of), tally in Truth(said).by(self.PROBE, 2).items()}
        self.assertIn('worker:run/1', truth)
        theirs = dict(re.findall(r'^@\[(.*)\]: (\d+)$', printed, re.M))
        self.assertEqual({of: int(count) for of, count in theirs.items()}, truth)
        self.assertEqual({row['by']['str(arg2)']: row['count'] for row in read['rows']}, truth)

    def test_gdb_stops_there_and_reads_the_arguments(self):
        done = subprocess.run(
            ['gdb', '-nx', '-batch', '-ex', 'set startup-with-shell off', '-ex',
             'info probes stap erlang', '-ex', f'break -probe-stap erlang:{self.PROBE}', '-ex', 'run',
             '-ex', r'printf "gdb: %s\n", (char*)$_probe_arg2', '--args',
             support.target('erlang_vm'), *self.RUN], input='go\nexit\n', text=True, capture_output=True)
        listed = set(re.findall(r'stap\s+erlang\s+(\S+)', done.stdout))
        self.assertEqual(listed, set(declared()))
        self.assertRegex(done.stdout, r'gdb: \w+:\w+/\d\n')

    def test_perf_records_them(self):
        """In its own mount namespace, in which tracefs is mounted."""
        path, event = support.target('erlang_vm'), f'sdt_erlang:{self.PROBE}'
        with tempfile.TemporaryDirectory() as home:
            perf = f'perf --buildid-dir {home}/ids'
            script = f'''set -e
                mount -t tracefs none /sys/kernel/tracing
                {perf} buildid-cache --add {path}
                {perf} probe -q {event}
                trap "{perf} probe -q -d 'sdt_erlang:*'" EXIT
                printf 'go\\nexit\\n' | {perf} record -q -o {home}/data -e {event} {path} {' '.join(self.RUN)}
                {perf} script -i {home}/data'''
            done = subprocess.run(['unshare', '-m', 'sh', '-c', script], capture_output=True, text=True,
                                  env={**os.environ, 'HOME': home})
        said = re.search(r'^done\n(.*)$', done.stdout, re.M)
        self.assertTrue(said, done.stderr)
        self.assertEqual(len(re.findall(rf'{event}: ', done.stdout)),
                         Truth(json.loads(said[1])).total(self.PROBE))


if __name__ == '__main__':
    unittest.main()
