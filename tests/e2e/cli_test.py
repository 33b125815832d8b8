# SPDX-License-Identifier: BSD-2-Clause
"""The command line for users: results, errors with their remedy, exit statuses."""

import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import tempfile
import unittest

import support
from support import run, target

PYTHON = '/usr/bin/python3.11'


class Usage(unittest.TestCase):
    def test_every_verb_has_help(self):
        verbs = re.findall(r'^  (\w+) {2,}', run('--help').stdout.split('Subcommands:')[1], re.M)
        self.assertIn('trace', verbs)
        for verb in verbs:
            done = run(verb, '--help')
            self.assertEqual(done.returncode, 0, verb)
            self.assertIn(verb, done.stdout)

    def test_the_help_has_each_verb_in_one_part_with_examples(self):
        parts = run('--help').stdout.split('Subcommands:\n\n')[1].partition('\n\nExit status')[0].split('\n\n')
        self.assertEqual(len(parts), 5)
        seen = []
        for part in parts:
            verbs = re.findall(r'^  (\w+) {2,}', part, re.M)
            examples = re.findall(r'^    \$ tracectl (\w+)', part, re.M)
            self.assertEqual(len(examples), 2, part)
            self.assertLessEqual(set(examples), set(verbs))
            seen += verbs
        self.assertEqual(len(seen), len(set(seen)))

    def test_bad_usage_is_2(self):
        for words in ([], ['nonsense'], ['list'], ['trace', 'u::f', '--for', 'soon'],
                      ['trace', 'u::f', '-p', 'x']):
            self.assertEqual(run(*words).returncode, 2, words)

    def test_bad_usage_is_told_like_other_errors(self):
        for words, what, see in (
                (['tracee', 'u::f'], 'there is no verb "tracee"; did you mean "trace"?', ''),
                (['stage', 's', 'sett', 'u::f'], 'there is no verb "sett"; did you mean "set"?',
                 ' stage'),
                ([], 'a subcommand is required', ''),
                (['trace', 'u::f', '-p', 'x'], '--pid takes a number, not "x"', ' trace'),
                (['hist', 'u::f'], '--of is required', ' hist'),
                (['count', 'u::f', '-n', '-1'], '--rows', ' count'),
                (['session', 'show'], 'SESSION is required', ' session show')):
            with self.subTest(words=words):
                done = run(*words)
                self.assertEqual(done.returncode, 2)
                self.assertTrue(done.stderr.startswith(f'tracectl: {what}'), done.stderr)
                self.assertTrue(done.stderr.endswith(f'; see tracectl{see} --help\n'), done.stderr)

    def test_help_and_version_are_asked_for_as_elsewhere(self):
        self.assertEqual(run('help', 'session', 'new').stdout, run('session', 'new', '--help').stdout)
        self.assertEqual(run('help').stdout, run('--help').stdout)
        self.assertEqual(run('-V').stdout, run('--version').stdout)

    @support.needs_root
    def test_a_kernel_thread_runs_no_user_code(self):
        done = run('--embedded', 'count', 'u::*', '-p', '2')
        self.assertEqual(done.returncode, 6)
        self.assertIn('process 2 is a kernel thread', done.stderr)

    def test_what_would_have_no_effect_is_refused(self):
        for words, what in (
                (['status', '--', 'ls'], 'tracectl status starts no command'),
                (['recipe', 'show', 'gc-pauses', '--', 'ls'], 'tracectl recipe show starts no command'),
                (['count', 'u::f', '-p', '1', '--folded', '--by', 'tid'], '--folded prints stacks'),
                (['trace', 'u::f', '-p', '1', '--folded', '--do', 'count'], '--folded prints stacks')):
            with self.subTest(words=words):
                done = run(*words)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(what, done.stderr)

    def test_verbs_that_start_a_command_say_so(self):
        starters = {verb for verb in ('list', 'trace', 'count', 'hist', 'time', 'latency', 'status')
                    if '-- COMMAND...' in run(verb, '--help').stdout}
        self.assertEqual(starters, {'trace', 'count', 'hist', 'time', 'latency'})
        self.assertIn('-- COMMAND...', run('recipe', 'run', '--help').stdout)

    def test_no_daemon_is_3(self):
        with tempfile.TemporaryDirectory() as directory:
            done = run('--socket', directory + '/none', 'status')
        self.assertEqual(done.returncode, 3)
        self.assertIn('start tracectld', done.stderr)

    def test_another_user_is_told_that_it_may_not(self):
        done = run('--embedded', 'list', f'usdt:{PYTHON}:*:*', user=65534, group=65534,
                   extra_groups=[]) if os.geteuid() == 0 else run('--embedded', 'list', 'u:/x:f')
        self.assertEqual(done.returncode, 4, done.stderr)


