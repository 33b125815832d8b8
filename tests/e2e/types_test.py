# SPDX-License-Identifier: BSD-2-Clause
"""Types of arguments of USDT probes that are given by a provider file."""

import json
import re
import signal
import subprocess
import tempfile

import support

PROVIDER = str(support.ROOT / 'tests/targets/erlang_vm.d')
SPAWN = 'usdt::erlang:process-spawn'
ROUNDS = 5
SPAWNED = 3 * ROUNDS  # processes that run worker:run/1


@support.needs_root
class Types(support.DaemonTest):
    one_daemon = True

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        # Without the declarations that the project's own header makes, as other programs are.
        cls.untyped = cls.directory.name + '/untyped_vm'
        subprocess.run(['objcopy', '--remove-section=.note.tracectl', support.target('erlang_vm'), cls.untyped], check=True)

    def machine(self):
        program = support.Program(self.untyped, '2', str(ROUNDS))
        self.addCleanup(program.end)
        return program

    def provider_file(self, text):
        file = tempfile.NamedTemporaryFile('w', suffix='.d')
        self.addCleanup(file.close)
        file.write(text)
        file.flush()
        return file.name

    def traced(self, *words):
        """What tracectl prints, on both outputs."""
        program = self.machine()
        process = subprocess.Popen([support.TRACECTL, '--socket', self.daemon.socket, *words, '-p', str(program.pid)],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        said = ''
        for line in process.stderr:
            said += line
            if '^C' in line:
                break
        program.send('go')
        program.result()
        process.send_signal(signal.SIGINT)
        printed, rest = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, said + rest)
        return printed, said + rest

    def test_pointers_to_characters_are_shown_as_text(self):
        printed, _ = self.traced('trace', SPAWN, '--types', PROVIDER)
        shown = re.findall(r'process__spawn\(p="(<0\.\d+\.0>)", p2="(<0\.\d+\.0>)", mfa="worker:run/1", ts=(\d+)\)', printed)
        self.assertEqual(len(shown), SPAWNED)
        self.assertEqual(len({process for process, _, _ in shown}), SPAWNED)

    def test_without_them_they_are_numbers(self):
        printed, _ = self.traced('trace', SPAWN)
        self.assertNotIn('worker:run/1', printed)

    def test_arguments_have_names_in_conditions_and_keys(self):
        printed, _ = self.traced('--json', 'count', SPAWN, '--types', PROVIDER, '--by', 'str(arg.p2)', '--when',
                                 'str(arg.mfa) == "worker:run/1"')
        self.assertEqual([(row['by'], row['count']) for row in json.loads(printed)['rows']],
                         [({'str(arg.p2)': '<0.1.0>'}, SPAWNED)])

    def test_both_sides_of_a_latency_have_them(self):
        printed, _ = self.traced('--json', 'latency', '--from', SPAWN, '--to', 'usdt::erlang:process-exit', '--by', 'str(arg.p)',
                                 '--per', 'str(arg.reason)', '--types', PROVIDER)
        read = json.loads(printed)
        self.assertGreaterEqual(read['latencies'][0]['matched'], SPAWNED)
        self.assertIn('normal', {row['by']['str(arg.reason)'] for row in read['rows']})

    def test_another_number_of_arguments_is_said_and_changes_nothing(self):
        other = self.provider_file('provider erlang { probe process__spawn(char *p, char *mfa); };')
        printed, said = self.traced('trace', SPAWN, '--types', other)
        self.assertIn('erlang:process__spawn has 4 arguments, and the given types are of 2: they are not used', said)
        self.assertNotIn('worker:run/1', printed)

    def test_a_session_keeps_them(self):
        program = self.machine()
        self.daemon.json('session', 'new', 's')
        self.daemon.json('stage', 's', 'set', SPAWN, '--types', PROVIDER, '-p', str(program.pid), '--do', 'count by str(arg.mfa)')
        self.daemon.json('commit', 's')
        [setting] = self.daemon.json('session', 'show', 's')['settings']
        self.assertEqual(setting['types'], [{'provider': 'erlang', 'name': 'process__spawn', 'arguments': [
            {'type': 'const char*', 'name': 'p'}, {'type': 'const char*', 'name': 'p2'},
            {'type': 'const char*', 'name': 'mfa'}, {'type': 'uint64_t', 'name': 'ts'}]}])
        program.send('go')
        program.result()
        counted = {row['by']['str(arg.mfa)']: row['count'] for row in self.daemon.json('read', 's')['rows']}
        self.assertEqual(counted['worker:run/1'], SPAWNED)

    def test_a_file_that_is_none_is_refused(self):
        for path, said in (('/no/such.d', '/no/such.d'), (self.provider_file('probe me;'), ':1:')):
            done = self.daemon.run('count', SPAWN, '--types', path, '-p', '1')
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)
