# SPDX-License-Identifier: BSD-2-Clause
"""The manual, the README and the programs agree."""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
import unittest

import otlp_test
import prometheus_test
import service_manager
import support

MAN = support.ROOT / 'docs/man'
COMMON = {'-h', '--help', '--version', '--socket', '--embedded', '--json', '-q', '--quiet', '-v',
          '--verbose', '--host', '--end-with-input', '--debuginfo', '--stack-format'}
TARGET = {'-p', '--pid', '-x', '--executable', '-a', '--all', '-f', '--follow', '--first-child',
          '-u', '--unit', '--cgroup', '--container', '--pod', '--global', '--local', '--inlined'}


def page(name):
    """The page as text, without line breaks."""
    text = subprocess.run(['mandoc', '-Tutf8', '-Owidth=1000', MAN / name], check=True,
                          capture_output=True, text=True).stdout
    return re.sub('.\b', '', text)


def section(text, title):
    return re.search(rf'^{title}\n(.*?)(?=^\S)', text, re.M | re.S)[1]


def verb_pages():
    """The pages of tracectl's verbs."""
    return sorted(path.name for path in MAN.glob('tracectl-*.1')
                  if path.name not in ('tracectl-otlp.1', 'tracectl-usdt.1'))


def pages_of_tracectl():
    """tracectl(1), the pages of its verbs and of what they have in common."""
    common = {path.name for path in MAN.glob('tracectl-*.7')} - set(protocol_pages())
    return ['tracectl.1', *verb_pages(), *sorted(common)]


def protocol_pages():
    return sorted(path.name for path in MAN.glob('tracectl-protocol*.7'))


def sections(name):
    return re.findall(r'^\.Sh (.*)', (MAN / name).read_text(), re.M)


def references(name):
    """The other pages that a page names as in `.Xr tracectl 1`, without those of SEE ALSO only."""
    text = re.sub(r'(?ms)^\.Sh SEE ALSO\n.*?(?=^\.Sh|\Z)', '', (MAN / name).read_text())
    return {f'{page}.{number}' for page, number in re.findall(r'\bXr (\S+) (\d)', text)}


def options_described(name):
    """Those that have an item in the page."""
    items = re.findall(r'^ {5}(-\S.*?)(?: {2,}|$)', page(name), re.M)
    return set().union(*map(options, items))


def options(text):
    return set(re.findall(r'(?<![\w-])--?[a-z][a-z-]*', text))


