# SPDX-License-Identifier: BSD-2-Clause
"""What bash, zsh and fish offer for a word of a command line that is being typed."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import support
import terminal

FILES = support.ROOT / 'packaging/completions'
IN_ZSH = '''
_describe() { print -rl -- ${(P)2} }
_call_program() { shift; eval "$@" }
_files() {}
words=("$@")
CURRENT=$#
. $0
'''


def output_of(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120,
                          **options).stdout


def help_of(*words):
    return output_of(support.TRACECTL, *words, '--help')


def verbs_in_help(*words):
    listed = help_of(*words).partition('\nSubcommands:\n')[2]
    return set(re.findall(r'^  ([a-z]\S*) ', listed.partition('\nExit status')[0], re.M))


class Completions:
    """For one shell, whose class has `complete()`: the words for the last of these, or for that in the middle."""

    TELLS_QUOTES = True  # whether the shell hands over words with their quotes

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in 'counters', 'demo_worker', 'hot_usdt':
            (self.folder / name).symlink_to(support.BUILD / 'targets' / name)
        self.options = {'env': {**os.environ, 'PATH': f'{support.BUILD}:{os.environ["PATH"]}'},
                        'cwd': self.folder}

    def test_verbs(self):
        verbs = verbs_in_help()
        self.assertGreater(len(verbs), 20)
        self.assertEqual(self.complete(''), verbs)
        self.assertEqual(self.complete('--json', 'session', ''), verbs_in_help('session'))
        self.assertEqual(self.complete('recipe', ''), verbs_in_help('recipe'))
        self.assertEqual(self.complete('stage', 's', ''), {'set', 'remove'})
        self.assertEqual(self.complete('cou'), {'count'})

    def test_options(self):
        for words in ('count',), ('session', 'new'), ('stage', 's', 'set'):
            listed = re.findall(r'^  (-\S+)', help_of() + help_of(*words), re.M)
            known = {option for names in listed for option in names.split(',')}
            self.assertEqual(self.complete(*words, '-'), known)

    def test_sessions(self):
        daemon = support.Daemon()
        self.addCleanup(daemon.end)
        for name in 'first', 'second':
            daemon.json('session', 'new', name)
        of_daemon = '--socket', daemon.socket
        for words in ('watch',), ('stage',), ('commit',), ('session', 'show'), ('session', 'delete'):
            self.assertEqual(self.complete(*of_daemon, *words, ''), {'first', 'second'}, words)
        self.assertEqual(self.complete(*of_daemon, 'stage', 'first', ''), {'set', 'remove'})
        self.assertEqual(self.complete('--socket', '/nowhere', 'watch', ''), set())

    def test_recipes_and_formats(self):
        self.assertEqual(self.complete('recipe', 'run', 'python-function-'), {'python-function-times'})
        self.assertTrue({'ctf', 'chrome', 'csv'} <= self.complete('export', 'file', '--to', ''))
        self.assertEqual(self.complete('count', '--stack-format', ''), {'symbols', 'raw', 'build-id'})

    def test_processes(self):
        self.assertIn(str(os.getpid()), self.complete('count', '-p', ''))

    def test_functions_of_a_file(self):
        of_file = {f'u:./counters:f001{n}' for n in range(10)}
        self.assertEqual(self.complete('count', 'u:./counters:f001'), of_file)
        self.assertEqual(self.complete('count', './counters:f0019'), {'./counters:f0019'})
        self.assertEqual(self.complete('count', 'u:./demo_worker:demo::run'),
                         {'u:./demo_worker:demo::run_round'})
        self.assertEqual(self.complete('count', 'u:./nothing:f'), set())

    def test_containers(self):
        home = self.folder / 'home'
        storage = home / '.local/share/containers/storage/overlay-containers'
        storage.mkdir(parents=True)
        (storage / 'containers.json').write_text(json.dumps([{'id': 'a' * 64, 'names': ['tracectl_web', 'x y']}]))
        self.options['env']['HOME'] = str(home)
        self.assertEqual(self.complete('count', 'f', '--container', 'tracectl_'), {'tracectl_web'})

    def test_usdt_probes_of_a_file(self):
        self.assertEqual(self.complete('count', 'usdt:./hot_usdt:hot:'),
                         {f'usdt:./hot_usdt:hot:{name}' for name in ('header', 'sdt', 'wide')})

    def test_kinds_and_files(self):
        self.assertEqual(self.complete('count', 'us'), {'usdt:'})
        self.assertEqual(self.complete('count', 'u:./cou'), {'u:./counters:'})
        (self.folder / 'below').mkdir()
        self.assertEqual(self.complete('count', 'uprobe:be'), {'uprobe:below/'})

    def test_names_that_a_shell_would_run_or_split_are_not_offered(self):
        for name in 'x $(touch seen)', 'x;touch seen', 'x\n:commands', 'x`touch seen`', 'x\tseen', "x'seen":
            (self.folder / name).symlink_to(support.BUILD / 'targets/counters')
            (self.folder / ('d' + name)).mkdir()
        (self.folder / 'xyz').symlink_to(support.BUILD / 'targets/counters')
        self.assertEqual(self.complete('count', 'u:./x'), {'u:./xyz:'})
        self.assertEqual(self.complete('count', 'u:./dx'), set())
        probes = (self.folder / 'hot_usdt').read_bytes()
        self.assertIn(b'hot\0header\0', probes)
        hostile = self.folder / 'hostile'
        hostile.write_bytes(probes.replace(b'hot\0header\0', b'hot\0`w`;id\0'))
        self.assertEqual(self.complete('count', 'usdt:./hostile:hot:'),
                         {f'usdt:./hostile:hot:{name}' for name in ('sdt', 'wide')})

    def test_functions_whose_names_begin_a_line_for_the_shell_an_option_or_a_home_are_not_offered(self):
        program = (self.folder / 'counters').read_bytes()
        for name in ':f019', '-f019', '~f019', '=f019':
            hostile = self.folder / 'hostile'
            hostile.write_bytes(program.replace(b'\0f0019\0', b'\0' + name.encode() + b'\0'))
            hostile.chmod(0o755)
            offered = self.complete('count', '-x', str(hostile), '')
            self.assertEqual({'f0018', 'f0019', name} & offered, {'f0018'})

    def test_what_is_no_regular_file_is_not_opened(self):
        os.mkfifo(self.folder / 'fifo')
        self.assertEqual(self.complete('count', 'u:./fi'), set())
        self.assertEqual(self.complete('count', 'u:./fifo:f'), set())

    def test_of_another_host_nothing_is_known(self):
        self.assertEqual(self.complete('-H', 'elsewhere', 'count', 'u:./counters:f001'), set())

    def test_units_of_another_host_are_not_those_of_this_one(self):
        here = self.folder / 'systemctl'
        here.write_text('#!/bin/sh\necho "tracectl-some.service loaded active running Some"\n')
        here.chmod(0o755)
        self.options['env']['PATH'] = f'{self.folder}:{self.options["env"]["PATH"]}'
        self.assertEqual(self.complete('count', '-u', 'tracectl-'), {'tracectl-some.service'})
        for host in ('-H', 'elsewhere'), ('--host=elsewhere',), ('-Helsewhere',):
            self.assertEqual(self.complete(*host, 'count', '-u', 'tracectl-'), set(), host)

    def test_quoted_words_and_those_in_the_home_directory(self):
        self.options['env']['HOME'] = str(self.folder)
        for program in '~/counters', f"'{self.folder}/counters'", f'"{self.folder}/counters"':
            self.assertEqual(self.complete('count', '-x', program, 'f0019'), {'f0019'}, program)
            self.assertEqual(self.complete('count', '-x', program, 'u::f0019'), {'u::f0019'}, program)
        if self.TELLS_QUOTES:
            self.assertEqual(self.complete('count', '-x', "'~/counters'", 'f0019'), set())

    def test_patterns_that_begin_with_the_home_directory(self):
        self.options['env']['HOME'] = str(self.folder)
        self.assertIn('~/counters:f0019', self.complete('count', '~/counters:f0019'))
        self.assertIn('~/counters:', self.complete('count', '~/counte'))

    def test_functions_of_the_program_that_is_traced(self):
        program = str(self.folder / 'counters')
        self.assertEqual(self.complete('count', '--executable=' + program, 'f0019'), {'f0019'})
        self.assertEqual(self.complete('count', '-x' + program, 'f0019'), {'f0019'})
        self.assertEqual(self.complete('count', '-x', program, 'f0019'), {'f0019'})
        self.assertEqual(self.complete('count', '-x', program, 'u::f0019'), {'u::f0019'})


class InBash(Completions, unittest.TestCase):
    SETTING = f'. /usr/share/bash-completion/bash_completion; . {FILES}/tracectl; bind "set bell-style none"'
    TELLING = r"told() { _tracectl; printf '\n<%s>' ${COMPREPLY[@]} '' ''; COMPREPLY=(); }; complete -F told tracectl"

    def said(self, *typed):
        return terminal.said_at_terminal(['bash', '--norc', '-i'], '\n'.join([*typed, 'exit', '']), **self.options)

    def complete(self, *words):
        """What an interactive bash is told; it replaces what follows the last colon."""
        said = self.said(self.SETTING, self.TELLING, ' '.join(('tracectl', *words)) + '\t\x15')
        kept = words[-1][:words[-1].rfind(':') + 1] if words[-1][:1] not in ('"', "'") else ''
        return {kept + word for word in re.findall(r'^<(.+)>', said, re.M)}

    def line_after_tab(self, typed):
        """The words of the line that it becomes."""
        said = self.said(self.SETTING, typed + '\t' + '\x01' + "printf '<%s>\\n' ")
        return re.findall(r'^<(.*)>', said, re.M)

    def test_commands_and_files_after_two_dashes(self):
        self.assertIn('ls', self.complete('count', 'f', '--', 'l'))
        self.assertEqual(self.complete('count', 'f', '--', 'ls', 'demo'), {'demo_worker'})

    def test_an_open_quote(self):
        self.assertEqual(self.complete('count', "'u:./counters:f0019"), {'u:./counters:f0019'})

    def test_the_line_becomes_what_was_offered(self):
        for typed in "tracectl count u:./counters:f19", "tracectl count 'u:./counters:f19":
            self.assertEqual(self.line_after_tab(typed + '99'), ['tracectl', 'count', 'u:./counters:f1999'])
        self.assertEqual(self.line_after_tab('tracectl count u:./cou'), ['tracectl', 'count', 'u:./counters:'])
        self.assertEqual(self.line_after_tab('tracectl cou'), ['tracectl', 'count'])


class InZsh(Completions, unittest.TestCase):
    def complete(self, *words):
        said = output_of('zsh', '-f', '-c', IN_ZSH, FILES / '_tracectl', 'tracectl', *words, **self.options)
        # NAME:DESCRIPTION, where \: is a colon of the name.
        return {re.match(r'(?:\\.|[^:\\])*', line)[0].replace('\\:', ':') for line in said.split('\n') if line}


class InFish(Completions, unittest.TestCase):
    TELLS_QUOTES = False

    def complete(self, *words):
        said = output_of('fish', '--no-config', '-c', '. $argv[1]; complete -C "$argv[2..-1]"',
                         FILES / 'tracectl.fish', 'tracectl', *words, **self.options)
        return {line.partition('\t')[0] for line in said.splitlines()}

    def test_commands_after_two_dashes(self):
        self.assertIn('ls', self.complete('count', 'f', '--', 'l'))


del Completions

if __name__ == '__main__':
    unittest.main()
