# SPDX-License-Identifier: BSD-2-Clause
"""Trees of calls in the notation of tests/targets/graph_tree.cpp, `root(00(03()*7;)02())`: from its log, from
the JSON lines of a graph, and from a graph's text. The readers share no code, raise NotAGraph if a tree is
incomplete, and return {tid: [tree, ...]}.
"""

import collections
import json
import re
import unittest


class NotAGraph(Exception):
    """Something was lost, or the beginnings and ends of calls do not match."""


def short(function):
    return function.removeprefix('tree_')


def last(calls):
    return list(calls)[-3:]


# ---- readers ----

def from_log(text):
    words = (line.split(' ') for line in text.splitlines())
    return {int(tid): trees for tid, *trees in words}


class JsonThread:
    """A beginning and an end are matched only by the number of their call."""

    def __init__(self):
        self.trees = []
        self.parts = []  # of the open tree
        self.open = {}   # numbers of calls, the innermost last: an ordered set

    def begin(self, call, depth, function):
        if call == 0 or call in self.open:
            raise NotAGraph(f'call {call} of {function} has no number of its own')
        if depth != len(self.open):
            raise NotAGraph(f'call {call} of {function} at depth {depth}, not {len(self.open)}')
        self.open[call] = None
        self.parts.append(function + '(')

    def end(self, call, depth, kind):
        if next(reversed(self.open), None) != call:
            raise NotAGraph(f'{kind} of call {call}, while open are {last(self.open)}')
        del self.open[call]
        if depth != len(self.open):
            raise NotAGraph(f'{kind} of call {call} at depth {depth}, not {len(self.open)}')
        self.parts.append(')!' if kind == 'unwound' else ')')
        if not self.open:
            self.trees.append(''.join(self.parts))
            self.parts = []

    def mark(self, number):
        if self.open:  # outside of a tree it is ignored
            self.parts.append(f'*{number};')


def from_json(lines):
    """From `tracectl graph --json`."""
    threads = collections.defaultdict(JsonThread)
    for line in lines:
        event = json.loads(line)
        if 'lost' in event:
            raise NotAGraph(line)
        thread = threads[event['tid']]
        kind, _, function = event['kind'], *event['probe'].rsplit(':', 1)
        if event['probe'].startswith('usdt:'):
            thread.mark(event['args'][0])
        elif kind == 'hit':
            thread.begin(event['call'], event['depth'], short(function))
        elif kind in ('return', 'unwound'):
            thread.end(event['call'], event['depth'], kind)
        else:
            raise NotAGraph(line)
    for tid, thread in threads.items():
        if thread.open:
            raise NotAGraph(f'thread {tid} has open calls: {last(thread.open)}')
    return {tid: thread.trees for tid, thread in threads.items()}


# CPU, TID, duration if a call ends here, and the call.
TEXT_LINE = re.compile(r' *\d+[)>] +(\d+) +(?:[+!#*@$]? *[\d.]+ (?:ns|us|ms|s|m) *)?\|( *)(.*)')
# The header, and the lines between those of different threads.
NO_CALL_LINE = re.compile(r'|CPU +TID.*| -+| .+ => .+')
TEXT_OPEN = re.compile(r'([^\s(]+)\(.*\) \{')
TEXT_WHOLE = re.compile(r'([^\s(]+)\(.*\);( /\* unwound \*/)?')
TEXT_CLOSE = re.compile(r'\}(?: /\* (\S+?)( unwound)? \*/)?')
TEXT_MARK = re.compile(r'/\* \S*:mark\((?:\w+=)?(-?\d+)\) \*/')


class TextThread:
    """The nesting follows from the indentation."""

    def __init__(self):
        self.parts = []
        self.open = []  # (indentation, function)

    def take(self, indent, body):
        if match := TEXT_OPEN.fullmatch(body):
            self.begin(indent, match[1])
        elif match := TEXT_WHOLE.fullmatch(body):
            self.begin(indent, match[1])
            self.end(indent, None, match[2])
        elif match := TEXT_CLOSE.fullmatch(body):
            self.end(indent, match[1], match[2])
        elif match := TEXT_MARK.fullmatch(body):
            if self.open:
                self.parts.append(f'*{match[1]};')
        else:
            raise NotAGraph(body)

    def begin(self, indent, function):
        if self.open and indent <= self.open[-1][0]:
            raise NotAGraph(f'{function} is indented less than {self.open[-1][1]}, which is open')
        self.parts.append(('' if self.open else ' ') + short(function) + '(')
        self.open.append((indent, function))

    def end(self, indent, function, unwound):
        if not self.open:
            raise NotAGraph('an end, while no call is open')
        began, name = self.open.pop()
        if indent != began or function not in (None, name):
            raise NotAGraph(f'the end of {function or "a call"} where {name} is open')
        self.parts.append(')!' if unwound else ')')


