#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Fields by name in large debug information: how long the first answer takes and one from a warm reader, the memory
of the confined reader, and whether random fields are where gdb has them.

    fields.py [FILE...]      .build/tracectl, and a file of 500 MB that is made for this
"""

import collections
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / 'tests/e2e'), str(ROOT / 'tests/support')]

import support  # noqa: E402

FIELDS = 1000
MOST_FIRST_S, MOST_WARM_MS, MOST_MIB = 3, 100, 300
FUNCTIONS = 5
STRUCTS, MEMBERS, COPIES = 1500, 50, 330


def made_file(folder):
    """A program with the same debug information in many units, whose functions have names of their own."""
    source = ['#define U __attribute__((used, noinline)) static']
    for n in range(STRUCTS):
        members = ' '.join(f'{("int", "long", "char *", "short")[(n + m) % 4]} member_{n}_{m};' for m in range(MEMBERS))
        source.append(f'struct conn_{n} {{ {members} struct conn_{max(n - 1, 0)} *next; }};')
        source.append(f'U int handle_{n}(struct conn_{n} *conn, int n) {{ return conn->next != 0 && n; }}')
    unit = folder / 'unit.c'
    unit.write_text('\n'.join(source), encoding='utf-8')
    subprocess.run(['gcc', '-g', '-O1', '-c', '-o', folder / 'unit.o', unit], check=True)
    (folder / 'main.c').write_text('int main(void) { return 0; }', encoding='utf-8')
    copies = []
    for n in range(COPIES):
        copies.append(folder / f'unit_{n}.o')
        subprocess.run(['objcopy', f'--prefix-symbols=unit_{n}_', folder / 'unit.o', copies[-1]], check=True)
    subprocess.run(['gcc', '-g', '-o', folder / 'made', folder / 'main.c', *copies], check=True)
    return folder / 'made'


def debug_mib(path):
    sections = subprocess.run(['readelf', '-SW', path], capture_output=True, text=True, check=True).stdout
    return sum(int(size, 16) for size in re.findall(r' \.debug_\w+ +\w+ +\w+ \w+ (\w+)', sections)) >> 20


def functions_of(path, fields):
    """Some that lead to fields, with the path of one."""
    found = {}
    for field in fields:
        if not field['why_not'] and field['base'] != 'retval' and not field['is_text'] and not field['is_address']:
            found.setdefault(field['function'], field['path'])
    names = sorted(found)
    random.Random(1).shuffle(names)
    return [(name, found[name]) for name in names[:FUNCTIONS]]


def readers_of(daemon):
    """The most memory, in MiB, of each process of the daemon."""
    def peak(pid):
        with open(f'/proc/{pid}/status', encoding='ascii') as status:
            return next((int(line.split()[1]) >> 10 for line in status if line.startswith('VmHWM')), 0)
    pid = daemon.process.pid
    with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as children:
        return [peak(int(pid)) for pid in children.read().split()]


def answer_s(daemon, path, function, field):
    """Until a condition with the field is staged and explained, as it is for a user."""
    client = daemon.connect()
    client.result('session.create', name='s')
    began = time.monotonic()
    client.result('stage.set', session='s', patterns=[f'uprobe:{path}:{function}'], do='count', when=f'{field} == 1',
                  target={'executables': [str(path)]})
    took = time.monotonic() - began
    client.result('session.delete', session='s')
    client.close()
    return took


def measure(path, fields):
    firsts, warms, peak = [], [], 0
    for function, field in functions_of(path, fields):
        daemon = support.Daemon()
        try:
            firsts.append(answer_s(daemon, path, function, field))
            warms += [answer_s(daemon, path, function, field) for _ in range(3)]
            peak = max([peak, *readers_of(daemon)])
        finally:
            daemon.end()
    if not firsts:
        return print('  no function with fields')
    for what, figure, most in (('first answer, s', max(firsts), MOST_FIRST_S),
                               ('warm answer, ms', 1000 * max(warms), MOST_WARM_MS),
                               ('memory of the reader, MiB', peak, MOST_MIB)):
        print(f'  {what}: {figure:.2f}  <= {most}  {"met" if figure <= most else "MISSED"}')
    return None


def compare(path, fields, folder):
    reached = [field for field in fields if not field['why_not']][:FIELDS]
    plan = folder / 'plan'
    plan.write_text(json.dumps({'fields': reached, 'output': str(folder / 'differing')}), encoding='utf-8')
    done = subprocess.run(['gdb', '-nx', '-batch', '-x', ROOT / 'tests/support/gdb_fields.py', path], check=True,
                          capture_output=True, text=True, env=os.environ | {'GDB_FIELDS': str(plan)})
    answer = json.loads((folder / 'differing').read_text(encoding='utf-8'))
    print(f'  fields compared with gdb: {answer["compared"]}, which differ: {len(answer["differing"])}; '
          f'gdb does not know {answer["unknown"]}')
    print('\n'.join(f'    {line}' for line in done.stdout.splitlines() if line.startswith('gdb does not know')))
    for field, there in answer['differing'][:10]:
        print(f'    {field["function"]}: {field["path"]} at {field["offsets"]}, gdb: {there}')
    refused = collections.Counter(re.sub(r'".*?"|\(.*?\)|\d+|of type .*|whole .*', '...', field['why_not'])
                                  for field in fields if field['why_not'])
    for why, count in refused.most_common(12):
        print(f'    refused, {count}: {why[:100]}')


def main():
    if os.geteuid() != 0:
        print('fields: the confined reader needs root')
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        paths = [pathlib.Path(one).resolve() for one in sys.argv[1:]]
        for path in paths or [ROOT / '.build/tracectl', made_file(folder)]:
            print(f'{path.name}: {debug_mib(path)} MiB of debug information')
            program = ROOT / '.build/bench/fields'
            lines = subprocess.run([program, path, str(FIELDS)], capture_output=True, text=True, check=True).stdout
            fields = [json.loads(line) for line in lines.splitlines()]
            measure(path, fields)
            compare(path, fields, folder)


if __name__ == '__main__':
    main()
