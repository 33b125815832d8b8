# SPDX-License-Identifier: BSD-2-Clause
"""What a user tries first, on another kernel: each step is a command on a real program, and its result is compared
with what the program counted itself.

A script runs the commands in the virtual machine and reports what they printed; the checks run here.
"""

import json
import re
import subprocess

CALLS = 1000
EVENTS = 100
COMMITS = 20
ROUNDS = 10
MOST_INSTRUCTIONS = 100_000
STUCK_S = 420
MOVED = 'calls_moved', 'calls_mover'  # to another stack: their returns are ignored

# The program of each step is a new process, PID, that reads what is written to descriptor 9. `<>` opens a FIFO
# without waiting for its reader.
SCRIPT = f'''
CALLS={CALLS} STEP=$(cat /opt/step)

# begin PROGRAM ARGUMENT...: until it can be traced
begin() {{
  rm -f /tmp/in /tmp/out
  mkfifo /tmp/in
  PROGRAM=$1
  shift
  "/opt/$PROGRAM" "$@" </tmp/in >/tmp/out 2>/tmp/program.err &
  exec 9<>/tmp/in
  until grep -q ready /tmp/out; do usleep 50000; done
  PID=$(sed -n 's/ready //p' /tmp/out)
}}

# answers N: waits for the Nth answer of the program
answers() {{ until [ "$(grep -c done /tmp/out)" = "$1" ]; do usleep 50000; done; }}

end() {{
  exec 9>&-
  kill $PID
  wait $PID 2>/dev/null
}}

# traced NAME ORDER ARGUMENT...: what tracectl with these arguments prints while the program carries out the order
traced() {{
  NAME=$1 ORDER=$2
  shift 2
  # The command's own shell makes the files: those of the last step would be taken for them.
  rm -f /tmp/printed /tmp/error
  tracectl --json "$@" -p $PID >/tmp/printed 2>/tmp/error &
  TRACER=$!
  until grep -qs tracing /tmp/error || ! kill -0 $TRACER 2>/dev/null; do usleep 50000; done
  echo "$ORDER" >&9
  answers 1
  kill -INT $TRACER 2>/dev/null
  wait $TRACER
  say $NAME.status $?
  say $NAME.error $(cat /tmp/error)
  say $NAME.program $(tail -n 1 /tmp/out)
  say $NAME.lines $(wc -l </tmp/printed)
  say $NAME.first $(head -n 1 /tmp/printed)
  say $NAME.last $(tail -n 1 /tmp/printed)
}}

# What does not end is shown with the places in the kernel where its processes wait.
(
  sleep {STUCK_S}
  for process in /proc/[0-9]*; do
    grep -q . $process/cmdline &&
      say stuck.${{process#/proc/}} $(tr '\0' ' ' <$process/cmdline) $(cat $process/wchan) $(grep State $process/status) \
        $(cat $process/stack)
  done
) &

say release $(uname -r)
say machine $(uname -m)
verifier 2>/dev/null | while read -r line; do N=$((N + 1)); say "verifier.$N" "$line"; done
say doctor $(tracectl --json doctor)

begin changes
traced count "call $CALLS" count uprobe:/opt/changes:changes_step
end

begin changes
traced condition "call $CALLS" count uprobe:/opt/changes:changes_step --when 'arg0 < 10' --by arg0
end

begin changes
traced string 'texts 10' count uprobe:/opt/changes:changes_text --when 'str(arg0) == "text 3" && str(arg0 + 6) == ""'
end

begin hot_usdt
traced semaphore 'by_sdt {EVENTS}' trace usdt:/opt/hot_usdt:hot:sdt
end

begin hot_usdt
traced header 'by_header {EVENTS}' trace usdt:/opt/hot_usdt:hot:header
end

begin hot_usdt
traced wide 'by_wide {EVENTS}' trace usdt:/opt/hot_usdt:hot:wide
say class $(tracectl --json list usdt:/opt/hot_usdt:hot:wide)
end

begin calls {ROUNDS}
traced time go time 'uprobe:/opt/calls:calls_*' --returns exits
end

begin changes
traced trampoline "call $CALLS" time uprobe:/opt/changes:changes_step --returns trampoline
end

begin calls {ROUNDS}
traced graph go graph uprobe:/opt/calls:calls_parent --returns exits
say graph.children $(grep -c 'calls_child".*"kind":"return"' /tmp/printed)
end

begin changes
traced record "call {EVENTS}" record uprobe:/opt/changes:changes_step -o /tmp/trace
tracectl --json show /tmp/trace >/tmp/shown
say shown.lines $(wc -l </tmp/shown)
say shown.last $(tail -n 1 /tmp/shown)
end

# A daemon: commits that switch between two settings while the program runs, then a death that leaves nothing armed.
mkdir -p /run/tracectl
tracectld >/tmp/log 2>&1 &
DAEMON=$!
until grep -q listening /tmp/log || ! kill -0 $DAEMON 2>/dev/null; do usleep 50000; done
begin changes
ADDRESS=$((0x$(head -n 1 /proc/$PID/maps | cut -d- -f1) + STEP))
byte() {{ dd if=/proc/$PID/mem bs=1 count=1 skip=$ADDRESS 2>/dev/null | od -An -tx1 | tr -d ' '; }}
BEFORE=$(byte)
say byte.before "$BEFORE"
tracectl session new s
tracectl session new many
say estimate $(tracectl --json stage many set 'uprobe:/opt/calls:calls_*' -a --do count)
tracectl stage s set uprobe:/opt/changes:changes_step -p $PID --do count
tracectl commit s 2>/tmp/error
say commit.status $? $(cat /tmp/error)
say byte.armed "$(byte)"
echo "call {CALLS * COMMITS}" >&9
for I in $(seq {COMMITS}); do
  SPEC=count
  [ $((I % 2)) = 0 ] || SPEC='count by tid, sum(arg0)'
  tracectl stage s set uprobe:/opt/changes:changes_step -p $PID --do "$SPEC"
  tracectl commit s >/dev/null 2>>/tmp/commit_errors
  echo "call $CALLS" >&9
done
answers $(({COMMITS} + 1))
say commit.errors $(cat /tmp/commit_errors)
say commit.read $(tracectl --json read s)
say commit.program $(tail -n 1 /tmp/out)
kill -9 $DAEMON
wait $DAEMON
until [ "$(byte)" = "$BEFORE" ] || [ $((TRIES += 1)) = 200 ]; do usleep 50000; done
say byte.after "$(byte)"
echo "call $CALLS" >&9
answers $(({COMMITS} + 2))
say killed.program $(tail -n 1 /tmp/out)
end
'''


