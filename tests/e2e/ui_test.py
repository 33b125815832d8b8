# SPDX-License-Identifier: BSD-2-Clause
"""tracectl ui in a terminal of tmux: keys are sent, the screen is read, and figures are compared with what the program
counts."""

import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import tempfile
import unittest

import support
from support import TRACECTL, wait_until


class Terminal:
    """A shell in a window of a tmux server of its own."""

    made = 0

    def __init__(self, test, columns=220, lines=30, **variables):
        Terminal.made += 1
        self.name = f'tracectl-{os.getpid()}-{Terminal.made}'
        environment = {'LC_ALL': 'C.UTF-8', **variables}
        words = [word for name, value in environment.items() for word in ('-e', f'{name}={value}')]
        self.tmux('new-session', '-d', '-s', 'ui', '-x', str(columns), '-y', str(lines), *words,
                  "PS1='ready> ' exec sh")
        test.addCleanup(self.tmux, 'kill-server')
        self.wait_for('ready>')

    def tmux(self, *words):
        return subprocess.run(['tmux', '-u', '-L', self.name, '-f', '/dev/null', *words], check=True, text=True,
                              timeout=60, capture_output=True).stdout

    def keys(self, *names):
        self.tmux('send-keys', '-t', 'ui', *names)

    def text(self, text):
        self.tmux('send-keys', '-t', 'ui', '-l', text)

    def run(self, *words):
        self.text(shlex.join(words))
        self.keys('Enter')

    def screen(self, *options):
        return self.tmux('capture-pane', '-t', 'ui', '-p', *options)

    def wait_for(self, text):
        try:
            wait_until(lambda: text in self.screen(), text)
        except AssertionError as error:
            raise AssertionError(f'{error}:\n{self.screen()}') from None

    def wait_for_line(self, pattern):
        """A line that the pattern matches as a whole, without blanks at its ends."""
        try:
            wait_until(lambda: self.line(pattern), pattern)
        except AssertionError as error:
            raise AssertionError(f'{error}:\n{self.screen()}') from None
        return self.line(pattern)

    def line(self, pattern):
        found = (re.fullmatch(pattern, line.strip()) for line in self.screen().splitlines())
        return next(filter(None, found), None)

    def column(self, title):
        """The cells of a column of numbers, by the last word of their row."""
        rows = self.screen().splitlines()[2:]
        heading = re.search(rf'(?<!\S){re.escape(title)}(?!\S)', rows[0])
        cells = {}
        for row in rows[1:] if heading else []:
            name, figures = re.search(r'(?:uprobe|usdt):\S+:(\S+)$', row), row[:heading.end()].split()
            if name and figures:
                cells[name[1]] = figures[-1]
        return cells


