# SPDX-License-Identifier: BSD-2-Clause
"""For pytest, by which tests/run runs these tests side by side: which of them may meet, what a failure shows, and a
file of verdicts. Each test also runs without it, by `python3 -m unittest`."""

import collections
import contextlib
import json
import subprocess
import unittest

import pytest
from xdist.scheduler import LoadScopeScheduling

import support

LINES_SHOWN = 30     # of a log or of an output
COMMANDS_SHOWN = 12  # the last ones


def pytest_addoption(parser):
    parser.addoption('--verdicts', help='a file to which each verdict is added, as a line of JSON')


def pytest_configure(config):
    config.addinivalue_line('markers', 'runs_alone: would see what other tests do at the same time')
    if hasattr(config, 'workerinput'):
        subprocess.Popen = Command
        unittest.TestCase.subTest = sub_test
    elif config.getoption('--verdicts'):
        config.pluginmanager.register(Verdicts(config.getoption('--verdicts')))


# ---- which tests may meet ----


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Tests of a group run in one process, one after another: of a class, or of a module that shares a container."""
    for item in items:
        method = getattr(item.cls, item.originalname)
        if getattr(method, 'runs_alone', None) or getattr(item.cls, 'runs_alone', None):
            item.add_marker('runs_alone')
        if hasattr(item.module, 'setUpModule'):
            group = item.module.__name__
        else:
            group = getattr(item.cls, 'group', f'{item.module.__name__}.{item.cls.__name__}')
        item.add_marker(pytest.mark.xdist_group(group))
    # Large groups first: at the end no process is to wait long for another.
    sizes = collections.Counter(group_of(item) for item in items)
    items.sort(key=lambda item: (-sizes[group_of(item)], group_of(item)))


def group_of(item):
    return item.get_closest_marker('xdist_group').args[0]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return Groups(config, log)


class Groups(LoadScopeScheduling):
    """Goes on after the death of a process. Version 3.1 of xdist would run the test in which it died again, and wait
    for ever for a process that has been given nothing, or one test alone."""

    def _split_scope(self, nodeid):
        return nodeid.rpartition('@')[2]

    def remove_node(self, node):
        groups = self.assigned_work.pop(node)
        left = [(tests, name) for tests in groups.values() for name, is_done in tests.items() if not is_done]
        if not left:
            return None
        tests, died_in = left[0]
        tests[died_in] = True
        self.workqueue.update({group: tests for group, tests in groups.items() if not all(tests.values())})
        for other in self.assigned_work:
            self._reschedule(other)
        return died_in

    def _reschedule(self, node):
        super()._reschedule(node)
        super()._reschedule(node)  # a process runs its last test when it has another or is told that there is none


@pytest.fixture(scope='module', autouse=True)
def module_cleanups():
    yield
    unittest.case.doModuleCleanups()  # which pytest does not


@pytest.fixture(scope='class', autouse=True)
def class_cleanups(request):
    """Those that failed: unittest keeps their exceptions, and pytest does not look there."""
    yield
    for _, error, _ in getattr(request.cls, 'tearDown_exceptions', ()):
        raise error


# ---- what a failure shows ----


class Command(subprocess.Popen):
    """Keeps what it was and what it said."""

    last = collections.deque(maxlen=COMMANDS_SHOWN)

    def __init__(self, args, *more, **options):
        self.words = args if isinstance(args, str) else ' '.join(map(str, args))
        self.said = ''
        self.last.append(self)
        super().__init__(args, *more, **options)

    def communicate(self, *args, **options):
        said = super().communicate(*args, **options)
        self.said = '\n'.join(text.decode(errors='replace') if isinstance(text, bytes) else text
                              for text in said if text)
        return said

    def __str__(self):
        status = getattr(self, 'returncode', None)  # none: it runs, or could not be started
        return (f'$ {self.words}\n' + ''.join(f'    {line}\n' for line in last_lines(self.said))
                + ('still runs' if status is None else f'exit status {status}'))


failed_sub_test = []  # what it was called with


@contextlib.contextmanager
def sub_test(_, message='', **parameters):
    """In place of unittest's: pytest has none of its own, and the first failure ends the test."""
    try:
        yield
    except Exception:
        words = [str(message), *(f'{name}={value!r}' for name, value in parameters.items())]
        failed_sub_test[:] = [' '.join(filter(None, words))]
        raise


def last_lines(text):
    return text.splitlines()[-LINES_SHOWN:]


def log_of(daemon):
    try:
        return '\n'.join(last_lines(daemon.said()))
    except Exception as error:  # a fault here must not hide the failure
        return f'cannot be read: {error!r}'


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.failed:
        if failed_sub_test:
            report.sections.append(('the sub-test', failed_sub_test[0]))
        for number, daemon in enumerate(support.Daemon.started, 1):
            report.sections.append((f'the end of the log of daemon {number}, {daemon.socket}', log_of(daemon)))
        report.sections.append(('the last commands', '\n'.join(map(str, Command.last))))
    return report


def pytest_runtest_teardown(item):
    Command.last.clear()
    failed_sub_test.clear()
    support.Daemon.started[:] = [daemon for daemon in support.Daemon.started if daemon.process.returncode is None]


# ---- verdicts ----


class Verdicts:
    def __init__(self, path):
        self.path = path
        self.collected = set()  # names of tests; a process that takes the place of a dead one collects them again
        self.judged = set()     # those with a verdict

    def pytest_xdist_node_collection_finished(self, ids):
        self.collected.update(self.name_of(one) for one in ids)

    def pytest_collectreport(self, report):
        """Of a file: what cannot be imported has failed."""
        if not report.passed:
            self.add(report)

    def pytest_runtest_logreport(self, report):
        """Of the set-up, the test itself and the tear-down: at once, so that none is lost."""
        self.add(report)
        if report.passed and report.when == 'call' and report.capstdout:
            print(f'\n---- {self.name_of(report.nodeid)}\n{report.capstdout}', flush=True)

    def pytest_sessionfinish(self):
        for name in sorted(self.collected - self.judged):
            self.write('failed', name, 'was not run')

    def add(self, report):
        name, seconds = self.name_of(report.nodeid), getattr(report, 'duration', 0)
        if report.failed:  # so has a test in which its process died
            text, details = self.failure(report)
            self.write('failed', name, text, seconds, details)
        elif report.skipped:
            reason = report.longrepr[2].removeprefix('Skipped: ').removeprefix('unittest.case.SkipTest: ')
            self.write('skipped', name, reason, seconds)
        else:
            self.write('passed' if report.when == 'call' else None, name, '', seconds)

    @staticmethod
    def failure(report):
        """In a line, and all that there is."""
        details = report.longreprtext
        lines = [line[1:].strip() for line in details.splitlines() if line.startswith('E ')]
        return (lines[0] if lines else details.rpartition('\n')[2],
                details + ''.join(f'\n---- {title} ----\n{content}' for title, content in report.sections))

    @staticmethod
    def name_of(nodeid):
        return nodeid.partition('@')[0].removeprefix('tests/e2e/').replace('.py::', '.').replace('::', '.')

    def write(self, verdict, name, text, seconds=0, details=''):
        if verdict:
            self.judged.add(name)
        with open(self.path, 'a', encoding='utf-8') as file:
            file.write(json.dumps([verdict, name, text, seconds, details]) + '\n')
