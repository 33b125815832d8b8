# SPDX-License-Identifier: BSD-2-Clause
"""What tests/run makes of tests that fail, die, or do not run: conftest.py's verdicts, and the logs of GoogleTest."""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import support

WORKERS = 2

FAILS = '''
import support
class Fails(support.DaemonTest):
    def test_it(self):
        self.daemon.run('session', 'delete', 'nobody')
        with self.subTest(colour='blue'):
            self.assertEqual(1, 2)
'''
FAILS_AT_ITS_END = '''
import unittest
class Fails(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.addClassCleanup(lambda: 1 / 0)
    def test_it(self):
        pass
'''
DIES = '''
import os, signal, unittest
class Dies(unittest.TestCase):
    def test_1(self):
        pass
    def test_2(self):
        os.kill(os.getpid(), signal.SIGKILL)
    def test_3(self):
        pass
'''
SKIPS = '''
import unittest
raise unittest.SkipTest('for no reason')
'''
CANNOT_BE_IMPORTED = 'import no_such_module\n'
FAILS_IN_SET_UP = '''
import unittest
class Fails(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise ValueError('no')
    def test_it(self):
        pass
'''
PRINTS = '''
import unittest
class Prints(unittest.TestCase):
    def test_it(self):
        print('a figure of 7')
'''


def runner():
    """tests/run as a module."""
    loader = importlib.machinery.SourceFileLoader('tests_run', str(support.ROOT / 'tests/run'))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


WORSE = runner().WORSE


def run_tests(text, *options):
    """By test its verdict, the worst of all, with what it shows; and what was printed."""
    with tempfile.TemporaryDirectory() as directory:
        pathlib.Path(directory, 'one_test.py').write_text(text)
        verdicts = pathlib.Path(directory, 'verdicts')
        path = f'{support.ROOT}/tests/e2e:{support.ROOT}/tests/support'
        done = subprocess.run(
            ['/usr/bin/python3', '-m', 'pytest', '-q', '--rootdir', directory, '-c', '/dev/null', '-p', 'conftest',
             '-p', 'no:cacheprovider', '--tb=short', '-n', str(WORKERS), '--dist=loadgroup',
             f'--verdicts={verdicts}', *options, 'one_test.py'],
            cwd=directory, capture_output=True, text=True, timeout=120, check=False,
            env={**{name: value for name, value in os.environ.items() if not name.startswith('PYTEST_')},
                 'PYTHONPATH': path, 'PYTHONDONTWRITEBYTECODE': '1'})
        found = {}
        for line in verdicts.read_text().splitlines():
            verdict, name, text, _, details = json.loads(line)
            name = name.removeprefix('one_test.')
            if verdict and (name not in found or WORSE[verdict] > WORSE[found[name][0]]):
                found[name] = verdict, text, details
        return found, done.stdout


class Verdicts(unittest.TestCase):
    def only(self, text):
        found, _ = run_tests(text)
        self.assertEqual(len(found), 1, found)
        return next(iter(found.values()))

    @support.needs_root
    def test_a_failure_shows_the_daemons_log_the_last_commands_and_the_sub_test(self):
        verdict, text, details = self.only(FAILS)
        self.assertEqual((verdict, text), ('failed', 'AssertionError: 1 != 2'))
        self.assertRegex(details, r'the end of the log of daemon 1, .*\n.*listening')
        self.assertRegex(details, r'\$ \S*tracectl --socket \S+ session delete nobody\n    tracectl: .*nobody')
        self.assertIn("colour='blue'", details)

    def test_what_fails_at_the_end_of_a_class_is_a_failure(self):
        verdict, text, _ = self.only(FAILS_AT_ITS_END)
        self.assertEqual((verdict, text), ('failed', 'ZeroDivisionError: division by zero'))

    def test_what_fails_before_the_tests_of_a_class_is_one(self):
        verdict, text, _ = self.only(FAILS_IN_SET_UP)
        self.assertEqual((verdict, text), ('failed', 'ValueError: no'))

    def test_a_death_is_a_failure_of_its_test_and_the_others_run(self):
        found, _ = run_tests(DIES)
        self.assertEqual({name: verdict for name, (verdict, _, _) in found.items()},
                         {'Dies.test_1': 'passed', 'Dies.test_2': 'failed', 'Dies.test_3': 'passed'})

    def test_what_no_process_runs_any_more_is_a_failure(self):
        found, _ = run_tests(DIES, '--max-worker-restart=0', '-n', '1')
        self.assertEqual({name: verdict for name, (verdict, _, _) in found.items()},
                         {'Dies.test_1': 'passed', 'Dies.test_2': 'failed', 'Dies.test_3': 'failed'})

    def test_a_file_that_is_skipped_and_one_that_cannot_be_imported_have_a_verdict(self):
        self.assertEqual(self.only(SKIPS)[:2], ('skipped', 'for no reason'))
        verdict, text, _ = self.only(CANNOT_BE_IMPORTED)
        self.assertEqual(verdict, 'failed')
        self.assertIn('no_such_module', text)

    def test_what_passing_tests_print_is_printed(self):
        found, printed = run_tests(PRINTS)
        self.assertEqual(found['Prints.test_it'][0], 'passed')
        self.assertIn('a figure of 7', printed)


class GoogleTests(unittest.TestCase):
    LOG = '''[ RUN      ] A.Passes
[       OK ] A.Passes (3 ms)
[ RUN      ] A.Skips
a.cpp:3: Skipped
this kernel cannot

[  SKIPPED ] A.Skips (0 ms)
[ RUN      ] A.Fails
a.cpp:7: Failure
libbpf: it was refused
[  FAILED  ] A.Fails (1 ms)
[ RUN      ] A.Dies
a last word
'''

    def test_each_has_a_verdict_also_the_one_in_which_the_process_died(self):
        counts = runner().read_gtest(self.LOG)
        self.assertEqual(counts.passed, 1)
        self.assertEqual(counts.skips, ['A.Skips: this kernel cannot'])
        self.assertEqual([text.partition(':')[0] for text in counts.failures], ['A.Fails', 'A.Dies'])
        self.assertIn('libbpf: it was refused', counts.details[0])
        self.assertIn('a last word', counts.details[1])

    def test_the_table_has_a_line_for_each_stage(self):
        module = runner()
        stages = {'unit': (module.Counts(passed=3, failures=['x']), 1.4), 'e2e': (module.Counts(skips=['y']), 12)}
        self.assertEqual(module.table(stages).split('\n'),
                         ['STAGE          PASSED   FAILED  SKIPPED  SECONDS',
                          'unit                3        1        0        1',
                          'e2e                 0        0        1       12'])


if __name__ == '__main__':
    unittest.main()
