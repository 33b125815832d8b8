# SPDX-License-Identifier: BSD-2-Clause
"""The exporter for Prometheus, scraped by a real Prometheus; its data is compared with what the programs
count."""

import concurrent.futures
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

import support
from prometheus_client import parser

sys.path.insert(0, str(support.ROOT / 'client/python'))  # for the exporter's modules, if it is imported
import tracectl_names  # noqa: E402
import tracectl_rust  # noqa: E402
EXPORTER = str(support.ROOT / 'client/python/tracectl-prometheus')
MOST_DATA_BYTES = 128 << 20  # limit for its anonymous memory; half of its unit's limit
SCRAPERS = 3
STRANGE_NAME = 'q"b\\n\nend'  # a quote, a backslash before an n, a line feed
SCRAPES = '''
scrape_configs:
  - job_name: tracectl
    scrape_interval: 500ms
    scrape_timeout: 500ms
    static_configs:
      - targets: ['%s']
'''


def get(url):
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read().decode()


def line_that_says(stream, pattern):
    for line in stream:
        if match := re.search(pattern, line):
            return match[1]
    raise AssertionError(f'it ended and never said {pattern}')


class Process:
    """Runs until the test ends; `said` is the address on which it listens, from standard error."""

    def __init__(self, test, command, pattern):
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True,
                                        env={**os.environ, 'PYTHONDONTWRITEBYTECODE': '1'})
        test.addCleanup(self._end)
        self.said = line_that_says(self.process.stderr, pattern)

    def _end(self):
        self.process.kill()
        self.process.communicate()

    def ended(self, number):
        self.process.send_signal(number)
        _, rest = self.process.communicate(timeout=60)
        return self.process.returncode, rest