def help_of(program, *words):
    done = subprocess.run([program, *words, '--help'], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def options_in_help(text):
    lines = re.findall(r'^  (-.*?)(?:  |$)', text, re.M)
    return set().union(*(options(re.sub(' .*', '', line)) for line in lines))


def verbs_in_help(text):
    part = re.search(r'^Subcommands:\n(.*)', text, re.M | re.S)
    return re.findall(r'^  ([a-z]+)', part[1], re.M) if part else []


def verbs():
    """Each verb with its help, as words: `session new`."""
    found = {}
    for verb in verbs_in_help(help_of(support.TRACECTL)):
        below = {'session': ['session'], 'recipe': ['recipe'],
                 'stage': ['stage', 'SESSION']}.get(verb, [verb])
        inner = verbs_in_help(help_of(support.TRACECTL, *below))
        for last in inner or [None]:
            words = [*below, last] if last else below
            found[' '.join(words)] = help_of(support.TRACECTL, *words)
    return found


def synopsis():
    """The verbs that have pages, with their usage lines and the name of the page."""
    found = {}
    for name in verb_pages():
        for line in section(page(name), 'SYNOPSIS').splitlines():
            match = re.match(r'\s+tracectl \[options\] (.*)', line)
            if not match:
                continue
            words = re.sub(r'(\w) \| ', r'\1|', match[1])
            head = re.match(r'stage SESSION \w+|(session|recipe) [\w|]+|[\w|]+', words)[0]
            *front, last = head.split(' ')
            for verb in last.split('|'):
                found[' '.join([*front, verb])] = words, name
    return found


class Manual(unittest.TestCase):
    def test_pages_are_free_of_warnings(self):
        """But mandoc warns of examples that come first, with one line."""
        for path in sorted(MAN.iterdir()):
            done = subprocess.run(['mandoc', '-Tlint', '-Wwarning', path], capture_output=True,
                                  text=True)
            titles = sections(path.name)
            early = 'EXAMPLES' in titles[:titles.index('DESCRIPTION')]
            wanted = ['WARNING: sections out of conventional order: Sh DESCRIPTION'] if early else []
            said = re.sub(r'(?m)^mandoc: \S+ ', '', done.stdout).splitlines()
            self.assertEqual((done.returncode != 0, said), (early, wanted), path.name)

    def test_pages_are_short(self):
        for path in sorted(MAN.iterdir()):
            with self.subTest(page=path.name):
                self.assertLessEqual(len(path.read_text().split()), 1500)

    def test_examples_come_first(self):
        """In all pages but those of functions and of files."""
        for path in [path for section in '178' for path in MAN.glob('*.' + section)]:
            titles = sections(path.name)
            if 'EXAMPLES' in titles:
                before = titles[:titles.index('EXAMPLES')]
                self.assertIn(before, [['NAME'], ['NAME', 'SYNOPSIS']], path.name)

    def test_every_verb_is_in_the_manual_and_no_other(self):
        self.assertEqual(set(verbs()), set(synopsis()))

    def test_every_verb_has_the_page_of_its_name_and_a_line_in_the_main_page(self):
        listed = section(page('tracectl.1'), 'DESCRIPTION')
        for verb, (_, name) in synopsis().items():
            with self.subTest(verb=verb):
                first = verb.split()[0]
                self.assertEqual(name, f'tracectl-{first}.1')
                self.assertIn(f'\n     tracectl-{first} – ', page(name))
                self.assertRegex(listed, rf'(?m)^     {first} +[A-Z]')

    def test_every_verb_of_several_is_described(self):
        for verb, (_, name) in synopsis().items():
            if ' ' in verb:
                self.assertRegex(page(name), rf'(?m)^     {verb}\b', verb)

    def test_each_verb_has_the_options_that_its_help_has(self):
        uses = synopsis()
        for verb, text in verbs().items():
            with self.subTest(verb=verb):
                use, _ = uses[verb]
                wanted = options(use) | COMMON
                if '[target]' in use:
                    wanted |= TARGET
                self.assertEqual(options_in_help(text) | COMMON, wanted)

    def test_each_option_of_a_verb_is_described_in_its_page_or_one_that_it_refers_to(self):
        uses = synopsis()
        general = options_described('tracectl.1')
        for verb, text in verbs().items():
            with self.subTest(verb=verb):
                _, name = uses[verb]
                common = {'tracectl.1', 'tracectl-options.7', 'tracectl-targets.7'}
                pages = [name] + sorted(references(name) & common)
                described = set().union(*map(options_described, pages))
                self.assertEqual(options_in_help(text) - COMMON - described, set())
        self.assertEqual(COMMON - general, set())

    def test_a_page_of_a_verb_has_items_for_no_other_options(self):
        known = {}
        uses = synopsis()
        for verb, text in verbs().items():
            known.setdefault(uses[verb][1], set()).update(options_in_help(text))
        for name, options_known in known.items():
            self.assertEqual(options_described(name) - options_known, set(), name)

    def test_the_pages_name_every_option_and_no_other(self):
        helps = [help_of(support.TRACECTL), *verbs().values()]
        known = set().union(*map(options_in_help, helps))
        named = set()
        for name in pages_of_tracectl():
            text = section(page(name), 'DESCRIPTION')
            self.assertEqual(options(text) - known, set(), name)
            named |= options(text)
        self.assertEqual(named, known)

    def test_the_pages_that_a_page_refers_to_are_there(self):
        """Pages of the project, and sections of them."""
        ours = {path.name for path in MAN.iterdir()}
        for name in sorted(ours):
            source = (MAN / name).read_text()
            sections = self.sections(name)
            for other, number in re.findall(r'\bXr (tracectl\S*) (\d)', source):
                self.assertIn(f'{other}.{number}', ours, name)
            there = r'(?:Xr (\S+) (\d) ,?\n\.)?Sx ((?:[A-Za-z\d-]+ ?)+)'
            for other, number, title in re.findall(there, source):
                title = re.sub(r' Pc$', '', title.strip())
                looked = self.sections(f'{other}.{number}') if other else sections
                self.assertIn(title, looked, name)

    def sections(self, name):
        return re.findall(r'^\.S[hs] (.*)', (MAN / name).read_text(), re.M)

    def test_every_recipe_is_described_and_no_other(self):
        listed = json.loads(subprocess.run([support.TRACECTL, '--json', 'recipe', 'list'],
                                           check=True, capture_output=True, text=True).stdout)
        described = re.findall(r'^     ([a-z]\S+)$', section(page('tracectl-recipe.1'), 'RECIPES'), re.M)
        self.assertEqual(described, [recipe['name'] for recipe in listed['recipes']])

    def test_the_daemons_options_are_described_and_no_other(self):
        known = options_in_help(help_of(support.TRACECTLD))
        self.assertEqual(options(section(page('tracectld.8'), 'DESCRIPTION')), known)
        for path in MAN.glob('tracectld-*.8'):
            described = options(section(page(path.name), 'DESCRIPTION'))
            self.assertLessEqual(described - {'-x'}, known, path.name)

    def test_the_generators_options_are_described_and_no_other(self):
        def named(text):
            return set(re.findall(r'(?<![\w-])--?[A-Za-z0-9][\w-]*', text))
        text = page('tracectl-usdt.1')
        described = named(section(text, 'DESCRIPTION'))
        known = named(help_of(support.TRACECTL_USDT))
        self.assertEqual(described, known - {'-E'})
        self.assertEqual(named(section(text, 'SYNOPSIS')) - described, set())

    def test_the_exporters_options_are_described_and_no_other(self):
        for name in 'tracectl-prometheus.8', 'tracectl-otlp.1':
            with self.subTest(page=name):
                known = options(help_of(support.ROOT / 'client/python' / name.rsplit('.', 1)[0]))
                described = section(page(name), 'DESCRIPTION')
                self.assertEqual(options(described), known)
                self.assertLessEqual(options(section(page(name), 'SYNOPSIS')), known)

    def test_every_method_and_member_of_the_schema_is_in_the_protocol_pages(self):
        schema = json.loads((support.BUILD / 'protocol.schema.json').read_text())
        text = ''.join(map(page, [*protocol_pages(), 'tracectl-json.7']))
        words = set(re.findall(r'[\w.]+\w', text)) | set(re.findall(r'\w+', text))
        named = {name.rsplit('.', 1)[0] for name in schema['$defs'] if '.' in name}

        def members(node):
            if isinstance(node, dict):
                named.update(node.get('properties', {}))
                for inner in node.values():
                    members(inner)
            elif isinstance(node, list):
                for inner in node:
                    members(inner)

        members(schema)
        self.assertEqual(named - words, set())

    def test_every_method_is_an_item_of_one_protocol_page_and_listed_in_the_main_one(self):
        schema = json.loads((support.BUILD / 'protocol.schema.json').read_text())
        methods = sorted(name.rsplit('.', 1)[0] for name in schema['$defs'] if name.endswith('.request'))
        described = [method for name in protocol_pages()
                     for method in re.findall(r'^\.It Li ([a-z]+\.[a-z]+|hello)$', (MAN / name).read_text(), re.M)]
        self.assertEqual(sorted(described), methods)
        listed = section(page('tracectl-protocol.7'), 'DESCRIPTION')
        for method in methods:
            self.assertRegex(listed, rf'(?<!\w){re.escape(method)}(?!\w)')


@support.needs_root
class Examples(support.DaemonTest):
    def setUp(self):
        super().setUp()
        loop = 'import gc, time\nprint("ready", flush=True)\nwhile True: gc.collect(); time.sleep(.1)'
        self.python = support.Program('/usr/bin/python3.11', '-c', loop)
        self.addCleanup(self.python.end)
        self.worker = self.program('demo_worker', '60')
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_the_commands_of_the_readme_and_of_the_examples_work(self):
        text = ''.join((support.ROOT / name).read_text() for name in ('README.md', 'docs/examples.md', 'docs/tutorial.md'))
        commands = re.findall(r'^    \$ tracectl (.*)', text, re.M)
        self.assertGreater(len(commands), 20)
        for command in commands:
            pid = self.python.pid if 'python' in command else self.worker.pid
            words = shlex.split(re.sub(r'-p \d+', f'-p {pid}', command))
            with self.subTest(command=command):
                done = self.daemon.run(*words)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_commands_for_agents_work(self):
        text = (support.ROOT / 'docs/agents.md').read_text()
        commands = re.findall(r'^\|.*\| `tracectl ((?:list|count|stacks|offcpu|trace|hist|time|graph|record) .*?)`', text, re.M)
        self.assertGreater(len(commands), 9)
        names = {'PID': str(self.worker.pid), ' f ': ' demo::sieve ', 'ns::': 'demo::', 'parse': 'sieve', 'str(arg1)': 'arg1',
                 './command': support.target('hot'), 'out.tct': f'{self.folder}/out.tct'}
        for command in commands:
            for name, here in names.items():
                command = command.replace(name, here)
            with self.subTest(command=command):
                done = self.daemon.run(*shlex.split(re.sub(r'--for \d+s', '--for 200ms', command)), stdin=subprocess.DEVNULL)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_python_program_of_the_examples_works(self):
        text = (support.ROOT / 'docs/examples.md').read_text()
        program = re.search(r'^    import tracectl\n(?:(?:    .*)?\n)+', text, re.M)[0]
        program = textwrap.dedent(program).replace('pids=[23415]', f'pids=[{self.python.pid}]')
        # It ends when its process ends and no more events come.
        with subprocess.Popen(['/usr/bin/python3', '-c', program], stdout=subprocess.PIPE, text=True,
                              env={**os.environ, 'TRACECTL_SOCKET': self.daemon.socket,
                                   'PYTHONUNBUFFERED': '1', 'PYTHONDONTWRITEBYTECODE': '1',
                                   'PYTHONPATH': str(support.ROOT / 'client/python')}) as watcher:
            first = watcher.stdout.readline()
            self.python.process.kill()
            watcher.communicate(timeout=60)
        self.assertRegex(first, r"^Event\(.*:python:gc__(start|done)', kind='hit', args=\[\d\]")
        self.assertEqual(watcher.returncode, 0)

    def test_the_client_in_the_protocol_page_works(self):
        text = section(page('tracectl-protocol.7'), 'EXAMPLES')
        program = re.search(r'^ +import json.*?(?=\n\n +With )', text, re.M | re.S)[0]
        margin = len(program) - len(program.lstrip())
        program = '\n'.join(line[margin:] for line in program.splitlines())
        done = subprocess.run([sys.executable, '-c', program, self.daemon.socket,
                               str(self.python.pid)], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("'probe': 'usdt:/usr/bin/python3.11:python:gc__start'", done.stdout)
        self.assertIn("'not_found'", done.stdout.splitlines()[-1])


def commands_of(name):
    """The examples of a page, as shell words."""
    lines = section(page(name), 'EXAMPLES').splitlines()
    return [shlex.split(line) for line in lines if re.match(' +(tracectl|systemctl)', line)]


def with_program(words, path, pattern, pid):
    """With one of our programs instead of the page's."""
    there = {'/usr/sbin/server': path, 'u::handle_*': pattern, '4711': str(pid)}
    return [there.get(word, word) for word in words]


@support.needs_root
class ExamplesOfSpans(otlp_test.ExporterTest):
    def setUp(self):
        self.daemon = service_manager.Service()
        self.addCleanup(self.daemon.end)
        self.daemon.start()
        self.program = support.Program(support.target('spans'), '20')
        self.addCleanup(self.program.end)

    def commands(self):
        return [with_program(words, support.target('spans'), 'u::spans_serve', self.program.pid)
                for words in commands_of('tracectl-otlp.1')]

    def spans(self, receiver, *words):
        exporter = self.exporter(receiver, *words)
        self.program.send('go')
        truth = self.program.result()
        self.ended(exporter)
        self.assertEqual((receiver.faults, len(receiver.spans)), ([], len(truth)))
        return truth

    def test_the_header_of_a_handler_says_the_trace(self):
        program, *words = self.commands()[0]
        self.assertEqual(program, 'tracectl-otlp')
        receiver = self.receiver()
        # In our program the header is the first argument, not the second.
        truth = self.spans(receiver, *(word.replace('str(arg1)', 'str(arg0)') for word in words))
        named = {request['traceparent'].split('-')[1] for request in truth if request['number'] % 2 == 0}
        self.assertLessEqual(named, {span['traceId'] for span in receiver.spans})
        self.assertGreater(len(named), 0)

    def test_slow_calls_are_log_records(self):
        program, *words = self.commands()[1]
        self.assertEqual(program, 'tracectl-otlp')
        receiver = self.receiver()
        # Our program sleeps for 0.1 ms in each call.
        truth = self.spans(receiver, *(word.replace('10ms', '0.1ms') for word in words))
        self.assertEqual(len(receiver.logs), len(truth))

    def test_the_ways_to_malloc_are_profiles(self):
        words = shlex.split(re.search(r'^ +tracectl-otlp (.* --profiles)$', page('tracectl-otlp.1'), re.M)[1])
        receiver = self.receiver()
        exporter = self.exporter(receiver, *(word.replace('4711', str(self.program.pid)) for word in words))
        self.program.send('go')
        self.program.result()
        self.ended(exporter)
        self.assertEqual((receiver.faults, receiver.spans), ([], []))
        profile, = receiver.profiles
        self.assertTrue(all(stack[-1].endswith('malloc') for stack in otlp_test.stacks_of(profile)))

    def test_a_session_of_a_service_is_sent_over_a_restart(self):
        *commands, unit = self.commands()[3:]
        self.assertEqual(unit, ['systemctl', 'start', 'tracectl-otlp@web'])
        for program, *words in commands:
            self.assertEqual(program, 'tracectl')
            done = self.daemon.run(*words)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.daemon.restart()
        self.spans(self.receiver(), '--session', 'web')


@support.needs_root
class ExamplesOfMetrics(prometheus_test.ExporterTest):
    def test_what_calls_take_is_shown_and_can_be_asked_for(self):
        program = self.program('hot')
        *commands, (exporter, *options) = [
            with_program(words, support.target('hot'), 'u::hot_push', program.pid)
            for words in commands_of('tracectl-prometheus.8')]
        self.assertEqual((len(commands), exporter), (3, 'tracectl-prometheus'))
        for _, *words in commands:
            done = self.daemon.run(*words)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.call(program, 10)
        found = self.metrics(self.exporter(*options))
        counts = [value for name, value in found.items()
                  if name.startswith('tracectl_duration_seconds_count')]
        self.assertEqual(counts, [10])
        asked, = re.findall(r'^ +(histogram_quantile.*)$', section(page('tracectl-prometheus.8'), 'EXAMPLES'),
                            re.M)
        self.check_query(asked)
        name, = re.findall(r'tracectl_\w+', asked)
        self.assertIn(name, {re.match(r'\w+', series)[0] for series in found})

    def check_query(self, query):
        with tempfile.NamedTemporaryFile('w', suffix='.yml') as rules:
            json.dump({'groups': [{'name': 'g', 'rules': [{'record': 'r', 'expr': query}]}]}, rules)
            rules.flush()
            checked = subprocess.run(['promtool', 'check', 'rules', rules.name], capture_output=True,
                                     text=True, timeout=60)
        self.assertEqual(checked.returncode, 0, checked.stderr)


def example_files(text):
    """The files of a page: the text after "The file NAME:", up to the next sentence."""
    found = re.findall(r'^     The file (\S+):\n\n(.*?)(?=^     \S)', text, re.M | re.S)
    return {name: re.sub(r'^ +', '', body, flags=re.M) for name, body in found}


class Generator(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    @support.needs_root
    def test_the_commands_of_its_page_work(self):
        text = section(page('tracectl-usdt.1'), 'EXAMPLES')
        files = example_files(text)
        self.assertEqual(sorted(files), ['database.d', 'main.c'])
        for name, body in files.items():
            pathlib.Path(self.folder, name).write_text(body)
        path = f'{support.BUILD}:{os.environ["PATH"]}'
        environment = {**os.environ, 'PATH': path, 'C_INCLUDE_PATH': support.ROOT / 'usdt/include'}
        for command, printed in re.findall(r'^ +\$ (.*)\n((?: {11}[^$\n].*\n)*)', text, re.M):
            command = command.replace('tracectl trace', 'tracectl --embedded trace')
            with self.subTest(command=command):
                done = subprocess.run(command, shell=True, cwd=self.folder, env=environment,
                                      capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 1 if 'error' in printed else 0, done.stderr)
                lines = (done.stderr + done.stdout).splitlines()
                for wanted in re.findall(r'database:(\w+\(.*\))$|(error: .*)', printed, re.M):
                    self.assertTrue([line for line in lines if line.endswith(''.join(wanted))], lines)


class Exports(unittest.TestCase):
    def test_the_columns_are_those_of_the_page(self):
        text = re.search(r'^\.It Cm csv\n(.*?)^\.It Cm jsonl$', (MAN / 'tracectl-export.1').read_text(),
                         re.M | re.S)[1]
        described = set(' , '.join(re.findall(r'^\.It Va (.*)', text, re.M)).split(' , '))
        head = self.printed('tracectl -q export calls.tct --to csv -o - | head -1').strip()
        self.assertEqual({re.sub(r'arg[2-9]', 'arg1', name) for name in head.split(',')}, described)

    def test_the_examples_print_what_the_page_says(self):
        text = section(page('tracectl-export.1'), 'EXPORTS')
        examples = re.findall(r'^ +\$ (.*)\n((?: +[\d{t].*\n)+)', text, re.M)
        self.assertEqual(len(examples), 2)
        for command, printed in examples:
            with self.subTest(command=command):
                self.assertEqual(self.printed(command), re.sub(r'(?m)^ +', '', printed))

    def printed(self, command):
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(support.ROOT / 'tests/recordings/v1-calls.tct', folder + '/calls.tct')
            path = f'{support.BUILD}:{os.environ["PATH"]}'
            return subprocess.run(command, shell=True, cwd=folder, env={**os.environ, 'PATH': path},
                                  check=True, capture_output=True, text=True, timeout=60).stdout


class Units(unittest.TestCase):
    def test_systemd_takes_them_and_they_start_what_is_there(self):
        for unit in sorted((support.ROOT / 'systemd').glob('tracectl-*.service')):
            with self.subTest(unit=unit.name), tempfile.TemporaryDirectory() as folder:
                program = re.search(r'^ExecStart=/usr/bin/(\S+) ', unit.read_text(), re.M)[1]
                folder_of = support.BUILD if program == 'tracectl' else support.ROOT / 'client/python'
                there = pathlib.Path(folder_of, program)
                copy = pathlib.Path(folder, unit.name.replace('@', '@s'))
                text = unit.read_text().replace('/usr/bin/' + program, str(there))
                copy.write_text(re.sub('Documentation=.*', '', text))  # those pages are not installed
                done = subprocess.run(['systemd-analyze', 'verify', copy], capture_output=True,
                                      text=True, timeout=60)
                self.assertEqual((done.returncode, done.stderr), (0, ''))


class Paths(unittest.TestCase):
    def test_links_lead_to_files(self):
        for document in [*support.ROOT.glob('*.md'), *support.ROOT.glob('docs/*.md')]:
            for link in re.findall(r'\]\(([^)#:]+)\)', document.read_text()):
                with self.subTest(document=document.name, link=link):
                    self.assertTrue((document.parent / link).exists())

    def test_the_readme_is_short(self):
        self.assertLessEqual(len((support.ROOT / 'README.md').read_text().splitlines()), 150)

    def test_what_the_documents_name_is_there(self):
        for name in ('README.md', 'CONTRIBUTING.md', 'docs/architecture.md', 'docs/dependencies.md', 'docs/examples.md',
                     'docs/install.md', 'docs/promises.md', 'docs/tutorial.md'):
            text, title, includes = (support.ROOT / name).read_text().partition('### Who may include whom')
            # The last column of that table names headers of libraries.
            text += title + re.sub(r'(?m)^(\|.*\|)[^|\n]*\|$', r'\1', includes)
            for path in re.findall(r'`((?:daemon|client|bpf|usdt|tests|scripts|docs)/[\w./-]*)`', text):
                with self.subTest(document=name, path=path):
                    self.assertTrue(os.path.exists(support.ROOT / path))


if __name__ == '__main__':
    unittest.main()
