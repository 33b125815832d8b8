# SPDX-License-Identifier: BSD-2-Clause
"""Stacks through code that programs make at run time, named by their perf maps and jitdump files."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

import support
from support import target

NODE_SCRIPT = '''
const fs = require('fs');
function outerOfTest(n) { for (let i = 0; i < 9; ++i) innerOfTest(i + n); }
function innerOfTest(n) { fs.accessSync('/'); return n; }
setInterval(() => outerOfTest(1), 5);
console.log('ready');
'''
JAVA_SOURCE = '''
public class Looks {
  static int outerOfTest(java.io.File file) { return innerOfTest(file) + 1; }
  static int innerOfTest(java.io.File file) { return file.exists() ? 1 : 0; }
  public static void main(String[] words) throws Exception {
    java.io.File file = new java.io.File("/");
    for (int i = 0; i < 30000; ++i) outerOfTest(file);
    System.out.println("ready");
    for (;;) { outerOfTest(file); Thread.sleep(1); }
  }
}
'''


@support.needs_root
class MadeCode(support.DaemonTest):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def start(self, *command):
        program = support.Program(*command)
        self.addCleanup(self.end, program)
        return program

    def end(self, program):
        program.end()
        for left in pathlib.Path('/tmp').glob(f'perf-{program.pid}.map'):
            left.unlink()

    def stacks(self, program, pattern, *engine):
        done = support.run(*(engine or ['--socket', self.daemon.socket]), 'stacks', pattern, '-p', str(program.pid), '--for',
                           '500ms', '--folded')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(';', done.stdout)
        return done.stdout

    def test_its_functions_are_named(self):
        program = self.start(target('made_code'))
        for engine in ([], ['--embedded']):
            self.assertRegex(self.stacks(program, 'u::leaf', *engine), r'(?m)(^|;)main;made_first;leaf \d+$')

    def test_a_list_that_grows_is_read_again(self):
        for words in ([], [self.folder]):
            with self.subTest(words=words):
                self.check_that_a_longer_list_is_read(self.start(target('made_code'), *words))

    def check_that_a_longer_list_is_read(self, program):
        with subprocess.Popen([support.TRACECTL, '--socket', self.daemon.socket, 'trace', 'u::leaf', '--do', 'stack',
                               '--json', '-p', str(program.pid)], text=True, stdout=subprocess.PIPE) as verb:
            self.addCleanup(verb.kill)
            self.wait_for_caller(verb, 'made_first')
            os.kill(program.pid, signal.SIGUSR1)
            self.wait_for_caller(verb, 'made_second')
            verb.send_signal(signal.SIGINT)
            verb.communicate(timeout=60)

    def wait_for_caller(self, verb, name):
        """The program calls a thousand times a second; the test's timeout ends it."""
        for line in verb.stdout:
            frames = json.loads(line)['stack']
            self.assertEqual(frames[0]['function'], 'leaf')
            if frames[1].get('function') == name:
                return frames[1]
        raise AssertionError('the stream ended')

    def test_the_file_is_the_module(self):
        program = self.start(target('made_code'))
        with subprocess.Popen([support.TRACECTL, '--socket', self.daemon.socket, 'trace', 'u::leaf', '--do', 'stack',
                               '--json', '-p', str(program.pid)], text=True, stdout=subprocess.PIPE) as verb:
            self.addCleanup(verb.kill)
            frame = self.wait_for_caller(verb, 'made_first')
            verb.send_signal(signal.SIGINT)
            verb.communicate(timeout=60)
        self.assertEqual(frame['module'], f'/tmp/perf-{program.pid}.map')

    def test_a_list_of_another_user_is_not_believed(self):
        program = self.start(target('made_code'))
        os.chown(f'/tmp/perf-{program.pid}.map', 65534, 65534)
        self.assertRegex(self.stacks(program, 'u::leaf'), r'(?m)(^|;)main;\[\?\];leaf \d+$')

    def test_a_list_of_an_earlier_process_is_not_believed(self):
        program = self.start(target('made_code'))
        os.utime(f'/tmp/perf-{program.pid}.map', (1, 1))
        self.assertRegex(self.stacks(program, 'u::leaf'), r'(?m)(^|;)main;\[\?\];leaf \d+$')

    def test_a_list_that_is_no_file_is_left_alone(self):
        program = self.start(target('made_code'))
        path = f'/tmp/perf-{program.pid}.map'
        os.unlink(path)
        os.mkfifo(path)
        self.assertRegex(self.stacks(program, 'u::leaf'), r'(?m)(^|;)main;\[\?\];leaf \d+$')

    def test_functions_of_node_are_named(self):
        script = self.folder / 'looks.js'
        script.write_text(NODE_SCRIPT)
        # node also writes a log of its own, which stays out of the sources.
        log = ['--no-logfile-per-isolate', f'--logfile={self.folder}/node.log']
        node = self.start('node', '--perf-basic-prof', *log, '--interpreted-frames-native-stack', '--no-opt', script)
        self.assertRegex(self.stacks(node, 'libc:access'),
                         r';JS:.outerOfTest [^;]*looks\.js:3:\d+;([^;]*;)?JS:.innerOfTest [^;]*looks\.js:4:\d+;')

    def test_functions_of_java_are_named(self):
        (self.folder / 'Looks.java').write_text(JAVA_SOURCE)
        subprocess.run(['javac', 'Looks.java'], cwd=self.folder, check=True)
        program = self.start('java', '-XX:+PreserveFramePointer', '-cp', self.folder, 'Looks')
        subprocess.run(['jcmd', str(program.pid), 'Compiler.perfmap'], check=True, stdout=subprocess.DEVNULL)
        self.assertRegex(self.stacks(program, 'libc:stat'), r';int Looks\.outerOfTest\(java\.io\.File\);')


if __name__ == '__main__':
    unittest.main()