@support.needs_root
class ExporterTest(support.DaemonTest):
    def exporter(self, *words, first=()):
        """A running exporter; counts what it takes from the daemon at each scrape. `first`: words of another
        program that executes it."""
        command = [*first, '/usr/bin/python3', EXPORTER, '--socket', self.daemon.socket, '--listen',
                   '127.0.0.1:0', *words]
        return Process(self, command, r'listening on (http://\S+/metrics)$')

    def strange(self):
        """A program with thread names that must be escaped."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        link = pathlib.Path(folder.name, STRANGE_NAME)
        link.symlink_to(support.target('hot'))
        program = support.Program(link)
        self.addCleanup(program.end)
        return program

    def session(self, name, program, do, pattern='u::hot_push', when=()):
        self.daemon.json('session', 'new', name)
        self.daemon.json('stage', name, 'set', '-p', str(program.pid), pattern, '--do', do, *when)
        self.daemon.json('commit', name)

    def call(self, program, times):
        program.send(f'hot_push {times}')
        self.assertEqual(program.result()['calls'], times)

    def metrics(self, exporter):
        """Its current metrics: value by name and labels, as in the text."""
        samples = {}
        for line in get(exporter.said).splitlines():
            if not line.startswith('#'):
                name, value = line.rsplit(' ', 1)
                self.assertNotIn(name, samples)
                samples[name] = float(value)
        return samples


class WithoutItsLibrary(unittest.TestCase):
    def run_exporter(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, 'prometheus_client.py').write_text('raise ImportError')
            return subprocess.run(['/usr/bin/python3', EXPORTER, *words], capture_output=True, text=True, timeout=60,
                                  env={**os.environ, 'PYTHONPATH': folder, 'PYTHONDONTWRITEBYTECODE': '1'}, check=False)

    def test_it_has_help_and_says_what_is_missing(self):
        helped = self.run_exporter('--help')
        self.assertEqual(helped.returncode, 0, helped.stderr)
        self.assertIn('--session', helped.stdout)
        refused = self.run_exporter()
        self.assertEqual(refused.returncode, 1)
        self.assertIn('apt install python3-prometheus-client', refused.stderr)


class Scraped(ExporterTest):
    def prometheus(self, exporter):
        """The address of a Prometheus that scrapes it."""
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        config = pathlib.Path(folder, 'prometheus.yml')
        config.write_text(SCRAPES % urllib.parse.urlsplit(exporter.said).netloc)
        command = ['prometheus', f'--config.file={config}', f'--storage.tsdb.path={folder}/data',
                   '--web.listen-address=127.0.0.1:0']
        return Process(self, command, r'msg="Listening on" address=(\S+)').said

    def query(self, address, expression):
        """The results: value by labels, without the labels of the scraped target."""
        url = f'http://{address}/api/v1/query?' + urllib.parse.urlencode({'query': expression})
        try:
            answer = json.loads(get(url))
        except urllib.error.HTTPError as error:
            if error.code == 503:  # it listens before it is ready
                return {}
            raise
        self.assertEqual(answer['status'], 'success')
        found = {}
        for result in answer['data']['result']:
            labels = {name: text for name, text in result['metric'].items()
                      if name not in ('__name__', 'instance', 'job')}
            found[tuple(sorted(labels.items()))] = float(result['value'][1])
        return found

    def wait_for_a_scrape(self, address):
        """Waits until a scrape that began after the call is in its store."""
        now = time.time()
        def is_there():
            return (any(at > now for at in self.query(address, 'timestamp(up)').values())
                    and set(self.query(address, 'up').values()) == {1})
        support.wait_until(is_there, 'a scrape')

    def values(self, address, expression, *names):
        """Values by these labels."""
        return {tuple(dict(labels).get(name) for name in names): value
                for labels, value in self.query(address, expression).items()}


@support.needs_root
class Prometheus(Scraped):
    def test_it_has_what_the_program_did(self):
        program = self.program('hot')
        self.session('web-counts', program, 'count by tid, sum(arg0), max(arg0)')
        self.session('web-hist', program, 'hist(arg0)')
        self.session('web-time', program, 'time')
        self.session('other', program, 'count')
        address = self.prometheus(self.exporter('--session', 'web-*'))
        self.call(program, 1000)
        self.wait_for_a_scrape(address)
        self.assertEqual(self.values(address, 'tracectl_hits_total', 'session', 'by_tid'),
                         {('web-counts', str(program.pid)): 1000})
        self.assertEqual(self.values(address, 'tracectl_value_sum', 'of'), {('arg0',): 499500})
        self.assertEqual(self.values(address, 'tracectl_value_max', 'of'), {('arg0',): 999})
        self.assertEqual(
            self.values(address, 'tracectl_value_bucket{le=~"0.0|1.0|511.0|1023.0|\\\\+Inf"}', 'le'),
            {('0.0',): 1, ('1.0',): 2, ('511.0',): 512, ('1023.0',): 1000, ('+Inf',): 1000})
        read = self.daemon.json('read', 'web-time')['rows'][0]
        self.assertEqual(self.values(address, 'tracectl_duration_seconds_count', 'session'),
                         {('web-time',): 1000})
        total, = self.values(address, 'tracectl_duration_seconds_sum').values()
        self.assertAlmostEqual(total, read['sum'] / 1e9)
        bounds = self.values(address, 'tracectl_duration_seconds_bucket{le!="+Inf"}', 'le')
        self.assertEqual(bounds, {(le,): sum(bucket['count'] for bucket in read['hist']
                                             if bucket['max'] <= round(float(le) * 1e9))
                                  for le, in bounds})
        self.assertLess(min(bounds.values()), max(bounds.values()))
        self.call(program, 500)
        self.wait_for_a_scrape(address)
        self.assertEqual(self.values(address, 'tracectl_hits_total', 'session'),
                         {('web-counts',): 1500})

    def test_labels_are_what_they_were(self):
        program = self.strange()
        self.session('s', program, 'count by comm')
        address = self.prometheus(self.exporter('--session', 's'))
        self.call(program, 3)
        self.wait_for_a_scrape(address)
        self.assertEqual(self.values(address, 'tracectl_hits_total', 'by_comm'), {(STRANGE_NAME,): 3})

    def test_it_learns_that_the_daemon_is_gone(self):
        daemon = support.Daemon()
        exporter = Process(self, ['/usr/bin/python3', EXPORTER, '--socket', daemon.socket, '--listen',
                                  '127.0.0.1:0'], r'listening on (http://\S+/metrics)$')
        address = self.prometheus(exporter)
        self.wait_for_a_scrape(address)
        self.assertEqual(self.values(address, 'tracectl_up'), {(): 1})
        daemon.end()
        self.wait_for_a_scrape(address)
        self.assertEqual(self.values(address, 'tracectl_up'), {(): 0})
        self.assertEqual(self.values(address, 'tracectl_daemon_sites'), {})


@support.needs_root
class Exporter(ExporterTest):
    def test_every_counter_of_the_daemon_is_there(self):
        program = self.program('hot')
        self.session('s', program, 'count')
        found = self.metrics(self.exporter())
        stats = self.daemon.json('stats')
        sizes = {'slots_used', 'slots_limit', 'hooks_used', 'hooks_limit', 'keys_limit', 'rings_open',
                 'ring_bytes_each'}
        for name, value in stats.items():
            shown = found[f'tracectl_daemon_{name}' + ('' if name in sizes else '_total')]
            if 'request' not in name:  # there were more requests since
                self.assertEqual(shown, value, name)
        self.assertEqual(found['tracectl_daemon_sites'], 1)
        self.assertFalse([name for name in found if 'session=' in name])

    def test_buckets_of_linear_histograms_and_of_negative_values(self):
        program = self.program('hot')
        self.session('s', program, 'hist(arg1 - 5), lhist(arg0, 100, 300, 50)')
        exporter = self.exporter('--session', 's')
        self.call(program, 1000)
        buckets = {(dict(re.findall(r'(\w+)="([^"]*)"', name))['of'],
                    dict(re.findall(r'(\w+)="([^"]*)"', name))['le']): value
                   for name, value in self.metrics(exporter).items()
                   if name.startswith('tracectl_value_bucket')}
        self.assertEqual({le: value for (of, le), value in buckets.items() if of == 'arg0'},
                         {'99.0': 100, '149.0': 150, '199.0': 200, '249.0': 250, '299.0': 300,
                          '+Inf': 1000})
        below_zero = {le: value for (of, le), value in buckets.items() if of != 'arg0'}
        self.assertEqual({below_zero[le] for le in ('-1.0', '0.0', '511.0', '+Inf')}, {1000})

    def test_more_series_than_allowed_are_left_out_and_told(self):
        program = self.program('hot')
        self.session('s', program, 'count by arg0')
        exporter = self.exporter('--session', 's', '--most-series', '10')
        self.call(program, 5)
        hits = [name for name in self.metrics(exporter) if name.startswith('tracectl_hits_total')]
        self.assertEqual(len(hits), 5)
        self.call(program, 30)
        found = self.metrics(exporter)
        kept = [name for name in found if name.startswith('tracectl_hits_total')]
        self.assertEqual(len(kept), 10)
        self.assertLess(set(hits), set(kept))
        self.assertEqual(found['tracectl_exporter_rows_left_out{because="most_series"}'], 20)

    def test_full_tables_take_little_memory(self):
        for do, keys in ('count by arg0', 49_152), ('time by arg0', 12_288):
            with self.subTest(do=do):
                program = self.program('hot')
                self.session('s', program, do)
                self.call(program, keys + 1000)
                self.assertGreater(len(self.daemon.json('read', 's')['rows']), keys * 0.9)
                exporter = self.exporter('--session', 's', '--most-series', '5000',
                                         first=['prlimit', f'--data={MOST_DATA_BYTES}'])
                with concurrent.futures.ThreadPoolExecutor(SCRAPERS) as scrapers:
                    answers = set(scrapers.map(get, [exporter.said] * SCRAPERS))
                for text in answers:
                    self.check_is_full(text, keys)
                self.daemon.json('session', 'delete', 's')

    def check_is_full(self, text, keys):
        samples = [sample for family in parser.text_string_to_metric_families(text)
                   for sample in family.samples]
        series = [one for one in samples if 'by_arg0' in one.labels]
        self.assertGreater(len(series), 4900)
        self.assertLessEqual(len(series), 5000)
        left_out, = (one.value for one in samples if one.labels.get('because') == 'most_series')
        self.assertGreater(left_out + len({one.labels['by_arg0'] for one in series}), keys * 0.9)

    def test_labels_are_escaped_as_the_format_has_it(self):
        program = self.strange()
        self.session('s', program, 'count by comm, time by comm')
        exporter = self.exporter('--session', 's')
        self.call(program, 3)
        text = get(exporter.said)
        self.assertIn(r'by_comm="q\"b\\n\nend"', text)
        values = {(sample.name, sample.labels['by_comm']): sample.value
                  for family in parser.text_string_to_metric_families(text) for sample in family.samples
                  if sample.name in ('tracectl_hits_total', 'tracectl_duration_seconds_count')}
        self.assertEqual(values, {('tracectl_hits_total', STRANGE_NAME): 3,
                                  ('tracectl_duration_seconds_count', STRANGE_NAME): 3})

    def test_rows_are_as_many_series_as_are_counted_for_them(self):
        spec = importlib.util.spec_from_loader(
            'tracectl_prometheus', importlib.machinery.SourceFileLoader('tracectl_prometheus', EXPORTER))
        exporter = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = exporter  # where dataclasses look for the types of annotations
        spec.loader.exec_module(exporter)
        program = self.program('hot')
        self.session('s', program, 'count by tid, sum(arg0), avg(arg0), min(arg0), max(arg0), hist(arg0), '
                     'lhist(arg0, 0, 100, 10), time')
        self.call(program, 300)
        rows = self.daemon.json('read', 's')['rows']
        self.assertGreater(len(rows), 4)
        for row in rows:
            self.assertEqual(exporter.series_of(row), len(list(exporter.samples_of('s', row))), row)

    def test_rows_kept_by_a_stack_are_left_out_and_told(self):
        program = self.program('hot')
        self.session('s', program, 'count by stack')
        exporter = self.exporter('--session', 's')
        self.call(program, 3)
        found = self.metrics(exporter)
        self.assertEqual(found['tracectl_exporter_rows_left_out{because="kept_by_stack"}'], 1)
        self.assertFalse([name for name in found if name.startswith('tracectl_hits_total')])

    def test_a_term_signal_ends_it(self):
        self.assertEqual(self.exporter().ended(signal.SIGTERM), (0, ''))

    def test_the_verb_has_the_same_of_the_daemon(self):
        printed = self.daemon.run('metrics').stdout
        checked = subprocess.run(['promtool', 'check', 'metrics'], input=printed, capture_output=True,
                                 text=True, timeout=60)
        self.assertEqual((checked.returncode, checked.stderr), (0, ''))
        exported = get(self.exporter().said)

        def lines(text):
            """Without numbers, some of which have changed."""
            return {re.sub(r'(?<=[a-z}]) [\d.e+]+$', '', line) for line in text.splitlines()
                    if 'exporter_rows' not in line}
        self.assertEqual(lines(printed), lines(exported))
        limit, = re.findall(r'^tracectl_daemon_slots_limit (\d+)$', printed, re.M)
        self.assertEqual(int(limit), self.daemon.json('stats')['slots_limit'])

    def test_its_manual_has_every_metric_of_rows(self):
        program = self.program('hot')
        self.session('s', program, 'count by tid, sum(arg0), avg(arg0), min(arg0), max(arg0), hist(arg0), '
                     'time')
        exporter = self.exporter('--session', 's')
        self.call(program, 3)
        page = (support.ROOT / 'docs/man/tracectl-prometheus.8').read_text()
        words = set(re.findall(r'\w+', page))
        for name in {re.match(r'\w+', name)[0] for name in self.metrics(exporter)}:
            short = re.sub('_(bucket|sum|count)$', '', name)
            self.assertTrue({name, short, name.removeprefix('tracectl_value'),
                             name.removeprefix('tracectl_session_')} & words
                            or name.startswith('tracectl_daemon_'), name)

    def test_what_it_cannot_do_is_told(self):
        for words, wanted in ((['--listen', 'here'], 'here is not ADDRESS:PORT'),
                              (['--listen', '192.0.2.1:9752'], 'cannot listen on 192.0.2.1'),
                              (['--most-series', '-1'], '--most-series is negative')):
            done = subprocess.run(['/usr/bin/python3', EXPORTER, *words], capture_output=True, text=True,
                                  timeout=60)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(wanted, done.stderr)


@support.needs_root
class Names(ExporterTest):
    def probes(self, *words):
        """The labels `probe` of hits, without directories."""
        exporter = self.exporter('--session', 's', *words)
        return {re.search(r'probe="([^"]*)"', name)[1].rsplit('/', 1)[-1] for name in self.metrics(exporter)
                if name.startswith('tracectl_hits_total')}

    def test_functions_are_shown_demangled_or_by_their_symbols(self):
        self.daemon.json('session', 'new', 's')
        self.daemon.json('stage', 's', 'set', 'shop::orders::*', '-x', support.target('cxx_names'), '--do', 'count')
        self.daemon.json('commit', 's')
        program = self.program('cxx_names', '1')
        program.send('go')
        program.result()
        truth = [row['probe'].rsplit('/', 1)[-1] for row in self.daemon.json('read', 's')['rows']]
        self.assertIn('cxx_names:_ZN4shop6orders5priceEi', truth)
        self.assertEqual(self.probes('--mangled'), set(truth))
        shown = self.probes()
        self.assertEqual(len(shown), len(truth))
        self.assertLess({'cxx_names:shop::orders::price(int)', 'cxx_names:shop::orders::price(double)'}, shown)

    def test_functions_of_rust_are_shown_without_hashes(self):
        program = self.program('rust_names')
        self.daemon.json('session', 'new', 's')
        for pattern in 'u::demo::*', 'u::<demo::*', 'u::mycrate::*':
            self.daemon.json('stage', 's', 'set', pattern, '-p', str(program.pid), '--do', 'count')
        self.daemon.json('commit', 's')
        program.send('go')
        program.result()
        self.assertEqual(self.probes(), {'rust_names:demo::run', 'rust_names:demo::main::{{closure}}',
                                         'rust_names:<demo::Pipe as core::fmt::Write>::fill',
                                         'rust_names:mycrate::foo::bar'})


class NamesOfRust(unittest.TestCase):
    @staticmethod
    def doubled(count):
        """A generic argument, then `count` that each are twice the one before."""
        symbol = 'INvC1a1fTmmE'
        last = symbol.index('T')
        for _ in range(count):
            tens, ones = divmod(last - 1, 62)
            back = f'B{tracectl_rust.DIGITS[tens] if tens else ""}{tracectl_rust.DIGITS[ones]}_'
            last = len(symbol)
            symbol += f'T{back}{back}E'
        return f'_R{symbol}E'

    def test_both_manglings(self):
        for symbol, name in (
                ('_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_', 'cc::spawn::{closure#0}::{closure#0}'),
                ('_RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6OutputuEL_ECs1iopQbuBiw2_3std',
                 'alloc::alloc::box_free::<dyn alloc::boxed::FnBox<(), Output = ()>>'),
                ('_RMC0INtC8arrayvec8ArrayVechKj7b_E', '<arrayvec::ArrayVec<u8, 123>>'),
                ("_RINvC1a1fFG_RL0_hERL0_hE", "a::f::<for<'a> fn(&'a u8) -> &'a u8>"),
                ('_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y',
                 'utf8_idents::საჭმელად_გემრიელი_სადილი'),
                ('_ZN4demo4main28_$u7b$$u7b$closure$u7d$$u7d$17h05af221e174051e9E.llvm.11',
                 'demo::main::{{closure}}'),
                ('_ZN4demo6strikeEi', None), ('_RNvC1a9b', None), ('_RNvB_1a', None), ('main', None)):
            self.assertEqual(tracectl_rust.demangled(symbol), name, symbol)

    def test_what_would_fill_memory_or_take_years_has_no_name(self):
        lifetimes = 'FGzzzzzzzzz_uEu'
        self.assertEqual(tracectl_rust.demangled(self.doubled(1)), 'a::f::<(u32, u32), ((u32, u32), (u32, u32))>')
        many = 'MINvC1a1f' + 'FGh1y_Eu' * 100 + 'Eu'
        for symbol in (self.doubled(60), f'_R{many}', '_RNvC1au6a_rc4g', '_RNvC1au3ab_', '_RNvC1au3a_A', f'_RINvC1a1f{lifetimes}E', f'_RMINvC1a1f{lifetimes}Eu', '_R' + 'R' * 100_000,
                       '_RINvC1a1f' + 'T' * 100_000):
            self.assertIsNone(tracectl_rust.demangled(symbol), symbol[:20])


class NamesOfContainers(unittest.TestCase):
    WEB, JOB, POD, FIRST, SECOND = ('0123456789ab' + 'f' * 52, *(digit * 64 for digit in 'abcd'))

    def write(self, path, content):
        file = pathlib.Path(self.folder, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content))

    def test_they_are_those_that_the_files_below_a_root_have(self):
        with tempfile.TemporaryDirectory() as self.folder:
            self.write('var/lib/containers/storage/overlay-containers/containers.json',
                       [{'id': self.WEB, 'names': ['web']}, {'id': self.FIRST, 'names': ['same']}, {'id': 7}, 'odd'])
            for container, name in (self.JOB, '/job'), (self.SECOND, '/same'):
                self.write(f'var/lib/docker/containers/{container}/config.v2.json', {'ID': container, 'Name': name})
            self.write('var/lib/docker/containers/cut/config.v2.json', '{')
            notes = {'sandbox-namespace': 'shop', 'sandbox-name': 'web-0', 'container-name': 'nginx'}
            self.write(f'run/containerd/io.containerd.runtime.v2.task/k8s.io/{self.POD}/config.json',
                       {'annotations': {f'io.kubernetes.cri.{name}': text for name, text in notes.items()}})
            self.assertEqual(tracectl_names.container_names(self.folder),
                             {self.WEB[:12]: 'web', self.JOB[:12]: 'job', self.POD[:12]: 'shop/web-0/nginx'})


if __name__ == '__main__':
    unittest.main()
