# SPDX-License-Identifier: BSD-2-Clause
"""A PostgreSQL server for a test: Debian's unmodified program."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile

import support

BIN = '/usr/lib/postgresql/15/bin'
POSTGRES = BIN + '/postgres'
AS_POSTGRES = ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups']


class ServerTest(support.DaemonTest):
    def setUp(self):
        super().setUp()
        self.directory = tempfile.mkdtemp(dir='/tmp')
        self.addCleanup(shutil.rmtree, self.directory)
        user = pwd.getpwnam('postgres')
        os.chown(self.directory, user.pw_uid, user.pw_gid)
        data = self.directory + '/data'
        subprocess.run([*AS_POSTGRES, BIN + '/initdb', '--no-sync', '-D', data], check=True,
                       capture_output=True, cwd='/')
        self.server = subprocess.Popen(
            [*AS_POSTGRES, POSTGRES, '-D', data, '-k', self.directory, '-c', 'listen_addresses='],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd='/')
        self.addCleanup(self.end_server)
        support.wait_until(lambda: self.psql('select 1').returncode == 0, 'the server')

    def end_server(self):
        self.server.send_signal(signal.SIGINT)
        self.server.wait(timeout=60)

    def psql(self, text):
        return subprocess.run(
            [*AS_POSTGRES, BIN + '/psql', '-X', '-q', '-h', self.directory, 'postgres'],
            input=text, capture_output=True, text=True, cwd='/', timeout=60)
