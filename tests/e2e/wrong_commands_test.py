# SPDX-License-Identifier: BSD-2-Clause
"""What someone new types wrongly: each answer says what is wrong and what to type, and nothing is changed."""

import os
import tempfile
import unittest

import support
from support import run

NOBODY = {'user': 65534, 'group': 65534, 'extra_groups': []}


class WrongWords(unittest.TestCase):
    def refused(self, words, said, **options):
        done = run(*words, **options)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertTrue(done.stderr.startswith(f'tracectl: {said}'), done.stderr)
        self.assertEqual((done.stdout, done.stderr.count('\n')), ('', 1))

    def test_words_of_other_tools_have_a_command_here(self):
        for words, instead in (
                (['-e', 'uprobe:/bin/bash:readline { @ = count() }'], '"-e": it is tracectl trace PATTERN'),
                (['-l', 'uprobe:/bin/bash:*'], '"-l": it is tracectl list PATTERN'),
                (['attach', '1'], '"attach": it is tracectl trace PATTERN -p PID'),
                (['start', 's'], '"start": it is tracectl commit SESSION'),
                (['stop', 's'], '"stop": it is tracectl pause SESSION'),
                (['replay', 'x'], '"replay": it is tracectl show FILE'),
                (['stat', 'malloc'], '"stat": it is tracectl count PATTERN'),
                (['session', 'create', 's'], '"create": it is new here'),
                (['session', 'rm', 's'], '"rm": it is delete here'),
                (['stage', 's', 'add', 'f'], '"add": it is set here')):
            with self.subTest(words=words):
                self.refused(words, f'there is no verb {instead}')

    def test_options_that_do_not_exist_have_near_ones(self):
        self.refused(['count', 'f', '-p', '1', '--jason'], 'there is no option --jason; did you mean "--json"?')
        self.refused(['count', 'f', '-p', '1', '--parial=x'], 'there is no option --parial; did you mean "--partial"?')
        self.refused(['status', 'all'], '"all" is one argument too many')
        self.refused(['status', 'a b', 'c'], '"a b" is one argument too many')
        self.refused(['status', '--jsn', 'all'], 'there is no option --jsn; did you mean "--json"?')
        self.refused(['--socket', 'a', '--socket', 'b', 'status'], '--socket is given more than once')
        self.refused(['pause'], 'give SESSION or --all')

    def test_values_are_refused_with_what_is_wanted(self):
        for percent in '200%', 'x', '0', '-5', 'inf', '':
            self.refused(['count', 'f', '-p', '1', '--budget', percent], '--budget: percent of a CPU are wanted, as 5')
        self.refused(['count', 'f', '-u', ''], '--unit: a unit is wanted, as ssh.service')

    def test_a_file_that_is_no_recording_is_said_to_be_none(self):
        with tempfile.NamedTemporaryFile('w') as file:
            file.write('hello\nworld\n')
            file.flush()
            done = run('report', file.name)
        self.assertEqual((done.returncode, done.stderr),
                         (1, f'tracectl: {file.name} is no recording: tracectl record and graph -o write those\n'))

    @support.needs_root
    def test_a_user_without_a_daemon_is_told_what_tracing_needs(self):
        done = run('--embedded', 'count', 'malloc', '--', '/bin/true', **NOBODY)
        self.assertEqual((done.returncode, done.stderr), (4, 'tracectl: without a daemon this needs root, or CAP_BPF, '
                         'CAP_PERFMON; with a tracectld that runs you can trace your own processes\n'))


