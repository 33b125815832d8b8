# SPDX-License-Identifier: BSD-2-Clause
"""Every recipe with the program it is for, compared with what that program knows of itself; the ordinary
commands that `recipe show` prints do the same."""

import json
import pathlib
import re
import shlex
import signal
import subprocess
import tempfile
import unittest

import jsonschema

import postgresql
import support

PYTHON = '/usr/bin/python3.11'
RUBY = '/usr/bin/ruby3.1'


def counts(read, *keys):
    """The count of each value of the keys."""
    found = {}
    for row in read['rows']:
        values = [value for name in keys if (value := row['by'].get(name)) is not None]
        found[values[0] if len(values) == 1 else tuple(values)] = row['count']
    return found


def show(name, *options):
    done = support.run('--json', 'recipe', 'show', name, *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class RecipeTest(support.DaemonTest):
    def started(self, *words, armed='^C'):
        """tracectl with these words, when it reports that it is tracing."""
        process = subprocess.Popen([support.TRACECTL, '--socket', self.daemon.socket, *words],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        for line in process.stderr:
            if armed in line:
                return process
        raise AssertionError(f'{words} did not begin')

    def read_of(self, process):
        printed, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, said)
        return json.loads(printed)

    def on_recipes(self, way, *words):
        """The report of a program that works in this way, and the output of tracectl."""
        program = self.program('recipes', way)
        process = self.started('--json', *words, '-p', str(program.pid))
        program.send('go')
        truth = program.result()
        program.send('exit')
        program.process.wait(timeout=60)
        return truth, self.read_of(process)

    def recipe(self, way, name, *options):
        return self.on_recipes(way, 'recipe', 'run', name, *options)


@support.needs_root
class OwnPrograms(RecipeTest):
    one_daemon = True

    def test_file_opens(self):
        truth, read = self.recipe('opens', 'file-opens')
        self.assertEqual(counts(read, 'str(arg0)', 'str(arg1)'), truth['opens'])

    def test_cxx_exceptions(self):
        truth, read = self.recipe('exceptions', 'cxx-exceptions')
        types, places = {}, {}
        for row in read['rows']:
            name, = row['by'].values()
            place = row['caller']['function']
            types[name] = types.get(name, 0) + row['count']
            places[place] = places.get(place, 0) + row['count']
        self.assertEqual((types, places), (truth['types'], truth['places']))

    def test_malloc_sizes(self):
        truth, read = self.recipe('allocations', 'malloc-sizes')
        rows = {row['caller'].get('function'): row for row in read['rows']}
        for function, (count, size) in truth['sizes'].items():
            row = rows[function]
            self.assertEqual(row['count'], count)
            bucket, = row['hist']
            self.assertEqual(bucket['count'], count)
            self.assertTrue(bucket['min'] <= size // count <= bucket['max'], bucket)

    @support.runs_alone('counts waits that are longer than a time')
    def test_lock_waits(self):
        truth, read = self.recipe('locks', 'lock-waits', '--longer-than', '4ms')
        rows = {}
        for row in read['rows']:
            rows.setdefault(row['by']['arg0'], []).append(row)
        for names in ({'mutex'}, {'read', 'write'}):
            said = [truth['locks'][name] for name in names]
            found = rows[said[0]['address']]
            self.assertEqual(sum(row['count'] for row in found),
                             sum(one['contended'] for one in said))
            total = sum(row['sum'] for row in found)
            self.assertLessEqual(sum(one['inner'] for one in said), total)
            self.assertLessEqual(total, sum(one['outer'] for one in said))
        free = sum(row['count'] for row in rows.get(truth['locks']['free']['address'], []))
        self.assertLess(free, 10)  # of 1000; a preempted thread also takes that long

    def test_latency_by_argument(self):
        truth, read = self.recipe('calls', 'latency-by-argument', '--function', 'uprobe::serve')
        self.assertEqual({str(row['by']['arg0']) for row in read['rows']}, set(truth['calls']))
        for row in read['rows']:
            said = truth['calls'][str(row['by']['arg0'])]
            self.assertEqual(row['count'], said['count'])
            self.assertLessEqual(said['inner'], row['sum'])
            self.assertLessEqual(row['sum'], said['outer'])

    def test_another_argument(self):
        truth, read = self.recipe('calls', 'latency-by-argument', '--function', 'uprobe::serve',
                                  '--argument', 'arg0 * 2')
        said = {2 * int(argument): one['count'] for argument, one in truth['calls'].items()}
        self.assertEqual(counts(read, 'arg0 * 2'), said)

    def test_hottest_functions(self):
        program = self.program('counters', '2', '5')
        process = self.started('--json', 'recipe', 'run', 'hottest-functions', '-p',
                               str(program.pid))
        program.send('go')
        each = program.result()['calls_per_function']
        program.send('exit')
        rows = self.read_of(process)['rows']
        numbers = [row['count'] for row in rows if re.search(r':f[0-9]+$', row['probe'])]
        self.assertEqual(numbers, [each] * 2000)
        self.assertEqual([row['count'] for row in rows],
                         sorted((row['count'] for row in rows), reverse=True))


@support.needs_root
class Interpreters(RecipeTest):
    one_daemon = True

    def on_script(self, interpreter, script, name, *options):
        with tempfile.TemporaryDirectory() as directory:
            path = directory + '/script'
            pathlib.Path(path).write_text(script)
            done = self.daemon.run('--json', 'recipe', 'run', name, *options, '--', *interpreter,
                                   path)
        self.assertEqual(done.returncode, 0, done.stderr)
        said, printed = done.stdout.split('\n', 1)
        return json.loads(said), json.loads(printed), path

    def test_python_functions_without_a_profiler(self):
        said, read, path = self.on_script([PYTHON, '-I'], '''
import json
calls = {}
def count(function):
    calls[function.__name__] = calls.get(function.__name__, 0) + 1
def step(): count(step)
def recursive(n):
    count(recursive)
    if n: recursive(n - 1)
def fails():
    count(fails)
    raise ValueError
for _ in range(123): step()
recursive(20)
for _ in range(7):
    try: fails()
    except ValueError: pass
calls['count'] = sum(calls.values())
calls['<module>'] = 1
print(json.dumps(calls))
''', 'python-functions')
        found = counts(read, 'str(arg0)', 'str(arg1)')
        self.assertEqual({function: count for (file, function), count in found.items()
                          if file == path}, said)

    def test_python_function_times(self):
        said, read, path = self.on_script([PYTHON, '-I'], '''
import json, sys, time
def serve(ms):
    end = time.monotonic_ns() + ms * 1000000
    while time.monotonic_ns() < end: pass
def outer(): serve(3)
sys.setprofile(lambda *rest: None)
before = time.monotonic_ns()
for _ in range(20): outer()
took = time.monotonic_ns() - before
sys.setprofile(None)
print(json.dumps(took))
''', 'python-function-times')
        rows = {row['by']['str(arg1)']: row for row in read['rows']
                if row['by']['str(arg0)'] == path}
        self.assertEqual((rows['serve']['count'], rows['outer']['count']), (20, 20))
        self.assertGreaterEqual(rows['serve']['sum'], 60_000_000)
        self.assertGreaterEqual(rows['outer']['sum'], rows['serve']['sum'])
        self.assertLessEqual(rows['outer']['sum'], said)

    def test_ruby_method_times(self):
        said, read, _ = self.on_script([RUBY, '--disable-gems'], '''
before = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
30.times { sleep 0.002 }
puts Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) - before
''', 'ruby-method-times')
        row, = [row for row in read['rows'] if row['by']['str(arg1)'] == 'sleep']
        self.assertEqual((row['by']['str(arg0)'], row['count']), ('Kernel', 30))
        self.assertGreaterEqual(row['sum'], 60_000_000)
        self.assertLessEqual(row['sum'], said)

    RUBY_SCRIPT = '''
require 'json'
class Shop
  def initialize; @calls = Hash.new(0); end
  def sell(n); @calls['sell'] += 1; end
  def count(n); @calls['count'] += 1; count(n - 1) if n > 0; end
  attr_reader :calls
end
shop = Shop.new
trace = TracePoint.new(:call) {}
trace.enable
250.times { |i| shop.sell(i) }
shop.count(30)
trace.disable
77.times { 'text'.unpack('C') }
puts JSON.dump(shop.calls)
'''

    def test_ruby_methods(self):
        said, read, _ = self.on_script([RUBY, '--disable-gems'], self.RUBY_SCRIPT, 'ruby-methods')
        found = counts(read, 'str(arg0)', 'str(arg1)')
        self.assertEqual({method: count for (of, method), count in found.items() if of == 'Shop'
                          and method in said}, said)

    def test_methods_of_ruby_that_are_written_in_c_need_no_trace_point(self):
        script = "100.times { 'text'.hex }\nputs '{}'\n"
        _, read, _ = self.on_script([RUBY, '--disable-gems'], script, 'ruby-methods')
        self.assertEqual(counts(read, 'str(arg0)', 'str(arg1)')['String', 'hex'], 100)

    def test_pauses_of_pythons_garbage_collector(self):
        said, read, _ = self.on_script([PYTHON, '-I'], '''
import gc, json, os
gc.disable()
for _ in range(50): gc.collect()
print(json.dumps(sum(of['collections'] for of in gc.get_stats())), flush=True)
os._exit(0)  # before the end collects once more
''', 'gc-pauses')
        latency, = read['latencies']
        self.assertGreaterEqual(said, 50)
        self.assertEqual((latency['started'], latency['matched']), (said, said))
        self.assertEqual([row['count'] for row in read['rows']], [said])

    def test_pauses_of_rubys_garbage_collector(self):
        said, read, _ = self.on_script([RUBY, '--disable-gems'], '''
before = GC.count
20.times { GC.start }
puts GC.count
''', 'gc-pauses')
        latencies = {latency['to'].split(':')[-1]: latency for latency in read['latencies']}
        self.assertEqual(set(latencies), {'gc__mark__end', 'gc__sweep__end'})
        self.assertGreaterEqual(said, 20)
        # Each collection marks once; one that ends after the script has read the count may mark once more.
        self.assertIn(latencies['gc__mark__end']['matched'], (said, said + 1))
        self.assertEqual(latencies['gc__mark__end']['overwritten'], 0)
        self.assertEqual(latencies['gc__sweep__end']['matched'],
                         latencies['gc__sweep__end']['started'])

    def test_a_program_without_any_of_them_is_refused(self):
        done = self.daemon.run('recipe', 'run', 'gc-pauses', '--', '/bin/true')
        self.assertEqual(done.returncode, 5)
        self.assertIn('python3', done.stderr)


@support.needs_root
@support.in_group('postgresql')  # they trace all its processes
class PostgreSQL(RecipeTest, postgresql.ServerTest):
    def seen(self, *words):
        process = self.started(*words, 'recipe', 'run', 'postgresql-slow-queries', '-x',
                               postgresql.POSTGRES, '--longer-than', '300ms')
        done = self.psql('select 1;\n' * 100 + 'select pg_sleep(0.5);\nselect 2, pg_sleep(0.4);\n')
        self.assertEqual(done.returncode, 0, done.stderr)
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        return printed

    def test_slow_queries_as_json(self):
        events = [json.loads(line) for line in self.seen('--json').splitlines()]
        slow = {event['args'][0]: event['duration'] for event in events}
        self.assertTrue({'select pg_sleep(0.5);', 'select 2, pg_sleep(0.4);'} <= set(slow), slow)
        self.assertGreaterEqual(slow['select pg_sleep(0.5);'], 500_000_000)
        # Others only if they really were that slow: the machine may be busy.
        self.assertGreaterEqual(min(slow.values()), 300_000_000)
        self.assertLess(len(slow), 10)

    def test_slow_queries_as_people_read_them(self):
        printed = self.seen()
        self.assertRegex(printed, r'query__done\("select pg_sleep\(0\.5\);"\) after [\d.]+ m?s\n')
        self.assertRegex(printed, r'\nSLOWEST +pid +query +FROM TID')
        self.assertRegex(printed, r'102 started, 102 matched')


class Words(unittest.TestCase):
    """Tests without probes."""

    def run_recipe(self, *words):
        return support.run('recipe', *words)

    def names(self):
        return [recipe['name'] for recipe in
                json.loads(support.run('--json', 'recipe', 'list').stdout)['recipes']]

    def test_the_list_has_a_line_for_each(self):
        lines = self.run_recipe('list').stdout.splitlines()
        self.assertEqual([line.split()[0] for line in lines[1:]], self.names())
        self.assertTrue(all(len(line.split()) > 3 for line in lines[1:]))

    def test_json_is_as_the_schema_says(self):
        schema = json.loads(support.run('schema').stdout)
        for document, name in ((json.loads(support.run('--json', 'recipe', 'list').stdout),
                                'recipes'), (show('lock-waits'), 'recipe')):
            jsonschema.validate(document, {'$ref': '#/$defs/' + name, '$defs': schema['$defs']},
                                cls=jsonschema.Draft202012Validator)

    def test_what_options_are_for_stands_in_one_column(self):
        printed = self.run_recipe('show', 'latency-by-argument').stdout
        columns = {len(begin) for begin in re.findall(r'^  --\w+ \w+ +', printed, re.M)}
        self.assertEqual(len(columns), 1, printed)

    def test_options_go_where_they_belong(self):
        command, = show('lock-waits', '--longer-than', '1.5ms')['commands']
        self.assertEqual(shlex.split(command)[-2:], ['--when', 'duration >= 1500000'])
        command, = show('latency-by-argument', '--function', "uprobe::it's", '--argument',
                        'str(arg1)')['commands']
        self.assertEqual(shlex.split(command),
                         ['tracectl', 'time', "uprobe::it's", '--by', 'str(arg1)'])

    def test_every_option_of_one_is_taken_and_shown(self):
        for name in self.names():
            for option in show(name)['options']:
                value = '7s' if option['value'] == 'TIME' else 'uprobe::seven'
                commands = show(name, '--' + option['name'], value)['commands']
                self.assertNotEqual(commands, show(name)['commands'])

    def test_what_is_wrong_is_said(self):
        for words, status, text in (
                (('show', 'lock-wait'), 1, 'there is no recipe "lock-wait"; did you mean "lock-waits"?'),
                (('run', 'nothing-like-it'), 1, 'tracectl recipe list shows all'),
                (('run', 'lock-waits', '--function', 'x'), 2,
                 'lock-waits takes no --function; it has --longer-than'),
                (('run', 'file-opens', '--function', 'x'), 2, 'it has no options of its own'),
                (('run', 'latency-by-argument', '-p', '1'), 2, 'needs --function PATTERN'),
                (('show', 'lock-waits', '--longer-than', 'long'), 2, 'a time is wanted'),
                (('show', 'lock-waits', '--longer-than', '-1s'), 2, 'a time is wanted'),
                (('run',), 2, 'RECIPE is required'), ((), 2, 'which of its verbs? ')):
            with self.subTest(words=words):
                done = self.run_recipe(*words)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(text, done.stderr)
                self.assertEqual(done.stdout, '')


@support.needs_root
class Shown(RecipeTest):
    one_daemon = True

    """The commands that are shown do what the recipe does."""

    def test_a_recipe_of_one_command(self):
        command, = show('latency-by-argument', '--function', 'uprobe::serve')['commands']
        truth, read = self.on_recipes('calls', *shlex.split(command)[1:])
        self.assertEqual(counts(read, 'arg0'),
                         {int(argument): one['count'] for argument, one in truth['calls'].items()})

    def test_a_recipe_of_two(self):
        found = {}
        for command in show('file-opens')['commands']:
            truth, read = self.on_recipes('opens', *shlex.split(command)[1:])
            found |= counts(read, 'str(arg0)', 'str(arg1)')
        self.assertEqual(found, truth['opens'])

    def test_all_of_them_are_commands(self):
        """Each is refused because it has no target, and for no other reason."""
        for recipe in json.loads(support.run('--json', 'recipe', 'list').stdout)['recipes']:
            for command in recipe['commands']:
                with self.subTest(command=command):
                    words = shlex.split(command.replace('PATTERN', 'uprobe::x'))[1:]
                    done = self.daemon.run(*words)
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertIn('choose the processes', done.stderr)

    def test_columns_have_names(self):
        program = self.program('recipes', 'opens')
        process = self.started('recipe', 'run', 'file-opens', '-p', str(program.pid))
        program.send('go')
        program.result()
        program.send('exit')
        printed, _ = process.communicate(timeout=60)
        self.assertRegex(printed, r'^PATH +COUNT  PROBE\n')
        self.assertIn('\n"zero" ', printed)

    def test_only_the_first_rows_are_printed(self):
        program = self.program('recipes', 'opens')
        process = self.started('recipe', 'run', 'file-opens', '-n', '2', '-p', str(program.pid))
        program.send('go')
        program.result()
        program.send('exit')
        printed, _ = process.communicate(timeout=60)
        self.assertRegex(printed, r'^PATH.*\n"/dev/null" .*\n"zero" .*\n3 more rows\n20 hits\n$')

    def test_a_dry_run_arms_nothing(self):
        program = self.program('recipes', 'opens')
        done = self.daemon.json('recipe', 'run', 'file-opens', '-p', str(program.pid), '--dry-run')
        self.assertEqual(done['sites'], 2)
        self.assertEqual(self.daemon.json('status')['sites'], 0)

    def test_it_ends_after_a_time(self):
        program = self.program('recipes', 'opens')
        read = self.daemon.json('recipe', 'run', 'file-opens', '-p', str(program.pid), '--for',
                                '50ms')
        self.assertEqual(read['total_hits'], 0)


if __name__ == '__main__':
    unittest.main()