@support.needs_root
class Errors(support.DaemonTest):
    def refused(self, words, *expected, status=1):
        done = self.daemon.run(*words)
        self.assertEqual(done.returncode, status, done.stderr)
        for text in expected:
            self.assertIn(text, done.stderr)
        self.assertEqual(done.stdout, '')
        self.assertEqual(self.daemon.json('status')['sites'], 0)
        return done.stderr

    def test_a_syntax_error_has_a_caret_under_it(self):
        text = self.refused(['list', 'usdt:/bin/true:a'], 'usdt:/bin/true:a', status=2)
        line, caret = text.rstrip('\n').split('\n')[-2:]
        self.assertEqual(caret.strip(), '^')
        self.assertLessEqual(caret.index('^'), len(line))
        self.refused(['count', 'u:/bin/true:f', '-a', '--by', 'pud'], 'did you mean "pid"', status=2)

    def test_what_does_not_exist_is_named(self):
        self.refused(['list', 'u:/no/such/file:f'], '/no/such/file')
        self.refused(['list', f'usdt:{PYTHON}:python:nothing'], 'no USDT probe matches',
                     f'usdt:{PYTHON}:*:*', status=5)
        self.refused(['list', f'u:{PYTHON}:no_such_function'], 'no function matches', status=5)
        self.refused(['count', 'u::f', '-p', '4194300'], '4194300', status=6)
        self.refused(['count', 'u::f', '--', '/no/such/command'], '/no/such/command')

    def test_list_ends_with_how_many_sites_are_single_stepped(self):
        for functions, line in (('*', '4 probes, 4 sites, 2 of them single-stepped'),
                                ('loop', '1 probe, 1 site, single-stepped'),
                                ('endbr', '1 probe, 1 site')):
            listed = self.daemon.run('list', f'u:{support.target("entries")}:entry_{functions}').stdout
            self.assertEqual(listed.splitlines()[-1], line)

    def test_bad_usage_exits_2(self):
        self.refused(['count', f'u:{PYTHON}:main'], '-p PID', status=2)
        self.refused(['count', 'u::f', '-a', '--', 'true'], 'not both', status=2)
        self.refused(['count', 'u::f', '-p', '1', '--no-such-option'], '--no-such-option', status=2)
        self.refused(['session', 'new', 'a b'], '1 to 64', status=2)
        self.refused(['trace', 'u::f', '-p', '1', '--by', 'tid'],
                     'by is for times between two probes: give from too', 'count by tid', status=2)
        self.refused(['count', 'u::f', '-p', '1', '--by', ''], 'a key is missing behind by', status=2)
        done = subprocess.run([support.TRACECTLD, '--no-such-option'], capture_output=True,
                              timeout=60)
        self.assertEqual(done.returncode, 2)

    def test_other_users_trace_no_processes_of_root(self):
        os.chmod(self.daemon.directory.name, 0o755)
        nobody = {'user': 65534, 'group': 65534, 'extra_groups': []}
        self.assertEqual(self.daemon.run('status', **nobody).returncode, 0)
        program = self.program('hot')
        done = self.daemon.run('list', 'u::hot_push', '-p', str(program.pid), **nobody)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn(f'process {program.pid} is not yours to trace', done.stderr)
        self.assertIn('members of the group tracectl may trace every process', done.stderr)

    def test_files_that_are_not_x86_64_programs_are_refused(self):
        good = bytearray(pathlib.Path(target('refused')).read_bytes())
        with tempfile.TemporaryDirectory() as directory:
            def file(name, data):
                path = f'{directory}/{name}'
                pathlib.Path(path).write_bytes(data)
                return f'u:{path}:good_a'

            self.refused(['list', file('text', b'hello\n')], 'not an ELF file')
            self.refused(['list', file('empty', b'')], 'not an ELF file')
            arm = bytearray(good)
            arm[18:20] = struct.pack('<H', 183)
            self.refused(['list', file('arm', arm)], 'aarch64')
            self.refused(['list', file('short', good[:4096])], 'truncated')
            self.refused(['list', file('header', good[:40])])
            absurd = bytearray(good)
            absurd[40:48] = struct.pack('<Q', 2**63)  # e_shoff
            self.refused(['list', file('absurd', absurd)])
            os.mkfifo(directory + '/pipe')
            self.refused(['list', f'u:{directory}/pipe:f'], 'not a regular file')

    def test_a_second_daemon_is_refused(self):
        done = subprocess.run([support.TRACECTLD, '--socket', self.daemon.socket],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn('already', done.stderr)
        self.assertEqual(self.daemon.run('status').returncode, 0)


@support.needs_root
class Daemons(unittest.TestCase):
    def test_a_stale_socket_is_taken_over(self):
        first = support.Daemon()
        first.process.send_signal(signal.SIGKILL)
        first.process.communicate()
        self.assertTrue(os.path.exists(first.socket))
        second = subprocess.Popen([support.TRACECTLD, '--socket', first.socket],
                                  stderr=subprocess.PIPE, text=True)
        self.assertIn('listening', second.stderr.readline())
        self.assertEqual(first.run('status').returncode, 0)
        second.send_signal(signal.SIGTERM)
        second.communicate(timeout=60)
        self.assertEqual(second.returncode, 0)
        first.directory.cleanup()

    def test_killed_it_leaves_the_target_whole(self):
        daemon = support.Daemon()
        program = support.Program(target('counters'), '2', '0', '50')
        try:
            daemon.json('session', 'new', 's')
            daemon.json('stage', 's', 'set', 'uprobe::f00*', '-p', str(program.pid))
            daemon.json('commit', 's')
            program.send('go')
            daemon.process.send_signal(signal.SIGKILL)
            daemon.process.communicate()
            support.wait_until(
                lambda: support.text_differs(program.pid, target('counters')) == 0, 'the text')
            program.send('stop')
            self.assertTrue(program.result()['equal'])
        finally:
            program.end()
            daemon.directory.cleanup()


@support.needs_root
class Work(support.DaemonTest):
    def test_a_session_from_its_making_to_its_end(self):
        program = self.program('counters', '2', '10', '30')
        pid = str(program.pid)
        d = self.daemon
        self.assertTrue(d.json('session', 'new', 'mine')['named'])
        staged = d.json('stage', 'mine', 'set', 'uprobe::f000*', '-p', pid, '--do', 'count')
        self.assertEqual((staged['settings'], staged['sites']), (1, 10))
        self.assertEqual(d.json('session', 'show', 'mine')['sites'], 0)
        dry = d.json('commit', 'mine', '--dry-run')
        self.assertEqual((dry['added'], dry['epoch']), (10, 0))
        done = d.json('commit', 'mine')
        self.assertEqual((done['probes'], done['sites'], done['added']), (10, 10, 10))
        self.assertEqual(set(done['phases_us']), {'stage', 'arm', 'wait', 'switch', 'disarm'})
        d.json('stage', 'mine', 'set', 'uprobe::f001*', '-p', pid, '--do', 'count')
        self.assertEqual(d.run('abort', 'mine').returncode, 0)
        program.send('go')
        program.result()
        rows = d.json('read', 'mine')['rows']
        self.assertEqual({row['count'] for row in rows}, {20})
        info = d.json('info', 'u::f000[12]')['settings']
        self.assertEqual([(i['session'], i['hits']) for i in info], [('mine', 20)] * 2)
        cleared = d.json('read', 'mine', '--clear')
        self.assertEqual(cleared['total_hits'], 200)
        self.assertEqual(set(cleared['phases_us']), set(done['phases_us']))
        self.assertEqual(d.json('read', 'mine')['total_hits'], 0)
        self.assertNotIn('microseconds:', d.run('read', 'mine').stdout)
        self.assertNotIn('microseconds:', d.run('read', 'mine', '--clear').stdout)
        self.assertIn('\nmicroseconds: stage ', d.run('read', 'mine', '--clear', '-v').stdout)
        d.json('stage', 'mine', 'remove', 'uprobe::f000*')
        self.assertEqual(d.json('commit', 'mine')['removed'], 10)
        self.assertEqual(support.text_differs(program.pid, target('counters')), 0)
        self.assertRegex(d.run('pause', 'mine').stdout, r'^epoch \d+: 1 session, 0 sites\n$')
        deleted = d.run('session', 'delete', 'mine', '-v')
        self.assertEqual(deleted.returncode, 0)
        self.assertRegex(deleted.stdout, r'^epoch \d+: 1 session, 0 sites\nmicroseconds: stage ')
        self.assertEqual(d.run('session', 'show', 'mine').returncode, 1)
        self.assertEqual(d.json('stats')['slots_used'], 0)

    def test_events_as_json_lines_are_all_there(self):
        done = self.daemon.run('--json', 'trace', 'uprobe::work', '--', target('forker'), 'child',
                               '200')
        self.assertEqual(done.returncode, 0, done.stderr)
        events = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([event['args'][0] for event in events], list(range(200)))

    def test_a_command_that_fails_is_told_of(self):
        def said(script, status):
            done = self.daemon.run('count', 'u::Py_BytesMain', '--', PYTHON, '-c', script)
            self.assertEqual(done.returncode, status, done.stderr)
            return done.stderr

        self.assertIn('the command exited with 3', said('raise SystemExit(3)', 3))
        self.assertIn('the command was ended by Killed',
                      said('import os; os.kill(os.getpid(), 9)', 128 + 9))
        self.assertNotIn('the command', said('', 0))

    def test_interrupted_it_ends_cleanly(self):
        program = self.program('counters', '1', '0', '5')
        program.send('go')
        trace = subprocess.Popen([support.TRACECTL, '--socket', self.daemon.socket, 'trace',
                                  'uprobe::f0001', '-p', str(program.pid)],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertIn('f0001', trace.stdout.readline())
        trace.send_signal(signal.SIGINT)
        _, said = trace.communicate(timeout=60)
        self.assertEqual(trace.returncode, 130)
        self.assertRegex(said, r'\d+ events, \d+ lost')
        support.wait_until(lambda: self.daemon.json('status')['sites'] == 0, 'the probe to go')
        self.assertEqual(support.text_differs(program.pid, target('counters')), 0)

    def test_without_a_daemon_root_traces_all_the_same(self):
        with tempfile.TemporaryDirectory() as directory:
            done = run('--socket', directory + '/none', '--json', 'count', 'uprobe::work', '--',
                       target('forker'), 'child', '77')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)['total_hits'], 77)

    def test_doctor_finds_something_to_say_and_exits_0(self):
        checks = {check['name']: check for check in self.daemon.json('doctor')['checks']}
        self.assertEqual(checks['uprobe_multi']['result'], 'yes')
        self.assertEqual(checks['pid_filter']['result'], 'yes')
        self.assertTrue(all(check['means'] for check in checks.values()))


if __name__ == '__main__':
    unittest.main()