@support.needs_root
class WrongRequests(support.DaemonTest):
    def refused(self, words, said, status, **options):
        done = self.daemon.run(*words, **options)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(said, done.stderr)
        self.assertEqual(done.stdout, '')
        self.assertEqual(self.daemon.json('status')['sites'], 0)
        return done.stderr

    def test_what_is_written_otherwise_in_expressions(self):
        of_hot = 'trace', 'hot_push', '-p', str(self.program('hot').pid)
        for words, said, spot in (
                (['--when', 'arg0 > 5 and arg1 < 3'], '"and" is not expected here, but an operator or the end; && is and', 'and'),
                (['--when', 'arg0 > 5 or arg1 < 3'], '; || is or', 'or'),
                (['--when', '/arg0 > 5/'], '; a condition stands without slashes around it', '/'),
                (['--when', 'comm == hot'], 'strings are in double quotes: "hot"', 'hot'),
                (['--when', 'str(arg0) != yes'], 'strings are in double quotes: "yes"', 'yes'),
                (['--when', 'kstack == 1'], '; stack is that of the program, and none is taken of the kernel', 'kstack'),
                (['--when', "comm == 'hot'"], '"\'" has no meaning here; strings are in double quotes', "'"),
                (['--when', '$arg0 > 5'], '"$" has no meaning here; arguments are arg0, arg1 and so on', '$'),
                (['--when', 'args->size > 5'], '; an argument by its name is arg.NAME', 'args'),
                (['--do', '@[pid] = count()'], '; results have no names, keys follow by: count by pid', '@'),
                (['--do', 'printf("%d", arg0)'], '; event(E, ...) shows values', 'printf')):
            with self.subTest(words=words):
                text = self.refused([*of_hot, *words], said, 2)
                line, caret = text.rstrip('\n').split('\n')[-2:]
                self.assertEqual(caret.index('^'), line.index(spot))
        self.refused(['count', 'hot_push', *of_hot[2:], '--by', 'thread'], '; did you mean "tid"?', 2)

    def test_names_that_lack_a_part(self):
        program = self.program('cxx_names', '1')
        self.refused(['count', 'price', '-p', str(program.pid)], ': name it so, or by *::price', 5)
        self.refused(['list', '/bin/ls'], 'which of its functions? /bin/ls:* is all of them, /bin/ls:FUNCTION is one', 2)
        self.refused(['count', 'malloc', '-a'], 'name the file before "malloc", as in /usr/lib/libx.so:f', 2)
        self.refused(['count', 'syscall:read', '-p', str(program.pid)], 'tracectl traces user programs', 2)

    def test_what_is_no_function(self):
        program = self.program('hot')
        pid = str(program.pid)
        self.refused(['count', 'hot.c:20', '-p', pid], 'a function has a name; a line is written @hot.c:20\n', 2)
        self.refused(['count', 'hot_push:20', '-p', pid], 'a line is written @FILE:20\n', 2)
        self.refused(['count', 'hot.c:20:5', '-p', pid], 'a line is written @FILE:LINE or @FILE:LINE:COLUMN\n', 2)
        self.refused(['count', 'hot_push', pid], f'a process is chosen by -p {pid}\n', 2)
        self.refused(['count', 'fast', '-p', pid], 'hot: it has a USDT probe of that name: usdt:hot:hot:fast\n', 5)
        self.refused(['count', 'p:hot_push', '-p', pid, '--for', '0s'],
                     'now fits OBJECT "p"; it maps hot, libc.so.6, ld-linux', 6)

    def test_values_of_options(self):
        self.refused(['count', 'f', '-x', 'nosuchprog'],
                     'there is no file nosuchprog here, and no program nosuchprog in PATH\n', 1)
        for wrong in '5 parsec', '5min':
            self.refused(['count', 'f', '-a', '--for', wrong], f'not {wrong}: the units are us, ms, s and m, without', 2)
        self.refused(['count', 'f', '-a', '--for', 'soon'], 'as 10s, 500ms or 2m, not soon;', 2)

    def test_verbs_that_lack_a_word(self):
        self.refused(['session'], 'which of its verbs? new, show, ', 2)
        self.daemon.run('session', 'new', 'empty')
        said = self.daemon.run('commit', 'empty').stdout
        self.assertIn('nothing was staged: tracectl stage SESSION set PATTERN... does that\n', said)

    def test_sessions_and_containers_that_do_not_exist(self):
        for words in ['commit', 'nosuch'], ['session', 'delete', 'nosuch'], ['read', 'nosuch']:
            self.refused(words, 'there is no session "nosuch"; tracectl session list shows which there are\n', 1)
        home = {**os.environ, 'HOME': self.daemon.directory.name}
        said = self.refused(['count', 'f', '--container', 'nosuch'], 'no container nosuch runs', 6, env=home)
        self.assertNotIn('ask as root', said)

    def test_a_process_whose_namespaces_are_hidden_is_not_yours(self):
        os.chmod(self.daemon.directory.name, 0o755)
        self.assertIn('process 1 is not yours to trace', self.refused(['count', 'f', '-p', '1'], '', 4, **NOBODY))


if __name__ == '__main__':
    unittest.main()