def step_offset(build):
    """Where changes_step lies in its file, which is mapped from its start."""
    symbols = subprocess.run(['nm', build / 'targets/changes'], capture_output=True, text=True, check=True).stdout
    return '0x' + re.search(r'^(\w+) T changes_step$', symbols, re.M)[1]


def files(step_file, build):
    """By their paths in the virtual machine; `step_file` holds step_offset(); `build`: the directory with the programs."""
    return {'/opt/step': step_file, '/opt/verifier': build / 'bench/verifier',
            **{f'/opt/{name}': build / name for name in ('tracectl', 'tracectld')},
            **{f'/opt/{name}': build / 'targets' / name for name in ('changes', 'hot_usdt', 'calls')}}


class Wrong(Exception):
    """What differs from what is expected."""


def expect(found, wanted, what):
    if found != wanted:
        raise Wrong(f'{what}: {found}, expected {wanted}')


class Look:
    """The checks of what the script reported: each method is one of them, and raises Wrong."""

    def __init__(self, said):
        self.said = said

    def json(self, key):
        try:
            return json.loads(self.said.get(key, ''))
        except ValueError:
            raise Wrong(f'{key}: {self.said.get(key)!r}, {self.error_of(key)}') from None

    def error_of(self, key):
        return self.said.get(key.partition('.')[0] + '.error', 'no message')

    def finds(self, check):
        """Whether doctor's verdict is yes; it has none of what the machine lacks."""
        return {finding['name']: finding['result'] for finding in self.json('doctor')['checks']}.get(check) == 'yes'

    def counted(self, name):
        """The last line of a command that counts, and nothing was lost."""
        answer = self.json(f'{name}.last')
        if 'error' in answer:
            raise Wrong(str(answer['error']))
        expect((answer.get('dropped_keys'), answer.get('dropped_ring')), (0, 0), 'lost')
        return answer

    def count(self):
        expect([row['count'] for row in self.counted('count')['rows']], [CALLS], 'counts')

    def condition(self):
        answer = self.counted('condition')
        expect(sorted((row['by']['arg0'], row['count']) for row in answer['rows']),
               [(number, 1) for number in range(10)], 'rows')
        expect(answer['total_filtered'], CALLS - 10, 'filtered')

    def string(self):
        answer = self.counted('string')
        expect([row['count'] for row in answer['rows']], [1], 'counts')
        expect(answer['total_filtered'], 9, 'filtered')

    def semaphore(self):
        self.events_with_two_arguments('semaphore')

    def header(self):
        self.events_with_two_arguments('header')

    def wide(self):
        """The last two arguments are on the stack: at a call of the kernel's, it must not be the kernel's."""
        self.events_with_two_arguments('wide')
        expect(self.json('wide.last')['args'][2:], [3, 4, 5, 6, 7, EVENTS - 1 + 8], 'arguments')

    def cost(self):
        """At the probes of <tracectl/usdt.h> a kernel that makes harmless calls of 10-byte nops does so."""
        [probe] = self.json('class')['probes']
        expect(probe['class'], self.least_class(), 'class')

    def least_class(self):
        if self.said.get('machine') == 'aarch64':
            return 'slow'
        return 'fast' if self.finds('nop10_optimised') else 'normal'

    def events_with_two_arguments(self, name):
        expect(self.said.get(f'{name}.lines'), str(EVENTS), f'events, {self.error_of(name)}')
        for which, number in ('first', 0), ('last', EVENTS - 1):
            expect(self.json(f'{name}.{which}')['args'][:2], [number, 2], f'{which} event')

    def time(self):
        functions = self.json('time.program')['functions']
        rows = {row['probe'].rpartition(':')[2]: row['count'] for row in self.counted('time')['rows']}
        returned = {name: row['returns'] for name, row in functions.items() if row['returns'] and name not in MOVED}
        expect({name: rows.get(name) for name in returned}, returned, 'calls that returned')

    def trampoline(self):
        expect([row['count'] for row in self.counted('trampoline')['rows']], [CALLS], 'counts')

    def graph(self):
        expect(self.said.get('graph.children'), str(2 * ROUNDS), f'calls below, {self.error_of("graph")}')

    def record(self):
        expect(self.said.get('shown.lines'), str(EVENTS), f'events, {self.error_of("record")}')

    def estimate(self):
        """A kernel that disarms probes one after another is said to do so before anything is armed."""
        notes = ' '.join(self.json('estimate')['notes'])
        expect('one after another' in notes, not self.finds('uprobe_multi'), f'estimate in {notes!r}')

    def commits(self):
        if not self.said.get('commit.status', '').startswith('0'):
            raise Wrong(self.said.get('commit.status', 'no daemon'))
        expect(self.said['commit.errors'], '', 'errors')
        answer = self.json('commit.read')
        expect((answer['total_hits'], answer['dropped_keys']), (2 * CALLS * COMMITS, 0), 'hits and losses')
        expect(self.json('commit.program')['calls'], 2 * CALLS * COMMITS, 'calls')

    def killed(self):
        if not self.said.get('commit.status', '').startswith('0'):
            raise Wrong('nothing was armed')
        expect(self.said['byte.armed'] != self.said['byte.before'], True, 'armed')
        expect(self.said['byte.after'], self.said['byte.before'], 'instruction after the death')
        expect(self.json('killed.program')['calls'], CALLS * (2 * COMMITS + 1), 'calls')


