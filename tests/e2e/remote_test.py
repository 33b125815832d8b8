# SPDX-License-Identifier: BSD-2-Clause
"""tracectl -H, with a real ssh client and a real ssh server: dropbear, started for each connection in a mount
namespace in which root's home is a directory of the test."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import unittest

import support

# As sshd would do otherwise: a shell reads the command.
LOGIN = """#!/bin/sh
export PATH={path}:$PATH TRACECTL_SOCKET={socket}
exec sh -c "$SSH_ORIGINAL_COMMAND"
"""


class Server:
    """The client's settings to reach a server, and that server's keys."""

    def __init__(self, daemon_socket, path=support.BUILD):
        self.folder = tempfile.mkdtemp()
        home = pathlib.Path(self.folder, 'home')
        keys = home / '.ssh'
        keys.mkdir(mode=0o700, parents=True)
        home.chmod(0o700)
        self.run('dropbearkey', '-t', 'ed25519', '-f', self.folder + '/host')
        self.run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', self.folder + '/user')
        public = pathlib.Path(self.folder, 'user.pub').read_text()
        login = pathlib.Path(self.folder, 'login')
        login.write_text(LOGIN.format(path=path, socket=daemon_socket))
        login.chmod(0o700)
        (keys / 'authorized_keys').write_text(f'command="{login}" {public}')
        (keys / 'authorized_keys').chmod(0o600)
        self.command = ['unshare', '--mount', 'sh', '-c',
                        f'mount --bind {home} /root && exec dropbear -i -r {self.folder}/host']
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.servers = []
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()
        config = pathlib.Path(self.folder, 'config')
        config.write_text(f'Host *\n  HostName 127.0.0.1\n  Port {self.listener.getsockname()[1]}\n'
                          f'  IdentityFile {self.folder}/user\n  IdentitiesOnly yes\n  BatchMode yes\n'
                          '  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n'
                          '  LogLevel ERROR\n')
        self.ssh = f'ssh -F {config}'

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return  # the end
            with connection:
                self.servers.append(subprocess.Popen(self.command, stdin=connection, stdout=connection))

    @staticmethod
    def run(*command):
        subprocess.run(command, check=True, capture_output=True)

    def end(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()
        for server in self.servers:
            server.kill()
            server.wait()
        shutil.rmtree(self.folder)


@support.needs_root
class Remote(support.DaemonTest):
    def setUp(self):
        super().setUp()
        self.server = Server(self.daemon.socket)
        self.addCleanup(self.server.end)

    def there(self, *words, **environment):
        return {'args': [support.TRACECTL, '-H', 'root@there', *words],
                'env': {**os.environ, 'TRACECTL_SSH': self.server.ssh, **environment}, 'text': True}

    def run_there(self, *words, **environment):
        return subprocess.run(**self.there(*words, **environment), capture_output=True, timeout=60)

    def start_there(self, *words):
        """A remote command with its probes armed."""
        process = subprocess.Popen(**self.there(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        line = process.stderr.readline()
        self.assertIn('tracing', line)
        return process

    def call(self, program, times):
        program.send(f'hot_push {times}')
        self.assertEqual(program.result()['calls'], times)

    def test_a_command_is_done_there_and_its_exit_status_comes_back(self):
        done = self.run_there('--json', 'status')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertEqual(json.loads(done.stdout)['pid'], self.daemon.process.pid)
        done = self.run_there('session', 'show', 'nosuch')
        self.assertEqual(done.returncode, 1)
        self.assertIn('there is no session "nosuch"', done.stderr)
        self.assertEqual(self.run_there('--socket', '/nowhere/s', 'status').returncode, 3)

    def test_words_come_there_as_they_are(self):
        program = self.program('values', '1', '10')
        when = 'str(arg3) == "it\'s $HOME `id` \\\\ * ; & | <x> \\"q\\"" || arg0 > -1'
        self.assertEqual(self.run_there('session', 'new', 's').returncode, 0)
        done = self.run_there('stage', 's', 'set', 'usdt::values:*', f'-p{program.pid}', '--when', when)
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = self.daemon.json('session', 'show', 's')
        self.assertEqual([setting['when'] for setting in shown['draft']], [when])

    def test_hosts_of_every_spelling_are_taken_out_of_the_words(self):
        for words in (['-H', 'there'], ['-Hthere'], ['--host', 'there'], ['--host=there']):
            for place in 0, 2:
                line = ['--json', 'status']
                line[place:place] = words
                done = subprocess.run([support.TRACECTL, *line], capture_output=True, text=True, timeout=60,
                                      env={**os.environ, 'TRACECTL_SSH': self.server.ssh + ' -l root'})
                self.assertEqual(json.loads(done.stdout)['pid'], self.daemon.process.pid, done.stderr)

    def test_an_interrupt_ends_a_trace_there_and_its_results_come_back(self):
        program = self.program('hot')
        count = self.start_there('--json', 'count', 'u::hot_push', '-p', str(program.pid))
        self.call(program, 1234)
        count.send_signal(signal.SIGINT)
        out, said = count.communicate(timeout=60)
        self.assertEqual(count.returncode, 130, said)
        self.assertEqual([row['count'] for row in json.loads(out)['rows']], [1234])
        self.assertEqual(self.daemon.json('session', 'list'), {'sessions': []})

    def test_an_interrupt_of_the_terminal_does_not_end_ssh(self):
        program = self.program('hot')
        count = subprocess.Popen(**self.there('--json', 'count', 'u::hot_push', '-p', str(program.pid)),
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.addCleanup(count.communicate)
        self.addCleanup(count.kill)
        self.assertIn('tracing', count.stderr.readline())
        self.call(program, 12)
        os.killpg(count.pid, signal.SIGINT)  # as a terminal does
        out, said = count.communicate(timeout=60)
        self.assertEqual(count.returncode, 130, said)
        self.assertEqual([row['count'] for row in json.loads(out)['rows']], [12])

    def test_events_come_as_they_fire(self):
        program = self.program('hot')
        trace = self.start_there('--json', 'trace', 'u::hot_push', '-p', str(program.pid))
        for i in range(3):
            self.call(program, 1)
            self.assertEqual(json.loads(trace.stdout.readline())['pid'], program.pid)
        trace.send_signal(signal.SIGINT)
        trace.communicate(timeout=60)

    def test_a_command_that_is_traced_there_ends_with_it(self):
        # Its input is not the test's: a shell that reads from it sees its end at once.
        script = 'echo $$; read line; echo $?; exec sleep 1000'
        count = self.start_there('count', 'u:libc.so*:clock_nanosleep', '--', '/bin/sh', '-c', script)
        pid = int(count.stdout.readline())
        self.addCleanup(lambda: os.path.exists(f'/proc/{pid}') and os.kill(pid, signal.SIGKILL))
        self.assertEqual(count.stdout.readline(), '1\n')
        count.send_signal(signal.SIGTERM)
        _, said = count.communicate(timeout=60)
        self.assertEqual(count.returncode, 130, said)
        support.wait_until(lambda: not os.path.exists(f'/proc/{pid}'), 'the end of the command')

    def test_a_broken_connection_ends_the_trace_there(self):
        program = self.program('hot')
        count = self.start_there('count', 'u::hot_push', '-p', str(program.pid))
        self.assertEqual(len(self.daemon.json('session', 'list')['sessions']), 1)
        self.server.servers[-1].kill()
        _, said = count.communicate(timeout=60)
        self.assertEqual(count.returncode, 1)
        self.assertIn('cannot reach root@there, or the connection broke', said)
        support.wait_until(lambda: self.daemon.json('session', 'list') == {'sessions': []},
                           'the end of the trace')

    def test_the_end_of_the_local_one_ends_the_trace_there(self):
        program = self.program('hot')
        count = self.start_there('count', 'u::hot_push', '-p', str(program.pid))
        count.kill()
        support.wait_until(lambda: self.daemon.json('session', 'list') == {'sessions': []},
                           'the end of the trace')

    def test_what_cannot_be_reached_is_told(self):
        done = self.run_there('status', TRACECTL_SSH=self.server.ssh + ' -o ProxyCommand=false')
        self.assertEqual(done.returncode, 1)
        self.assertIn('cannot reach root@there', done.stderr)
        done = self.run_there('status', TRACECTL_SSH='/nowhere/ssh')
        self.assertEqual(done.returncode, 1)
        self.assertIn('/nowhere/ssh', done.stderr)
        other = Server(self.daemon.socket, path='/nowhere')
        self.addCleanup(other.end)
        done = self.run_there('status', TRACECTL_SSH=other.ssh)
        self.assertEqual(done.returncode, 1)
        self.assertIn('there is no tracectl on root@there', done.stderr)

    def test_a_host_that_would_be_an_option_is_refused(self):
        for words in (['-H', '-oProxyCommand=id'], ['--host=-oProxyCommand=id'], ['-H', '']):
            done = subprocess.run([support.TRACECTL, *words, 'status'], capture_output=True, text=True,
                                  timeout=60, env={**os.environ, 'TRACECTL_SSH': 'echo'})
            self.assertEqual((done.returncode, done.stdout), (2, ''))

    def test_the_end_of_input_is_an_interrupt_to_whoever_wants_it(self):
        program = self.program('hot')
        count = subprocess.Popen([support.TRACECTL, '--socket', self.daemon.socket, '--end-with-input',
                                  '--json', 'count', 'u::hot_push', '-p', str(program.pid)],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 text=True)
        self.addCleanup(count.kill)
        self.assertIn('tracing', count.stderr.readline())
        self.call(program, 5)
        out, _ = count.communicate(timeout=60)
        self.assertEqual(count.returncode, 130)
        self.assertEqual([row['count'] for row in json.loads(out)['rows']], [5])


if __name__ == '__main__':
    unittest.main()