def from_text(lines):
    """From `tracectl graph`."""
    threads = collections.defaultdict(TextThread)
    for line in lines:
        line = line.rstrip('\n')
        if NO_CALL_LINE.fullmatch(line):
            continue
        match = TEXT_LINE.fullmatch(line)
        if not match:
            raise NotAGraph(line)
        threads[int(match[1])].take(len(match[2]), match[3])
    for tid, thread in threads.items():
        if thread.open:
            raise NotAGraph(f'thread {tid} has open calls: {last(thread.open)}')
    return {tid: ''.join(thread.parts).split() for tid, thread in threads.items()}


# ---- results ----

def checksums(lines, function='tree_root'):
    """Sums of the results of each thread's calls of the function, from JSON lines, in the program's way of
    summing."""
    sums = collections.Counter()
    for event in map(json.loads, lines):
        if event.get('kind') == 'return' and event['probe'].endswith(':' + function):
            tid = event['tid']
            sums[tid] = (sums[tid] * 1099511628211 + event['retval']) % 2**64
    return dict(sums)


# ---- sums ----

def ways(trees):
    """The number of calls of each function, by its chain of callers: {(root, 00, 03): 7}."""
    count = collections.Counter()
    for tree in (tree for of_thread in trees.values() for tree in of_thread):
        around = []
        for function, _ in re.findall(r'(\w+)\(|(\))', tree):
            if function:
                around.append(function)
                count[tuple(around)] += 1
            else:
                around.pop()
    return count


SUM_LINE = re.compile(r'.* (\d+) +[\d.]+ %  ( *)(\S+)(?:  \(.*\))?')


