# SPDX-License-Identifier: BSD-2-Clause
"""The verdict of other kernels' verifiers on our BPF programs. (For this machine's: kernel Verifier.*)"""

import json
import re
import unittest

import booted
import support

VERIFIER = support.BUILD / 'bench/verifier'
MOST_INSTRUCTIONS = 100_000

# By series: what each kernel refuses, and its message.
SERIES = {
    '6.12': {
        'on_site_asleep': 'global function calls are not allowed with preemption disabled',
    },
    '7.2': {},
}


def figures(lines):
    """By program: the number of instructions, and the message if it is refused."""
    found = {}
    for line in lines:
        if fits := re.fullmatch(r'(on_\w+|see_memory) +(\d+)  <= \d+  (?:met|MISSED)(  refused)?', line):
            name, instructions, _ = fits.groups()
            found[name] = int(instructions), []
        elif found:
            found[name][1].append(line)
    return {name: (instructions, '\n'.join(said)) for name, (instructions, said) in found.items()}


# How often a function was called with each of ten strings.
STRINGS = r'''
mkfifo /tmp/in
/opt/changes </tmp/in >/tmp/out &
exec 9<>/tmp/in
until grep -q ready /tmp/out; do usleep 50000; done
tracectl --json count uprobe:/opt/changes:changes_text --when 'str(arg0) == "text 3"' \
  -p $(sed -n 's/ready //p' /tmp/out) >/tmp/counted 2>/tmp/error &
TRACER=$!
until grep -q tracing /tmp/error || ! kill -0 $TRACER; do usleep 50000; done
echo texts 10 >&9
until grep -q done /tmp/out; do usleep 50000; done
kill -INT $TRACER
wait $TRACER
say counted $(cat /tmp/counted)
say error $(cat /tmp/error)
'''


@support.needs_root
class Verifiers(unittest.TestCase):
    def test_strings_are_read_where_the_program_that_sleeps_is_refused(self):
        said = booted.Kernel('6.12').run(STRINGS, {
            '/opt/changes': support.target('changes'), '/opt/tracectl': support.TRACECTL})
        self.assertEqual(said['error'], 'tracing 1 probe at 1 site; ^C ends it')
        counted = json.loads(said['counted'])
        self.assertEqual([row['count'] for row in counted['rows']], [1])
        self.assertEqual(counted['total_filtered'], 9)

    def test_no_program_is_walked_further_than_its_bound(self):
        for series, refused in SERIES.items():
            with self.subTest(series):
                said = booted.Kernel(series).run(
                    'verifier 2>/dev/null | while read -r line; do I=$((I + 1)); say "line$I" "$line"; done',
                    {'/opt/verifier': VERIFIER})
                found = figures(said.values())
                self.assertIn('on_site', found)
                for name, (instructions, words) in found.items():
                    self.assertLessEqual(instructions, MOST_INSTRUCTIONS, name)
                    self.assertIn(refused.get(name, ''), words, name)
                self.assertEqual({name for name, (_, words) in found.items() if words}, set(refused))


if __name__ == '__main__':
    unittest.main()
