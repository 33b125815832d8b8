# SPDX-License-Identifier: BSD-2-Clause
"""The daemon as a systemd service, installed from its packages, in a container."""

import json
import pathlib
import re
import subprocess
import tempfile
import unittest

import container
import support

CONFIGURATION = '/etc/tracectl/tracectld.json'
FOLDER = '/usr/local/bin'  # for targets: not hidden by the sandbox


def dumps_in(folder, session):
    """The dumps with content: a dump's file is empty until its events have come."""
    return [file for file in folder.glob(f'{session}-*.tct') if file.stat().st_size > 0]


def boot():
    """For the tests of a module: one container with our packages, which ends after them."""
    ServiceTest.container = there = container.Container()
    unittest.addModuleCleanup(there.end)
    there.run('systemctl', 'is-system-running', '--wait')
    there.install(container.package('tracectl'), container.package('tracectld'))
    there.run('cp', support.target('hot'), support.target('busy'), FOLDER)


def newer_package(name, there, change=None):
    """A package of a later version than our own, as a file in this container. `change` may modify the directory
    with its contents."""
    with tempfile.TemporaryDirectory() as folder:
        tree, file = pathlib.Path(folder, name), pathlib.Path(folder, name + '.deb')
        subprocess.run(['dpkg-deb', '--raw-extract', container.package(name), tree], check=True)
        control = tree / 'DEBIAN/control'
        control.write_text(re.sub(r'(?m)(^Version: |\(= )[^)\n]*', r'\g<1>99-1', control.read_text()))
        if change:
            change(tree)
        subprocess.run(['dpkg-deb', '-Znone', '--root-owner-group', '--build', tree, file], check=True,
                       stdout=subprocess.DEVNULL)
        there.path('/root/' + file.name).write_bytes(file.read_bytes())
    return '/root/' + file.name


class ServiceTest(unittest.TestCase):
    container = None  # one for all tests

    def setUp(self):
        self.container.path(CONFIGURATION).unlink(missing_ok=True)
        self.systemctl('stop', 'tracectld.socket', 'tracectld.service')
        self.systemctl('reset-failed')
        self.systemctl('start', 'tracectld.socket')

    def run_there(self, *words, **options):
        return self.container.run(*words, **options)

    def systemctl(self, *words, **options):
        return self.run_there('systemctl', *words, **options)

    def property(self, name, unit='tracectld.service'):
        return self.systemctl('show', unit, '-P', name).strip()

    def wait_for(self, name, value, unit='tracectld.service'):
        support.wait_until(lambda: self.property(name, unit) == value, f'{name} to be {value}')

    def tracectl(self, *words, **options):
        return self.run_there('tracectl', *words, **options)

    def json(self, *words):
        return json.loads(self.tracectl('--json', *words))

    def start(self, *words, **options):
        """Starts a command in the container, with its input and output."""
        program = subprocess.Popen(self.container.command(*words), stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True, **options)
        self.addCleanup(program.communicate)
        self.addCleanup(program.kill)
        return program

    def start_target(self, name):
        """Starts one of our targets in the container; returns it when it is ready, and its process id there."""
        program = self.start(f'{FOLDER}/{name}')
        word, pid = program.stdout.readline().split()
        self.assertEqual(word, 'ready')
        return program, pid

    def entries(self, *matches):
        """Entries of the journal since the service was started."""
        self.run_there('journalctl', '--sync')
        out = self.run_there('journalctl', '--output=json', '_SYSTEMD_INVOCATION_ID='
                             + self.property('InvocationID'), *matches)
        return [json.loads(line) for line in out.splitlines()]

    def messages(self):
        return [entry['MESSAGE'] for entry in self.entries()]