def ways_from_text(rows):
    """The same, from the rows of `tracectl graph --tree`."""
    count = collections.Counter()
    around = []
    for row in rows:
        calls, indent, function = SUM_LINE.fullmatch(row).groups()
        around[len(indent) // 2:] = [short(function)]
        count[tuple(around)] += int(calls)
    return count


# ---- comparison ----

TOKEN = re.compile(r'>?\w+\(|\)!?|\*-?\d+;')


def beside_each_other(tree):
    """With calls that jump to another ending before that."""
    return tree.replace('>', '')


def within_each_other(tree):
    """With calls that jump to another ending after it."""
    out, ends = [], []  # for each open call, how many end with it
    for token in TOKEN.findall(tree):
        if token.endswith('('):
            ends.append(1 + len(out.pop()) if token[0] == '>' else 1)
            out.append(token.lstrip('>'))
        elif token == ')':
            out.append(')' * ends.pop())
        else:
            if token == ')!':
                ends.pop()
            out.append(token)
    return ''.join(out)


def without_marks(tree):
    return re.sub(r'\*-?\d+;', '', tree)


def differences_in_form(truth, seen, form):
    found = [f'thread {tid} is not there' for tid in truth.keys() - seen.keys()]
    found += [f'thread {tid} is not the program\'s' for tid in seen.keys() - truth.keys()]
    for tid in truth.keys() & seen.keys():
        if len(truth[tid]) != len(seen[tid]):
            found.append(f'thread {tid}: {len(seen[tid])} trees, not {len(truth[tid])}')
        found += [f'thread {tid}, tree {number}:\n  {there}\nnot\n  {form(true)}'
                  for number, (true, there) in enumerate(zip(truth[tid], seen[tid]))
                  if there != form(true)]
    return found


def differences(truth, seen, marks=False):
    """The differences from the log's trees to those seen, with or without marks. Both forms of jumps are
    allowed, but all trees must have the same."""
    def with_marks(form):
        return form if marks else lambda tree: form(without_marks(tree))
    return min((differences_in_form(truth, seen, with_marks(form))
                for form in (beside_each_other, within_each_other)), key=len)


Measure = collections.namedtuple('Measure', 'calls unwound marks depth functions')


def measure(tree):
    """`depth`: of calls below the outermost."""
    depth = deepest = 0
    tokens = TOKEN.findall(tree)
    if ''.join(tokens) != tree:
        raise NotAGraph(tree)
    for token in tokens:
        depth += token.endswith('(') - token.startswith(')')
        deepest = max(deepest, depth)
        if depth < 0:
            raise NotAGraph(tree)
    if depth:
        raise NotAGraph(tree)
    functions = [token.strip('>(') for token in tokens if token.endswith('(')]
    return Measure(len(functions), tokens.count(')!'), sum(token[0] == '*' for token in tokens),
                   deepest - 1, set(functions))


# ---- tests of the readers ----

def json_lines(*events):
    """From tuples (kind, tid, function, call, depth)."""
    return [json.dumps({'kind': kind, 'tid': tid, 'probe': 'uprobe:/p:tree_' + function,
                        'call': call, 'depth': depth, 'args': []})
            for kind, tid, function, call, depth in events]


MARK = json.dumps({'kind': 'hit', 'tid': 7, 'probe': 'usdt:/p:tree:mark', 'args': [5]})


class Readers(unittest.TestCase):
    def refuses(self, reader, lines):
        with self.assertRaises(NotAGraph):
            reader(lines)

    def test_log(self):
        self.assertEqual(from_log('7 root(01()) root()\n8 root(02()!)\n'),
                         {7: ['root(01())', 'root()'], 8: ['root(02()!)']})

    def test_json_of_threads_at_once(self):
        lines = json_lines(('hit', 7, 'root', 1, 0), ('hit', 8, 'root', 1, 0),
                           ('hit', 7, '01', 2, 1), ('return', 8, 'root', 1, 0),
                           ('hit', 7, '02', 3, 2), ('unwound', 7, '02', 3, 2),
                           ('unwound', 7, '01', 2, 1), ('return', 7, 'root', 1, 0),
                           ('hit', 7, 'root', 4, 0), ('return', 7, 'root', 4, 0))
        self.assertEqual(from_json(lines), {7: ['root(01(02()!)!)', 'root()'], 8: ['root()']})
        lines.insert(3, MARK)
        self.assertEqual(from_json(lines)[7][0], 'root(01(*5;02()!)!)')

    def test_json_that_is_no_graph(self):
        begun = ('hit', 7, 'root', 1, 0), ('hit', 7, '01', 2, 1)
        self.refuses(from_json, json_lines(*begun))
        self.refuses(from_json, json_lines(*begun, ('return', 7, 'root', 1, 0)))
        self.refuses(from_json, json_lines(*begun, ('return', 7, '01', 3, 1)))
        self.refuses(from_json, json_lines(*begun, ('return', 8, '01', 2, 1)))
        self.refuses(from_json, json_lines(*begun, ('hit', 7, '02', 2, 2)))
        self.refuses(from_json, json_lines(*begun, ('hit', 7, '02', 3, 1)))
        self.refuses(from_json, json_lines(*begun, ('hit', 7, '02', 0, 2)))
        self.refuses(from_json, json_lines(*begun, ('return', 7, '01', 2, 0)))
        self.refuses(from_json, ['{"lost":{"count":1}}'])

    def test_checksum(self):
        events = map(json.loads, json_lines(('return', 7, 'root', 1, 0), ('return', 7, '00', 2, 0),
                                            ('return', 7, 'root', 3, 0)))
        lines = [json.dumps(event | {'retval': event['call']}) for event in events]
        self.assertEqual(checksums(lines), {7: 1099511628211 + 3})

    TEXT = ('CPU  TID       DURATION |  FUNCTION CALLS',
            '  0)     7             |  tree_root() {',
            ' ------------------------------------------',
            '     7 => 8',
            ' ------------------------------------------',
            '  1)     8             |  tree_root() {',
            '  0)     7             |    tree_01() {',
            '  0)     7    1.250 us |      tree_02(); /* unwound */',
            '  0>     7    0.310 us |      tree_03();',
            '  1)     8 ! 204.00 us |  } /* tree_root */',
            '  0)     7             |      /* tree:mark(number=5) */',
            '  0)     7    3.125 us |    } /* tree_01 unwound */',
            '  0)     7   20.000 us |  }',
            '  0)     7    1.000 us |  tree_root();')

    def test_text_of_threads_at_once(self):
        self.assertEqual(from_text(self.TEXT),
                         {7: ['root(01(02()!03()*5;)!)', 'root()'], 8: ['root()']})

    def test_text_that_is_no_graph(self):
        self.refuses(from_text, self.TEXT[:-2])
        self.refuses(from_text, self.TEXT[-2:])
        self.refuses(from_text, self.TEXT[:3] + self.TEXT[6:])
        self.refuses(from_text, [line.replace('} /* tree_01', '} /* tree_04') for line in self.TEXT])
        self.refuses(from_text, [line.replace('      tree_03', '    tree_03') for line in self.TEXT])
        self.refuses(from_text, [line.replace('|    }', '|      }') for line in self.TEXT])
        self.refuses(from_text, self.TEXT + ('   1.250000000 -- 3 events lost: the ring was full --',))

    def test_calls_that_are_jumped_to_stand_either_way(self):
        tree = 'root(05(29())>14(23())>15(*1;)10())'
        beside, within = 'root(05(29())14(23())15(*1;)10())', 'root(05(29()14(23()15(*1;)))10())'
        self.assertEqual(beside_each_other(tree), beside)
        self.assertEqual(within_each_other(tree), within)
        for seen in beside, within:
            self.assertEqual(differences({7: [tree] * 2}, {7: [seen] * 2}, marks=True), [])
        self.assertEqual(len(differences({7: [tree] * 2}, {7: [beside, within]}, marks=True)), 1)

    def test_differences(self):
        truth = {7: ['root(01(*5;))', 'root()'], 8: ['root()']}
        self.assertEqual(differences(truth, {7: ['root(01())', 'root()'], 8: ['root()']}), [])
        self.assertEqual(differences(truth, truth, marks=True), [])
        self.assertEqual(len(differences(truth, truth)), 1)  # an unexpected mark
        self.assertEqual(len(differences(truth, {7: ['root(01()!)']})), 3)
        self.assertEqual(len(differences(truth, {7: truth[7], 9: []}, marks=True)), 2)

    def test_measure(self):
        self.assertEqual(measure('root(05(29()!)!>14(*5;))'),
                         (4, 2, 1, 2, {'root', '05', '29', '14'}))
        for tree in 'root(', 'root()?', 'root())':
            self.refuses(measure, tree)


if __name__ == '__main__':
    unittest.main()
