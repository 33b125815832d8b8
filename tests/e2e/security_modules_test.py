# SPDX-License-Identifier: BSD-2-Clause
"""The daemon does not show a user what Yama and AppArmor refuse. The kernels of the test machines have neither,
so one of Debian's is booted. (Landlock: proofs_test.py)"""

import json
import tempfile
import unittest

import booted
import support
from users import DENIED

SERIES = '6.18'
CALLS = 100
SCOPES = range(4)  # Linux, Documentation/admin-guide/LSM/Yama.rst
BY_ANCESTORS, BY_NOBODY = 1, 3

# Allows everything except ptrace, which opening /proc/PID/mem requires.
PROFILE = '''
profile confined /opt/confined/tracectl flags=(attach_disconnected) {
  file,
  unix,
  network,
  signal,
}
'''

SCRIPT = f'''
as_alice() {{ su alice -c "$*" 2>/tmp/error; }}

# start_process NAME: a process of alice's, PID, that reads what is written to descriptor 9. `<>` opens a FIFO without
# waiting for its reader: a child that ends would interrupt the wait, and this shell, the first process, would exit.
start_process() {{
  mkfifo -m 666 "/tmp/$1.in"
  su alice -c "exec /opt/changes <'/tmp/$1.in' >'/tmp/$1.out'" &
  exec 9<>"/tmp/$1.in"
  until grep -q ready "/tmp/$1.out"; do usleep 50000; done
  PID=$(sed -n 's/ready //p' "/tmp/$1.out")
}}

# call_and_wait NAME TIMES: for the TIMESth time
call_and_wait() {{
  echo call {CALLS} >&9
  until [ $(grep -c done "/tmp/$1.out") = $2 ]; do usleep 50000; done
}}

# try NAME TRACECTL: what alice sees of a process of hers that she names, of the same among all that execute a file of
# hers, and of one that she starts
try() {{
  start_process "$1"
  as_alice "$2 list uprobe::changes_step -p $PID" >/dev/null
  say "$1.named" $?
  say "$1.error" $(cat /tmp/error)
  as_alice "$2 session new $1"
  as_alice "$2 stage $1 set uprobe:/opt/changes:changes_step -a --do count"
  as_alice "$2 commit $1"
  say "$1.committed" $? $(cat /tmp/error)
  call_and_wait "$1" 1
  say "$1.read" $(tracectl --json read "$1")
  say "$1.shown" $(tracectl --json session show "$1")
  as_alice "printf 'call {CALLS}\\nexit\\n' | $2 --json count uprobe::changes_step -- /opt/changes" >/tmp/started
  say "$1.started" $?
  say "$1.counted" $(grep '"count"' /tmp/started)
  tracectl session delete "$1"
  say "$1.deleted" $?
  exec 9>&-
}}

chown alice /opt/changes
mkdir -p /run/tracectl
tracectld >/tmp/log 2>&1 &
until grep -q listening /tmp/log; do usleep 50000; done
say modules $(cat /sys/kernel/security/lsm)

try unconfined /opt/confined/tracectl
apparmor_parser --skip-cache --replace /profile 2>&1
try confined /opt/confined/tracectl

for scope in {' '.join(map(str, SCOPES[:BY_NOBODY]))}; do
  echo $scope >/proc/sys/kernel/yama/ptrace_scope
  try yama$scope tracectl
done

# What was armed before nobody may trace anything.
start_process armed
tracectl session new armed
tracectl stage armed set uprobe::changes_step -p $PID --do count
tracectl commit armed
echo 3 >/proc/sys/kernel/yama/ptrace_scope
call_and_wait armed 1
say armed.read $(tracectl --json read armed)
tracectl session delete armed
say armed.deleted $?
say armed.status $(tracectl --json status)
call_and_wait armed 2
say armed.goes_on $(tail -n 1 /tmp/armed.out)
try yama3 tracectl
'''