STEPS = {
    'count': 'counts of calls',
    'condition': 'conditions and keys',
    'string': 'strings in conditions',
    'semaphore': 'USDT probes of sdt.h with a semaphore',
    'header': "USDT probes of <tracectl/usdt.h>",
    'wide': 'arguments on the stack',
    'cost': 'the least cost that the kernel has for USDT probes of <tracectl/usdt.h>',
    'time': 'time of calls, by the exits of functions',
    'trampoline': 'time of calls, by the return trampoline',
    'graph': 'graphs of calls',
    'record': 'recording to a file',
    'estimate': 'a warning where probes are disarmed one after another',
    'commits': "a daemon's commits under load",
    'killed': 'nothing stays armed after the death of the daemon',
}


def figures(said):
    """By BPF program: its number of verified instructions, and whether it is refused."""
    found = {}
    for key, line in said.items():
        if key.startswith('verifier.') and (fits := re.match(r'(\w+) +(\d+)  <= .*?( refused)?$', line)):
            found[fits[1]] = int(fits[2]), bool(fits[3])
    return found


def verdict_of_program(instructions, is_refused):
    if is_refused:
        return 'the verifier refused it'
    return '' if instructions <= MOST_INSTRUCTIONS else f'{instructions} verified instructions'


def verdicts(said):
    """By check: what is wrong, or ''."""
    found = {f'verifier.{name}': verdict_of_program(*figure) for name, figure in figures(said).items()}
    if not found:
        found['verifier'] = 'no figures'
    for name in STEPS:
        try:
            getattr(Look(said), name)()
            found[name] = ''
        except (Wrong, KeyError, TypeError) as wrong:
            found[name] = str(wrong) or repr(wrong)
    return found