@support.needs_root
class Interface(support.DaemonTest):
    one_daemon = True

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def counters(self, functions=4, pause_us=1000):
        """Runs until it is stopped; f0000 to f0003 are called equally often."""
        return self.program('counters', '1', '0', str(functions), str(pause_us))

    def counts(self, program):
        program.send('stop')
        return {f'f{i:04}': count for i, count in enumerate(program.result()['counts'])}

    def begin(self, *words, daemon=True, **options):
        terminal = Terminal(self, **options)
        self.addCleanup(self.wait_for_end, terminal)
        terminal.run(TRACECTL, *(['--socket', self.daemon.socket] if daemon else []), 'ui', *words)
        return terminal

    def wait_for_end(self, terminal):
        pane = terminal.tmux('list-panes', '-F', '#{pane_pid}').strip()
        children = pathlib.Path(f'/proc/{pane}/task/{pane}/children')
        for child in children.read_text().split():
            os.kill(int(child), signal.SIGTERM)
        wait_until(lambda: not children.read_text().split(), 'the interface to end')

    def pid_of_interface(self, terminal):
        pane = terminal.tmux('list-panes', '-F', '#{pane_pid}').strip()
        return int(pathlib.Path(f'/proc/{pane}/task/{pane}/children').read_text())

    def begin_with(self, program, pattern, marks, *words, **options):
        """The live screen of a process, with so many of the functions that the pattern finds."""
        terminal = self.begin('-p', str(program.pid), *words, **options)
        terminal.wait_for('found')
        terminal.text(pattern)
        terminal.keys(*['Space'] * marks, 'Enter')
        terminal.wait_for_line(rf'{marks} probes? armed, .*')
        return terminal

    def session(self):
        return self.daemon.json('session', 'list')['sessions'][0]

    def wait_for_column(self, terminal, title, cells):
        wanted = {name: str(cell) for name, cell in cells.items()}
        try:
            wait_until(lambda: terminal.column(title) == wanted, title)
        except AssertionError as error:
            raise AssertionError(f'{error} {wanted}, not {terminal.column(title)}:\n{terminal.screen()}') from None

    def test_process_and_functions_are_chosen_and_the_counts_are_the_programs(self):
        program = self.counters()
        terminal = self.begin()
        terminal.wait_for('Filter:')
        terminal.text(str(program.pid))
        terminal.wait_for_line(rf'Filter: {program.pid} +1 of \d+')
        self.assertRegex(terminal.screen(), rf'{program.pid} +root +[0-9.]* +\S*counters 1 0 4 1000')
        terminal.keys('Enter')
        terminal.wait_for_line(r'Pattern: +\d{4} found')
        terminal.text('f000')
        terminal.wait_for_line(r'Pattern: f000 +10 found')
        terminal.keys('Space', 'Space', 'Down', 'Space')
        terminal.wait_for('3 marked')
        terminal.keys('Enter')
        terminal.wait_for_line('3 probes armed, 0 hits')
        program.send('go')
        wait_until(lambda: int(terminal.column('HITS').get('f0000', 0)) > 0, 'hits')
        wait_until(lambda: int(terminal.column('HITS/S').get('f0000') or 0) > 0, 'a rate')
        counts = self.counts(program)
        self.wait_for_column(terminal, 'HITS', {name: counts[name] for name in ('f0000', 'f0001', 'f0003')})

    def test_sets_and_views_are_switched_by_one_commit_and_no_count_is_lost(self):
        program = self.counters()
        terminal = self.begin_with(program, 'f000', 2)
        program.send('go')
        wait_until(lambda: int(terminal.column('HITS').get('f0001', 0)) > 0, 'hits')
        epoch = self.session()['epoch']
        terminal.keys('t')
        terminal.wait_for_line(r'\d+ .* uprobe:counters:f0001')
        terminal.wait_for('P99')
        terminal.keys('k')
        terminal.wait_for('call_all')
        terminal.keys('f', 'Down', 'Space')
        terminal.wait_for('3 marked')
        self.assertEqual(self.session()['epoch'], epoch + 2)  # marks change nothing yet
        terminal.keys('Enter', 'c')
        terminal.wait_for_line('3 probes armed, .*')
        wait_until(lambda: len(terminal.column('HITS')) == 3, 'three rows')
        self.assertEqual(self.session()['epoch'], epoch + 4)
        counts = self.counts(program)
        self.assertEqual(set(terminal.column('HITS')), {'f0000', 'f0001', 'f0003'})
        wait_until(lambda: terminal.column('HITS').get('f0001') == str(counts['f0001']), f'{counts}')
        shown = terminal.column('HITS')
        self.assertEqual(shown['f0000'], str(counts['f0000']))
        self.assertTrue(0 < int(shown['f0003']) < counts['f0003'], (shown, counts))
        terminal.keys('f', 'Home', 'Space', 'Enter')
        terminal.wait_for_line('2 probes armed, .*')
        self.assertEqual(self.session()['sites'], 2)
        self.wait_for_column(terminal, 'HITS', {name: shown[name] for name in ('f0001', 'f0003')})

    def test_times_have_every_call_and_stacks_every_hit(self):
        program = self.counters()
        terminal = self.begin_with(program, 'f000', 2)
        terminal.keys('t')
        wait_until(lambda: 'count, time' in str(self.session()['settings']), 'times')
        program.send('go')
        wait_until(lambda: int(terminal.column('CALLS').get('f0001', 0)) > 0, 'calls')
        counts = self.counts(program)
        self.wait_for_column(terminal, 'CALLS', {name: counts[name] for name in ('f0000', 'f0001')})
        row = terminal.wait_for_line(r'\d+ +(\S+) (\S+) +(\S+) (\S+) .*:f0000')
        self.assertTrue(all(row.groups()), row[0])

        program = self.counters()
        terminal = self.begin_with(program, 'f0001', 1)
        terminal.keys('k')
        wait_until(lambda: 'count by stack' in str(self.daemon.json('session', 'list')), 'stacks')
        program.send('go')
        terminal.wait_for('call_all')
        counts = self.counts(program)
        terminal.wait_for_line(rf'{counts["f0001"]} hits \(100\.0 %\)')
        self.assertRegex(terminal.screen(), r'STACKS OF uprobe:counters:f0001\n.*\n +f0001\+0x0 .*\n +call_all')

    def test_a_set_is_saved_as_a_session_of_the_daemon(self):
        program = self.counters()
        terminal = self.begin_with(program, 'f000', 2)
        terminal.keys('s')
        terminal.wait_for('Save as')
        terminal.text('mine')
        terminal.keys('Enter')
        terminal.wait_for('session mine goes on in the daemon')
        terminal.keys('q')
        terminal.wait_for_line('ready>')
        program.send('go')
        wait_until(lambda: self.daemon.json('read', 'mine')['total_hits'], 'hits')
        counts = self.counts(program)
        rows = self.daemon.json('read', 'mine')['rows']
        self.assertEqual({row['probe'].rsplit(':', 1)[1]: row['count'] for row in rows},
                         {name: counts[name] for name in ('f0000', 'f0001')})
        terminal = self.begin_with(program, 'f000', 1)
        terminal.keys('s')
        terminal.text('mine')
        terminal.keys('Enter')
        terminal.wait_for('not saved:')
        self.assertEqual(self.daemon.json('session', 'show', 'mine')['sites'], 2)

    def test_a_set_is_saved_as_a_file_with_which_a_daemon_begins(self):
        program = self.counters()
        terminal = self.begin_with(program, 'f000', 2)
        sessions = self.folder / 'sessions'
        sessions.mkdir()
        terminal.keys('s')
        terminal.text(f'{sessions}/mine.json')
        terminal.keys('Enter')
        terminal.wait_for('mine.json is written')
        daemon = support.Daemon('--sessions', str(sessions), listens=False)
        self.addCleanup(daemon.end)
        while 'listening' not in daemon.process.stderr.readline():
            pass
        self.assertEqual(daemon.json('session', 'show', 'mine')['sites'], 2)
        for setting in daemon.json('session', 'show', 'mine')['settings']:
            self.assertEqual(setting['target']['executables'], [support.target('counters')])
        program.send('go')
        wait_until(lambda: daemon.json('read', 'mine')['total_hits'], 'hits')
        counts = self.counts(program)
        rows = daemon.json('read', 'mine')['rows']
        self.assertEqual({row['probe'].rsplit(':', 1)[1]: row['count'] for row in rows},
                         {name: counts[name] for name in ('f0000', 'f0001')})

    def test_events_are_recorded_for_as_long_as_it_is_on(self):
        program = self.counters()
        terminal = self.begin_with(program, 'f000', 2)
        file = self.folder / 'some.tct'
        terminal.keys('r')
        terminal.wait_for('Record to the file:')
        terminal.text(str(file))
        terminal.keys('Enter')
        terminal.wait_for(f'recording to {file}')
        wait_until(lambda: self.session()['streams'], 'events')
        program.send('go')
        wait_until(lambda: int(terminal.column('HITS').get('f0001', 0)) > 0, 'hits')
        counts = self.counts(program)
        self.wait_for_column(terminal, 'HITS', {name: counts[name] for name in ('f0000', 'f0001')})
        terminal.keys('r')
        terminal.wait_for_line(rf'{file}: {counts["f0000"] + counts["f0001"]} events, 0 lost, .*')
        self.assertFalse(self.session()['streams'])
        shown = [json.loads(line) for line in support.run('--json', 'show', str(file)).stdout.splitlines()]
        self.assertEqual(sum(event['probe'].endswith(':f0001') for event in shown), counts['f0001'])
        terminal.keys('r')
        terminal.text('/no/such/folder/x.tct')
        terminal.keys('Enter')
        terminal.wait_for('/no/such/folder/x.tct: ')
        self.assertNotIn('recording to', terminal.screen())

    def test_a_recording_is_whole_if_the_interface_is_left(self):
        program = self.counters()
        terminal = self.begin_with(program, 'f0000', 1)
        file = self.folder / 'some.tct'
        terminal.keys('r')
        terminal.text(str(file))
        terminal.keys('Enter')
        terminal.wait_for(f'recording to {file}')
        wait_until(lambda: self.session()['streams'], 'events')
        program.send('go')
        wait_until(lambda: int(terminal.column('HITS').get('f0000', 0)) > 0, 'hits')
        counts = self.counts(program)
        self.wait_for_column(terminal, 'HITS', {'f0000': counts['f0000']})
        terminal.keys('q')
        terminal.wait_for_line(rf'.*some\.tct: {counts["f0000"]} events, 0 lost, .*')
        self.assertEqual(len(support.run('--json', 'show', str(file)).stdout.splitlines()), counts['f0000'])

    def test_what_is_refused_is_said_and_the_rest_is_armed(self):
        program = self.program('refused')
        terminal = self.begin('-p', str(program.pid))
        terminal.wait_for('found')
        terminal.text('refused_lock')
        terminal.wait_for_line(r'uprobe:\S+/refused:refused_lock: no probe can sit on the instruction .*')
        program = self.program('hot')
        terminal = self.begin_with(program, '', 1)
        terminal.keys('f', 'a', 'Enter', 't')
        terminal.wait_for_line(r'\d+ probes armed, 0 hits, \d+ refused: uprobe:\S+: its returns cannot be seen.*')
        program.send('hot_push 20')
        self.assertEqual(program.result()['calls'], 20)
        wait_until(lambda: terminal.column('CALLS').get('hot_push') == '20', 'the calls')

    def test_all_matches_are_marked_also_usdt_probes_and_none_is_said(self):
        program = self.program('hot')
        terminal = self.begin('-p', str(program.pid))
        terminal.wait_for('found')
        terminal.text('usdt:')
        terminal.wait_for_line(r'Pattern: usdt: +2 found')
        terminal.keys('Tab', 'a', 'Enter')
        terminal.wait_for_line('2 probes armed, .*')
        program.send('hot_push 70')
        self.assertEqual(program.result()['calls'], 70)
        self.wait_for_column(terminal, 'HITS', {'fast': 0, 'normal': 70})
        terminal.keys('f', '/', 'C-u')
        terminal.text('no_such_function')
        terminal.wait_for_line(r'Pattern: no_such_function +0 found')
        terminal.wait_for('no_such_function*')

    def test_what_exceeds_the_budget_is_left_out_and_said(self):
        program = self.program('hot')
        terminal = self.begin_with(program, 'hot_push', 1, '--budget', '0.001')
        program.send('hot_push 1000000')
        terminal.wait_for('1 left out for the budget of 0.001 %: uprobe:')
        self.assertEqual(program.result()['calls'], 1000000)

    def test_the_window_may_be_resized_and_one_that_is_too_small_says_so(self):
        program = self.counters()
        terminal = self.begin_with(program, 'f000', 2)
        terminal.tmux('resize-window', '-t', 'ui', '-x', '50', '-y', '9')
        terminal.wait_for('too small: 50 x 9, 60 x 10 are needed')
        self.assertNotIn('f0000', terminal.screen())
        terminal.tmux('resize-window', '-t', 'ui', '-x', '130', '-y', '12')
        terminal.wait_for('uprobe:counters:f0000')
        self.assertRegex(terminal.screen().splitlines()[0], r'^ tracectl {2}.{109} 2 marked$')
        self.assertIn('q leave', terminal.screen().splitlines()[11])

    def test_the_terminal_is_as_before_however_it_is_left(self):
        program = self.counters()
        modes = lambda: pathlib.Path(self.folder / 'modes').read_text()
        for leave, status in ((lambda: terminal.keys('q'), 0),
                              (lambda: terminal.keys('C-c'), 130),
                              (lambda: os.kill(self.pid_of_interface(terminal), signal.SIGTERM), 130),
                              (lambda: os.kill(self.pid_of_interface(terminal), signal.SIGHUP), 130)):
            terminal = self.begin_with(program, 'f0000', 1)
            there = self.pid_of_interface(terminal)
            with open(f'/proc/{there}/fd/0') as its:
                inside = subprocess.run(['stty', '-a'], stdin=its, capture_output=True, text=True, check=True).stdout
                self.assertIn('-icanon', inside)
                leave()
                wait_until(lambda: not os.path.exists(f'/proc/{there}'), 'its end')
                terminal.text('echo status $?')
                terminal.keys('Enter')
                terminal.wait_for_line(f'status {status}')
                after = subprocess.run(['stty', '-a'], stdin=its, capture_output=True, text=True, check=True).stdout
            fresh = Terminal(self)
            fresh.run('sh', '-c', f'stty -a >{self.folder}/modes')
            wait_until(lambda: (self.folder / 'modes').exists() and modes().count('\n') == after.count('\n'), 'stty')
            self.assertEqual(after, modes())
            self.assertNotIn('probes armed', terminal.screen())
            wait_until(lambda: self.daemon.json('status')['sites'] == 0, 'nothing to be armed')

    def test_a_target_that_ends_is_said_and_its_last_figures_stay(self):
        program = self.program('hot')
        terminal = self.begin_with(program, 'hot_push', 1)
        program.send('hot_push 12')
        program.result()
        program.send('exit 0')
        program.process.wait(60)
        terminal.wait_for(f'process {program.pid} has ended: these are its last figures')
        self.wait_for_column(terminal, 'HITS', {'hot_push': 12})
        terminal.keys('q')
        terminal.wait_for_line('ready>')

    def test_without_a_daemon_it_is_the_engine_itself(self):
        program = self.counters()
        terminal = self.begin_with(program, 'f000', 2, '--embedded', daemon=False)
        program.send('go')
        wait_until(lambda: int(terminal.column('HITS').get('f0001', 0)) > 0, 'hits')
        counts = self.counts(program)
        self.wait_for_column(terminal, 'HITS', {name: counts[name] for name in ('f0000', 'f0001')})
        terminal.keys('s')
        terminal.text('mine')
        terminal.keys('Enter')
        terminal.wait_for('not saved: there is no daemon to keep a session')

    def test_a_daemon_that_ends_is_said(self):
        daemon = support.Daemon()
        program = self.counters()
        terminal = self.begin('--socket', daemon.socket, '-p', str(program.pid), daemon=False)
        terminal.wait_for('found')
        daemon.end()
        terminal.wait_for('the daemon has closed the connection')
        terminal.keys('C-c')
        terminal.wait_for_line('ready>')

    def test_colours_are_shown_unless_they_are_not_wanted(self):
        program = self.counters()
        coloured = re.compile('\x1b\\[3[0-8]')
        terminal = self.begin_with(program, 'f000', 2)
        self.assertRegex(terminal.screen('-e'), coloured)
        terminal = self.begin_with(program, 'f000', 2, NO_COLOR='1')
        self.assertNotRegex(terminal.screen('-e'), coloured)

    def test_is_refused_without_a_terminal_or_a_process_and_with_json(self):
        done = self.daemon.run('ui')
        self.assertEqual((done.returncode, done.stdout), (2, ''))
        self.assertIn('needs a terminal', done.stderr)
        done = self.daemon.run('ui', '--json')
        self.assertEqual((done.returncode, done.stdout), (2, ''))
        self.assertIn('has no JSON', done.stderr)
        terminal = self.begin('-p', str(2**22 + 1))
        terminal.wait_for('does not exist')
        terminal = Terminal(self, TERM='no-such-terminal')
        terminal.run('env', 'TERM=no-such-terminal', TRACECTL, '--socket', self.daemon.socket, 'ui')
        terminal.wait_for('$TERM is "no-such-terminal"')


if __name__ == '__main__':
    unittest.main()