@support.needs_root
class SecurityModules(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        kernel = booted.Kernel(SERIES, {'apparmor': 'sbin/apparmor_parser'})
        with tempfile.NamedTemporaryFile('w') as profile:
            profile.write(PROFILE)
            profile.flush()
            cls.said = kernel.run(SCRIPT, {
                '/opt/tracectld': support.TRACECTLD, '/opt/tracectl': support.TRACECTL,
                '/opt/confined/tracectl': support.TRACECTL, '/opt/changes': support.target('changes'),
                '/profile': profile.name})

    def said_json(self, key):
        return json.loads(self.said[key])

    def sees(self, name):
        """For the process that existed before: whether alice may name it, and how many of its calls are
        counted."""
        self.assertIn(self.said[f'{name}.named'], ('0', str(DENIED)))
        self.assertEqual(self.said[f'{name}.deleted'], '0')
        named = self.said[f'{name}.named'] == '0'
        if not named:
            self.assertIn('/mem', self.said[f'{name}.error'])
        return named, self.counted(name)

    def counted(self, name):
        return sum(row['count'] for row in self.said_json(f'{name}.read')['rows'])

    def left_out(self, name):
        return self.said_json(f'{name}.shown').get('unproven')

    def what_it_starts(self, name):
        """Exit status of a command that alice starts, and how many of its calls are counted."""
        counted = self.said[f'{name}.counted']
        rows = json.loads(counted)['rows'] if counted else []
        return int(self.said[f'{name}.started']), sum(row['count'] for row in rows)

    def test_the_kernel_has_them(self):
        modules = self.said['modules'].split(',')
        self.assertIn('yama', modules)
        self.assertIn('apparmor', modules)

    def test_who_is_refused_ptrace_by_apparmor_sees_no_process(self):
        self.assertEqual(self.sees('unconfined'), (True, CALLS))
        self.assertIsNone(self.left_out('unconfined'))
        self.assertEqual(self.sees('confined'), (False, 0))
        self.assertEqual(self.left_out('confined'), {'processes': 1, 'hits': CALLS})
        self.assertEqual(self.what_it_starts('unconfined'), (0, CALLS))
        self.assertEqual(self.what_it_starts('confined'), (DENIED, 0))

    def test_nothing_that_runs_already_is_seen_from_scope_1_on(self):
        self.assertEqual(self.sees('yama0'), (True, CALLS))
        self.assertIsNone(self.left_out('yama0'))
        for scope in SCOPES[BY_ANCESTORS:BY_NOBODY]:
            with self.subTest(scope=scope):
                self.assertEqual(self.sees(f'yama{scope}'), (False, 0))
                self.assertEqual(self.left_out(f'yama{scope}'), {'processes': 1, 'hits': CALLS})

    def test_in_scope_3_what_runs_cannot_be_armed(self):
        """The daemon cannot compare its code with its file's either."""
        self.assertEqual(self.sees('yama3'), (False, 0))
        status, _, error = self.said['yama3.committed'].partition(' ')
        self.assertEqual(status, '7')
        self.assertIn('kernel.yama.ptrace_scope', error)

    def test_in_scope_3_what_is_armed_goes_on_and_is_disarmed(self):
        self.assertEqual(self.counted('armed'), CALLS)
        self.assertEqual(self.said['armed.deleted'], '0')
        status = self.said_json('armed.status')
        self.assertEqual((status['sites'], status['links']), (0, 0))
        self.assertEqual(self.said_json('armed.goes_on'), {'calls': 2 * CALLS})

    def test_what_a_client_starts_is_seen_up_to_scope_1(self):
        for scope in SCOPES:
            with self.subTest(scope=scope):
                self.assertEqual(self.what_it_starts(f'yama{scope}'),
                                 (0, CALLS) if scope <= BY_ANCESTORS else (DENIED, 0))


if __name__ == '__main__':
    unittest.main()
