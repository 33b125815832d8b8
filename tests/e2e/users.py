# SPDX-License-Identifier: BSD-2-Clause
"""Real users in a container, with a daemon whose socket all of them may connect to."""

import json
import subprocess
import unittest

import container
import support

ALICE, BOB, CAROL = 4001, 4002, 4003
PROGRAM = '/opt/changes'      # owned by root, executable for everybody
SETUID = '/opt/changes-suid'  # the same file, setuid root
DENIED = 4                    # exit status


class User:
    def __init__(self, name, uid, *groups):
        self.name = name
        self.uid = uid
        self.enter = ['setpriv', f'--reuid={uid}', f'--regid={uid}',
                      f'--groups={",".join(map(str, groups))}' if groups else '--clear-groups']


class WithUsers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.container = container.Container()
        cls.addClassCleanup(cls.container.end)
        run = cls.container.run
        run('systemctl', 'is-system-running', '--wait')
        for name, uid in ('alice', ALICE), ('bob', BOB), ('carol', CAROL):
            run('useradd', '--uid', uid, '--user-group', '--create-home', name)
        cls.container.install(container.package('tracectl'), container.package('tracectld'))
        run('install', '-m', '755', support.target('changes'), PROGRAM)
        run('install', '-m', '4755', support.target('changes'), SETUID)
        group = int(run('getent', 'group', 'tracectl').split(':')[2])
        cls.alice, cls.bob = User('alice', ALICE), User('bob', BOB)
        cls.carol, cls.root = User('carol', CAROL, group), User('root', 0)

        holder = support.Program(*cls.container.command(
            *cls.alice.enter, 'unshare', '--user', f'--map-user={ALICE}', f'--map-group={ALICE}', PROGRAM))
        cls.addClassCleanup(holder.end)
        cls.inside = User('inside', ALICE)  # alice, in a user namespace of her own
        cls.inside.enter = [*cls.alice.enter, 'nsenter', '--target', holder.says_pid, '--user',
                            '--preserve-credentials']

    def tracectl(self, user, *words, **options):
        return subprocess.run(self.container.command(*user.enter, support.TRACECTL, *words),
                              capture_output=True, text=True, timeout=120, **options)

    def json(self, user, *words):
        done = self.tracectl(user, '--json', *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def process(self, *command):
        process = support.Program(*self.container.command(*command))
        self.addCleanup(process.end)
        return process

    def of(self, user, *command):
        return self.process(*user.enter, *(command or (PROGRAM,)))

    @staticmethod
    def do(process, *lines):
        for line in lines:
            process.send(line)
            process.result()

    def session(self, user, name, *words, recorder=('1M',)):
        """Makes a session for the events of these processes; its draft is committed."""
        self.assertEqual(self.tracectl(user, 'session', 'new', name, '--recorder', *recorder)
                         .returncode, 0)
        self.addCleanup(self.tracectl, self.root, 'session', 'delete', name)
        staged = self.tracectl(user, 'stage', name, 'set', *words)
        if staged.returncode == 0:
            committed = self.tracectl(user, 'commit', name)
            self.assertEqual(committed.returncode, 0, committed.stderr)
        return staged
