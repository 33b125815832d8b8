# SPDX-License-Identifier: BSD-2-Clause
"""The exporter of spans, log records and profiles, with a receiver that accepts only what the schema of OTLP allows
(otlp.schema.json); compared with the traced program's report on its requests (tests/targets/spans.cpp)."""

import collections
import dataclasses
import functools
import http.server
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import tracemalloc
import unittest

import jsonschema
import service_manager
import support

sys.path.insert(0, str(support.ROOT / 'client/python'))
import tracectl  # noqa: E402
import tracectl_profiles  # noqa: E402
import tracectl_spans  # noqa: E402

EXPORTER = str(support.ROOT / 'client/python/tracectl-otlp')
SERVE = "event(str(arg0), arg1), return"
RESTARTS = 10
BURST = 5000  # more calls than small rings hold
SMALL_RINGS = ('--ring-bytes', '65536')


@functools.cache
def validator(request='ExportTraceServiceRequest'):
    schema = json.loads((support.ROOT / 'tests/e2e/otlp.schema.json').read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator({**schema, '$ref': f'#/$defs/{request}'})


# By path: the request, and the names of its lists.
SIGNALS = {'/v1/traces': ('ExportTraceServiceRequest', 'resourceSpans', 'scopeSpans', 'spans'),
           '/v1/logs': ('ExportLogsServiceRequest', 'resourceLogs', 'scopeLogs', 'logRecords'),
           '/v1development/profiles': ('ExportProfilesServiceRequest', 'resourceProfiles', 'scopeProfiles', 'profiles')}


class Receiver:
    """Takes requests like a collector, and keeps the spans, log records and profiles; `answers` are its first answers,
    each a status, headers and a body."""

    def __init__(self, answers=()):
        self.answers = list(answers)
        self.spans, self.logs, self.profiles = [], [], []  # with their resources, as dicts
        self.faults = []
        self.requests = []  # headers
        self.taken = []  # paths and bodies
        self.may_answer = threading.Event()
        self.may_answer.set()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length']))
                receiver.may_answer.wait()
                status, headers, answer = receiver.take(self.path, self.headers, body)
                self.send_response(status)
                for name, value in {'Content-Type': 'application/json', **headers}.items():
                    self.send_header(name, value)
                self.send_header('Content-Length', str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        self.url = f'http://127.0.0.1:{self.server.server_address[1]}/v1/traces'

    def take(self, path, headers, body):
        self.requests.append(dict(headers))
        self.taken.append((path, body))
        answer = self.answers.pop(0) if self.answers else (200, {}, b'{}')
        if path not in SIGNALS or headers['Content-Type'] != 'application/json':
            self.faults.append(f'{path} {headers["Content-Type"]}')
            return 404, {}, b'{}'
        request = json.loads(body)
        kind, by_resource, by_scope, of_all = SIGNALS[path]
        self.faults += [error.message for error in validator(kind).iter_errors(request)]
        if answer[0] == 200:
            taken = {'spans': self.spans, 'logRecords': self.logs, 'profiles': self.profiles}[of_all]
            for part in request[by_resource]:
                resource = attributes(part['resource'])
                for scope in part[by_scope]:
                    taken += [{**one, 'resource': resource, 'dictionary': request.get('dictionary')}
                              for one in scope[of_all]]
        return answer

    def end(self):
        self.may_answer.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def attributes(of):
    """As a dict, with numbers as numbers."""
    read = {'stringValue': str, 'intValue': int, 'doubleValue': float, 'boolValue': bool}
    found = {}
    for one in of.get('attributes', []):
        assert one['key'] not in found, one
        (kind, value), = one['value'].items()
        found[one['key']] = read[kind](value)
    return found


def name_of(span):
    return span['name'].rsplit(':', 1)[1]


class ExporterTest(unittest.TestCase):
    """`daemon` is the one that the exporter uses."""

    def receiver(self, answers=()):
        receiver = Receiver(answers)
        self.addCleanup(receiver.end)
        return receiver

    def exporter(self, receiver, *words, **environment):
        command = ['/usr/bin/python3', EXPORTER, '--socket', self.daemon.socket]
        if receiver:
            command += ['--endpoint', receiver.url]
        exporter = subprocess.Popen([*command, *words], stderr=subprocess.PIPE, text=True,
                                    env={**os.environ, 'PYTHONDONTWRITEBYTECODE': '1', **environment})
        self.addCleanup(exporter.communicate)
        self.addCleanup(exporter.kill)
        line = exporter.stderr.readline()
        self.assertIn('^C ends it', line)
        return exporter

    def ended(self, exporter):
        exporter.send_signal(signal.SIGINT)
        _, said = exporter.communicate(timeout=60)
        self.assertEqual(exporter.returncode, 0, said)
        return said

    def session_of(self, program, *settings, options=()):
        self.daemon.json('session', 'new', 's', *options)
        for pattern, do in settings:
            self.daemon.json('stage', 's', 'set', '-p', str(program.pid), pattern, '--do', do)
        self.daemon.json('commit', 's')


@support.needs_root
class Otlp(ExporterTest, support.DaemonTest):
    def requests_served(self, *words, count=50, settings=None):
        """The program's report on its requests, the receiver, and the exporter's last line."""
        program = self.program('spans', str(count))
        self.session_of(program, *(settings or [
            ('u::spans_serve', SERVE), ('u::spans_query', 'event, return'),
            ('U::spans:served', 'event')]))
        receiver = self.receiver()
        exporter = self.exporter(receiver, '--session', 's', *words)
        program.send('go')
        truth = program.result()
        said = self.ended(exporter)
        self.assertEqual(receiver.faults, [])
        return truth, receiver, said

    def test_every_call_is_a_span_of_its_trace_and_below_its_caller(self):
        truth, receiver, said = self.requests_served('--trace-id', 'arg0')
        self.assertIn(f'{len(receiver.spans)} spans sent, 0 found the queue full', said)
        self.assertEqual(len({span['spanId'] for span in receiver.spans}), len(receiver.spans))
        serves = {attributes(span)['tracectl.arg.arg1']: span for span in receiver.spans
                  if name_of(span) == 'spans_serve'}
        self.assertEqual(set(serves), {request['number'] for request in truth})
        queries = collections.Counter()
        for span in receiver.spans:
            if name_of(span) == 'spans_query':
                around = serves[attributes(span)['tracectl.arg.number']]
                queries[attributes(span)['tracectl.arg.number']] += 1
                self.assertEqual(span['parentSpanId'], around['spanId'])
                self.assertEqual(span['traceId'], around['traceId'])
        self.assertEqual(queries, collections.Counter(
            {request['number']: request['number'] % 3 for request in truth if request['number'] % 3}))
        for request in truth:
            self.check_serve(request, serves[request['number']])
        self.assertEqual(len({span['traceId'] for span in serves.values()}), len(truth))

    def check_serve(self, request, span):
        if request['number'] % 2 == 0:
            _, trace_id, parent, flags = request['traceparent'].split('-')
            self.assertEqual((span['traceId'], span['parentSpanId'], span['flags']),
                             (trace_id, parent, int(flags, 16)))
        else:
            self.assertNotIn('parentSpanId', span)
            self.assertNotIn('flags', span)
        told = attributes(span)
        self.assertEqual(told['tracectl.arg.arg0'], request['traceparent'])
        self.assertEqual(told['thread.id'], request['tid'])
        number = request['number']
        self.assertEqual(told['tracectl.retval'], number % 3 * number + (number % 3 == 2))
        took = int(span['endTimeUnixNano']) - int(span['startTimeUnixNano'])
        self.assertLessEqual(request['last'] - request['first'], took)
        self.assertLessEqual(took, request['after'] - request['before'])
        # Within the possible difference of two clocks.
        for edge in int(span['startTimeUnixNano']), int(span['endTimeUnixNano']):
            self.assertLess(abs(edge - request['before']), 10_000_000_000)
        event, = span['events']
        self.assertTrue(event['name'].endswith(':spans:served'))
        self.assertEqual(attributes(event), {'tracectl.arg.number': number})

    def test_a_tag_makes_one_trace_of_all_that_was_done_under_it(self):
        truth, receiver, _ = self.requests_served('--trace-id', 'tag', settings=[
            ('u::spans_query', 'event(arg0, arg1, tag), return')])
        traces = collections.defaultdict(set)
        for span in receiver.spans:
            traces[attributes(span)['tracectl.arg.arg0']].add(span['traceId'])
            self.assertEqual(attributes(span)['tracectl.tag'],
                             f'request {attributes(span)["tracectl.arg.arg0"]}')
            self.assertNotIn('parentSpanId', span)
        self.assertEqual(len(traces), sum(1 for request in truth if request['number'] % 3))
        self.assertEqual({len(ids) for ids in traces.values()}, {1})
        self.assertEqual(len(set().union(*traces.values())), len(traces))

    def test_patterns_make_a_session_of_its_own_that_ends_with_it(self):
        program = self.program('spans', '20')
        receiver = self.receiver()
        exporter = self.exporter(receiver, '-p', str(program.pid), 'u::spans_serve', '--service', 'shop',
                                 '--header', 'Authorization: Bearer x')
        program.send('go')
        truth = program.result()
        self.ended(exporter)
        self.assertEqual(receiver.faults, [])
        self.assertEqual(len(receiver.spans), len(truth))
        self.assertEqual([span['resource'] for span in receiver.spans],
                         [{'service.name': 'shop', 'host.name': socket.gethostname(),
                           'process.pid': program.pid}] * len(truth))
        self.assertEqual({headers['Authorization'] for headers in receiver.requests}, {'Bearer x'})
        self.assertEqual(self.daemon.json('session', 'list'), {'sessions': []})

    def test_a_call_that_is_left_without_a_return_has_failed(self):
        program = self.program('calls', '10')
        self.session_of(program, ('u::calls_throw', 'event, return'))
        receiver = self.receiver()
        exporter = self.exporter(receiver, '--session', 's')
        program.send('go')
        truth = program.result()['functions']['calls_throw']
        self.ended(exporter)
        failed = [span for span in receiver.spans if span.get('status', {}).get('code') == 2]
        self.assertEqual((len(receiver.spans) - len(failed), len(failed)),
                         (truth['returns'], truth['unwound']))
        self.assertGreater(len(failed), 0)

    def test_calls_of_a_graph_are_below_each_other(self):
        truth, receiver, _ = self.requests_served(settings=[('u::spans_serve', 'graph')])
        by_id = {span['spanId']: span for span in receiver.spans}
        queries = [span for span in receiver.spans if name_of(span) == 'spans_query']
        self.assertEqual(len(queries), sum(request['number'] % 3 for request in truth))
        self.assertEqual({name_of(by_id[span['parentSpanId']]) for span in queries}, {'spans_serve'})

    def test_slow_calls_are_logged_with_the_ids_of_their_spans(self):
        # The program sleeps for 100 us in each spans_serve; it may be interrupted for as long in others.
        truth, receiver, said = self.requests_served('--log-slower', '100us', '--trace-id', 'arg0')
        spans = {span['spanId']: span for span in receiver.spans}
        slow = {number for number, span in spans.items() if attributes(span)['tracectl.duration_ns'] >= 100_000}
        self.assertEqual([log['spanId'] for log in receiver.logs], [span['spanId'] for span in receiver.spans
                                                                    if span['spanId'] in slow])
        self.assertLessEqual({span['spanId'] for span in receiver.spans if name_of(span) == 'spans_serve'}, slow)
        self.assertGreaterEqual(len(slow), len(truth))
        for log in receiver.logs:
            span = spans[log['spanId']]
            self.assertEqual([log.get(name) for name in ('traceId', 'flags', 'attributes', 'resource')],
                             [span.get(name) for name in ('traceId', 'flags', 'attributes', 'resource')])
            self.assertEqual(log['timeUnixNano'], span['endTimeUnixNano'])
            self.assertGreaterEqual(int(log['observedTimeUnixNano']), int(log['timeUnixNano']))
            self.assertEqual((log['severityNumber'], log['severityText'], log['eventName']),
                             (13, 'WARN', 'tracectl.slow_call'))
            name, took_ms = re.fullmatch(r'(\S+) took ([0-9.]+) ms', log['body']['stringValue']).groups()
            self.assertEqual(name, span['name'])
            self.assertAlmostEqual(float(took_ms), attributes(span)['tracectl.duration_ns'] / 1e6, delta=0.001)
        self.assertIn(f'; {len(slow)} log records sent, 0 found the queue full, 0 not delivered, 0 rejected; '
                      '0 events lost', said)

    def test_without_slow_calls_nothing_is_logged(self):
        _, receiver, said = self.requests_served('--log-slower', '100s')
        self.assertEqual(receiver.logs, [])
        self.assertIn('; 0 log records sent', said)
        self.assertEqual({path for path, _ in receiver.taken}, {'/v1/traces'})

    def test_log_records_go_where_they_are_wanted(self):
        other = self.receiver()
        url = other.url.replace('/v1/traces', '/v1/logs')
        for words, environment in ((['--logs-endpoint', url], {}), ([], {'OTEL_EXPORTER_OTLP_LOGS_ENDPOINT': url})):
            with self.subTest(words=words, environment=environment):
                program = self.program('spans', '5')
                receiver = self.receiver()
                exporter = self.exporter(receiver, '-p', str(program.pid), 'u::spans_serve', '--log-slower', '0.1ms',
                                         *words, **environment)
                program.send('go')
                truth = program.result()
                self.ended(exporter)
                self.assertEqual((len(receiver.spans), len(receiver.logs), len(other.logs)),
                                 (len(truth), 0, len(truth)))
                other.logs.clear()
        self.assertEqual(other.faults, [])

    def test_a_collector_that_is_busy_gets_the_same_spans_again(self):
        program = self.program('spans', '20')
        self.session_of(program, ('u::spans_serve', SERVE))
        receiver = self.receiver([(503, {'Retry-After': '1'}, b'{}'), (429, {}, b'{}')])
        exporter = self.exporter(receiver, '--session', 's')
        program.send('go')
        truth = program.result()
        said = self.ended(exporter)
        self.assertEqual(len(receiver.spans), len(truth))
        self.assertIn(f'{len(truth)} spans sent, 0 found the queue full, 0 not delivered', said)

    def test_what_is_refused_for_good_is_not_sent_again_and_told(self):
        program = self.program('spans', '20')
        self.session_of(program, ('u::spans_serve', SERVE))
        receiver = self.receiver([(400, {}, b'{}')])
        exporter = self.exporter(receiver, '--session', 's', '--batch', '10', '--within', '60')
        program.send('go')
        truth = program.result()
        said = self.ended(exporter)
        self.assertEqual(len(receiver.spans), len(truth) - 10)
        self.assertIn('the collector says 400; 10 spans are dropped', said)
        self.assertIn(f'{len(truth) - 10} spans sent, 0 found the queue full, 10 not delivered', said)

    def test_what_a_collector_has_rejected_of_a_request_is_told(self):
        program = self.program('spans', '20')
        self.session_of(program, ('u::spans_serve', SERVE))
        receiver = self.receiver([(200, {}, b'{"partialSuccess":{"rejectedSpans":"3"}}')])
        exporter = self.exporter(receiver, '--session', 's')
        program.send('go')
        truth = program.result()
        self.assertIn(f'{len(truth) - 3} spans sent, 0 found the queue full, 0 not delivered, 3 rejected',
                      self.ended(exporter))

    def test_what_finds_the_queue_full_is_dropped_and_counted(self):
        program = self.program('spans', '200')
        self.session_of(program, ('u::spans_serve', SERVE))
        receiver = self.receiver()
        receiver.may_answer.clear()
        exporter = self.exporter(receiver, '--session', 's', '--queue', '20', '--batch', '10')
        program.send('go')
        truth = program.result()
        told = exporter.stderr.readline()
        self.assertRegex(told, 'spans found the queue full, 0 events were lost')
        receiver.may_answer.set()
        said = self.ended(exporter)
        dropped = len(truth) - len(receiver.spans)
        self.assertGreaterEqual(dropped, len(truth) - 40)
        self.assertIn(f'{len(receiver.spans)} spans sent, {dropped} found the queue full', said)

    def test_a_collector_that_is_not_there_is_told_and_the_end_comes(self):
        program = self.program('spans', '5')
        self.session_of(program, ('u::spans_serve', SERVE))
        exporter = self.exporter(None, '--session', 's', '--retry-for', '0.2',
                                 OTEL_EXPORTER_OTLP_ENDPOINT='http://127.0.0.1:9')
        program.send('go')
        program.result()
        said = self.ended(exporter)
        self.assertIn('cannot reach the collector', said)
        self.assertIn('0 spans sent, 0 found the queue full, 10 not delivered', said)

    def test_the_end_of_its_session_is_its_end(self):
        program = self.program('spans', '5')
        self.session_of(program, ('u::spans_serve', SERVE))
        exporter = self.exporter(self.receiver(), '--session', 's')
        self.daemon.json('session', 'delete', 's')
        _, said = exporter.communicate(timeout=60)
        self.assertEqual(exporter.returncode, 1)
        self.assertIn('there is no session "s"', said)

    def test_a_command_line_that_makes_no_sense_is_refused(self):
        for words, wanted in (([], 'either patterns or --session'),
                              (['u::f'], 'of which processes?'),
                              (['--session', 's', '--trace-id', 'arg12'], 'neither tag nor arg0 to arg11'),
                              (['--session', 's', '--endpoint', 'ftp://x'], 'no address of http'),
                              (['--session', 's', '--profiles', '--profile-every', '0'], 'is not above 0'),
                              (['--session', 's', '--profiles', '--endpoint', 'http://x/y'],
                               'give --profiles-endpoint'),
                              (['--session', 's', '--log-slower', '10'], '10 is not a time such as 10ms'),
                              (['--session', 's', '--log-slower', '1s', '--endpoint', 'http://x/y'],
                               'http://x/y does not end in /v1/traces: give --logs-endpoint, too')):
            done = subprocess.run(['/usr/bin/python3', EXPORTER, *words], capture_output=True, text=True,
                                  timeout=60)
            self.assertEqual(done.returncode, 2)
            self.assertIn(wanted, done.stderr)


def stacks_of(profile):
    """What the samples of a profile have: count by functions, the outermost first, and the attributes of each."""
    tables = profile['dictionary']
    text = lambda index: tables['stringTable'][index]
    found = collections.Counter()
    for sample in profile['samples']:
        names = []
        for index in tables['stackTable'][sample['stackIndex']]['locationIndices']:
            for line in tables['locationTable'][index]['lines']:
                names.append(text(tables['functionTable'][line['functionIndex']]['nameStrindex']))
        value, = sample['values']
        found[tuple(reversed(names))] += int(value)
    return found


CHAIN = ('main', 'work', 'outer', 'middle', 'deep', 'leaf')  # of the program stacks


def table_attributes(tables, indices):
    listed = [tables['attributeTable'][index] for index in indices]
    return attributes({'attributes': [{'key': tables['stringTable'][one['keyStrindex']], 'value': one['value']}
                                      for one in listed]})


@support.needs_root
class Profiles(ExporterTest, support.DaemonTest):
    def session_of_hot(self, do='count by stack'):
        program = self.program('hot')
        self.session_of(program, ('u::hot_push', do))
        return program

    def call(self, program, times):
        program.send(f'hot_push {times}')
        self.assertEqual(program.result()['calls'], times)

    def test_its_samples_are_the_calls_of_the_program(self):
        program = self.program('stacks', '200', '1')
        receiver = self.receiver()
        began_ns = time.time_ns()
        exporter = self.exporter(receiver, '--profiles', '-p', str(program.pid), 'u::leaf', '--service', 'shop')
        program.send('go')
        program.result()
        said = self.ended(exporter)
        self.assertEqual((receiver.faults, receiver.spans), ([], []))
        self.assertIn('; 1 profiles sent, 0 found the queue full, 0 not delivered, 0 rejected; 0 events lost', said)
        profile, = receiver.profiles
        (names, count), = stacks_of(profile).items()
        self.assertEqual((names[-len(CHAIN):], count), (CHAIN, 200))
        self.assertEqual(profile['resource'], {'service.name': 'shop', 'host.name': socket.gethostname()})
        tables = profile['dictionary']
        self.assertEqual([tables['stringTable'][profile['sampleType'][which]]
                          for which in ('typeStrindex', 'unitStrindex')], ['hits', 'count'])
        self.assertLessEqual(began_ns, int(profile['timeUnixNano']))
        self.assertLessEqual(int(profile['timeUnixNano']) + int(profile['durationNano']), time.time_ns())
        sample, = profile['samples']
        self.assertEqual(list(table_attributes(tables, sample['attributeIndices'])), ['tracectl.probe'])
        self.check_place_of_leaf(tables, sample)

    def check_place_of_leaf(self, tables, sample):
        """By what other programs read in the file, and by its source."""
        path = support.target('stacks')
        leaf = tables['locationTable'][tables['stackTable'][sample['stackIndex']]['locationIndices'][0]]
        listed = subprocess.run(['nm', path], capture_output=True, text=True, check=True).stdout
        self.assertEqual(int(leaf['address']), int(re.search(r'^([0-9a-f]+) T leaf$', listed, re.M)[1], 16))
        mapping = tables['mappingTable'][leaf['mappingIndex']]
        notes = subprocess.run(['readelf', '-n', path], capture_output=True, text=True, check=True).stdout
        self.assertEqual(tables['stringTable'][mapping['filenameStrindex']], path)
        self.assertEqual(table_attributes(tables, mapping['attributeIndices']),
                         {'process.executable.build_id.gnu': re.search(r'Build ID: ([0-9a-f]+)', notes)[1]})
        line, = leaf['lines']
        source = support.ROOT / 'tests/targets/stacks.h'
        function = tables['functionTable'][line['functionIndex']]
        self.assertEqual(pathlib.Path(tables['stringTable'][function['filenameStrindex']]).name, source.name)
        self.assertTrue(source.read_text().splitlines()[int(line['line']) - 1].startswith('NOIPA void leaf('))
        # middle is inlined into outer: one location, the inner function first.
        together = [[tables['stringTable'][tables['functionTable'][one['functionIndex']]['nameStrindex']]
                     for one in location['lines']] for location in tables['locationTable'] if location]
        self.assertIn(['middle', 'outer'], together)

    def sum_of(self, receiver):
        return sum(sum(stacks_of(profile).values()) for profile in receiver.profiles)

    def test_each_profile_has_what_is_new(self):
        program = self.session_of_hot()
        self.call(program, 50)  # of nobody's profile
        receiver = self.receiver()
        exporter = self.exporter(receiver, '--session', 's', '--profiles', '--profile-every', '0.05', '--within', '0.1')
        total = 0
        for times in 100, 30:
            self.call(program, times)
            total += times
            support.wait_until(lambda: self.sum_of(receiver) >= total, 'a profile')
        row, = self.daemon.json('read', 's', '--clear')['rows']
        self.assertEqual(row['count'], 180)
        self.call(program, 20)
        self.ended(exporter)
        self.assertEqual((receiver.faults, self.sum_of(receiver)), ([], 150))
        self.assertGreaterEqual(len(receiver.profiles), 3)
        times = [(int(one['timeUnixNano']), int(one['durationNano'])) for one in receiver.profiles]
        for (began, lasted), (after, _) in zip(times, times[1:]):
            self.assertLessEqual(began + lasted, after)

    def test_sums_and_keys_are_in_it(self):
        program = self.session_of_hot('sum(arg0) by stack, pid, arg1')
        receiver = self.receiver()
        exporter = self.exporter(receiver, '--session', 's', '--profiles')
        self.call(program, 100)
        self.ended(exporter)
        self.assertEqual(receiver.faults, [])
        profile, = receiver.profiles
        self.assertEqual(profile['resource'], {'host.name': socket.gethostname(), 'process.pid': program.pid})
        sample, = profile['samples']
        self.assertEqual(sample['values'], [str(sum(range(100)))])
        tables = profile['dictionary']
        self.assertEqual(tables['stringTable'][profile['sampleType']['typeStrindex']], 'arg0')
        named = table_attributes(tables, sample['attributeIndices'])
        self.assertEqual({name: value for name, value in named.items() if name != 'tracectl.probe'},
                         {'tracectl.by.arg1': 2})
        self.assertEqual(table_attributes(tables, profile['attributeIndices']), {'tracectl.session': 's'})


class ProfilesOfRows(unittest.TestCase):
    """Rows that no program makes on request."""

    def setUp(self):
        self.profiles = tracectl_profiles.Profiles('s', 0)
        self.now = 0

    def take(self, *rows):
        """The values of the samples, by kind, after a reply with these rows."""
        text = json.dumps({'rows': [{'probe': 'p', 'stack': [{'address': 1, 'inlined': False}], **row}
                                    for row in rows]})
        json.loads(text, object_hook=self.profiles.hook)
        self.now += 1
        return {(profile.kind, profile.unit): [sample.value for sample in profile.samples]
                for profile in self.profiles.take(self.now)}

    def test_a_row_that_was_cleared_begins_at_0(self):
        self.assertEqual(self.take({'count': 5}), {('hits', 'count'): [5]})
        self.assertEqual(self.take({'count': 5}), {})
        self.assertEqual(self.take({'count': 3}), {('hits', 'count'): [3]})
        self.assertEqual(self.take(), {})
        self.assertEqual(self.take({'count': 9}), {('hits', 'count'): [9]})
        self.profiles.forget()
        self.assertEqual(self.take({'count': 10}), {('hits', 'count'): [10]})

    def test_sums_wrap_around_and_durations_are_in_nanoseconds(self):
        row = {'of': 'duration', 'count': 1, 'sum': (1 << 64) - 1}
        self.assertEqual(self.take(row), {('duration', 'nanoseconds'): [-1]})
        self.assertEqual(self.take({**row, 'count': 2, 'sum': 7}), {('duration', 'nanoseconds'): [8]})
        self.assertEqual(self.take({'of': 'arg0', 'count': 1, 'hist': []}), {})

    def test_rows_with_other_keys_or_frames_are_others(self):
        frames = [{'address': 2, 'inlined': False}]
        self.assertEqual(self.take({'count': 5, 'by': {'inlined': 1}}, {'count': 7, 'by': {'inlined': 2}}),
                         {('hits', 'count'): [5, 7]})
        self.assertEqual(self.take({'count': 5, 'by': {'inlined': 1}}, {'count': 8, 'by': {'inlined': 2}},
                                   {'count': 9, 'by': {'inlined': 2}, 'stack': frames}), {('hits', 'count'): [1, 9]})


@support.needs_root
class Restarts(ExporterTest):
    """A saved session's spans, across restarts of the daemon."""

    def setUp(self):
        self.serve()

    def serve(self, *options):
        self.daemon = service_manager.Service(*options)
        self.addCleanup(self.daemon.end)
        self.daemon.start()

    def program(self, *words):
        program = support.Program(support.target(words[0]), *words[1:])
        self.addCleanup(program.end)
        return program

    def call(self, program, times):
        program.send(f'hot_push {times}')
        return program.result()['calls']

    def started(self, *words, calls_of=(), options=('--saved',)):
        """An exporter that has subscribed to a session, and its receiver."""
        self.session_of(*calls_of, options=options)
        return self.exporter_of_s(*words)

    def exporter_of_s(self, *words):
        receiver = self.receiver()
        return self.exporter(receiver, '--session', 's', '--within', '0.1', *words), receiver

    def hears(self, exporter, what):
        self.assertEqual(exporter.stderr.readline(), f'tracectl-otlp: {what}\n')

    def hears_of_the_end(self, exporter):
        self.hears(exporter, 'the daemon has closed the connection; waiting for session s to go on')

    def hears_of_a_restart(self, exporter):
        self.hears_of_the_end(exporter)
        self.hears(exporter, 'session s goes on')

    def ended_without_faults(self, exporter, receiver):
        said = self.ended(exporter)
        self.assertEqual(receiver.faults, [])
        self.assertEqual(len({span['spanId'] for span in receiver.spans}), len(receiver.spans))
        return said

    def test_every_call_is_a_span_over_ten_restarts(self):
        program = self.program('busy')
        exporter, receiver = self.started(calls_of=(program, ('u::busy_cool', 'event, return')))
        program.send('go')
        for _ in range(RESTARTS):
            before = len(receiver.spans)
            support.wait_until(lambda: len(receiver.spans) > before, 'a span')
            self.daemon.restart()
            self.hears_of_a_restart(exporter)
        program.send('stop')
        calls = program.result()['busy_cool']
        said = self.ended_without_faults(exporter, receiver)
        self.assertEqual(len(receiver.spans), calls)
        self.assertIn(f'{calls} spans sent, 0 found the queue full, 0 not delivered, 0 rejected; '
                      '0 events lost', said)

    def test_profiles_go_on_after_a_restart(self):
        program = self.program('hot')
        exporter, receiver = self.started('--profiles', '--profile-every', '0.05',
                                          calls_of=(program, ('u::hot_push', 'count by stack')))
        counted = lambda: sum(sum(stacks_of(profile).values()) for profile in receiver.profiles)
        self.call(program, 100)
        support.wait_until(lambda: counted() == 100, 'a profile')
        self.daemon.restart()
        self.hears_of_a_restart(exporter)
        self.call(program, 50)
        self.ended_without_faults(exporter, receiver)
        self.assertEqual(counted(), 150)

    def test_a_call_that_is_open_at_a_restart_is_one_span_with_what_it_was_called_with(self):
        program = self.program('hot')
        exporter, receiver = self.started(calls_of=(
            program, ('u:libc.so.6:__isoc99_scanf', 'event(arg0), return'), ('u::hot_push', 'event, return')))
        self.call(program, 1)
        support.wait_until(lambda: receiver.spans, 'a span')
        before = time.monotonic_ns()
        self.daemon.restart()
        self.hears_of_a_restart(exporter)
        took = time.monotonic_ns() - before
        self.call(program, 1)
        self.ended_without_faults(exporter, receiver)
        waited, = (span for span in receiver.spans if name_of(span) == '__isoc99_scanf')
        self.assertGreater(int(waited['endTimeUnixNano']) - int(waited['startTimeUnixNano']), took)
        self.assertGreater(attributes(waited)['tracectl.arg.arg0'], 0)

    def test_what_a_daemon_has_sent_is_taken_where_its_end_is_noticed_in_the_midst_of_it(self):
        program = self.program('hot')
        exporter, receiver = self.started(calls_of=(program, ('u::hot_push', 'event, return')))
        exporter.send_signal(signal.SIGSTOP)
        # In a new epoch the exporter asks the daemon again about probes: its first request that fails.
        self.daemon.json('session', 'new', 'other')
        self.daemon.json('stage', 'other', 'set', 'u::hot_nop5', '-p', str(program.pid), '--do', 'count')
        self.daemon.json('commit', 'other')
        calls = self.call(program, 300)
        self.daemon.restart()
        exporter.send_signal(signal.SIGCONT)
        self.hears_of_a_restart(exporter)
        self.ended_without_faults(exporter, receiver)
        self.assertEqual([attributes(span)['tracectl.arg.seq'] for span in receiver.spans],
                         list(range(calls)))

    def test_what_did_not_fit_the_rings_is_told_as_lost(self):
        self.serve(*SMALL_RINGS)
        program = self.program('hot')
        exporter, receiver = self.started(calls_of=(program, ('u::hot_push', 'return')))
        calls = 0
        for _ in range(3):
            calls += self.call(program, BURST)
            self.daemon.finish()
            calls += self.call(program, BURST)
            self.daemon.start()
            # Lines about losses may come before it.
            self.assertIn('tracectl-otlp: session s goes on\n', iter(exporter.stderr.readline, ''))
        said = self.ended_without_faults(exporter, receiver)
        sent, lost = re.search(r'(\d+) spans sent, 0 found the queue full, 0 not delivered, 0 rejected; '
                               r'(\d+) events lost', said).groups()
        self.assertEqual(len(receiver.spans), int(sent))
        self.assertGreater(int(lost), 0)
        self.assertLessEqual(int(sent), calls)
        self.assertGreaterEqual(int(sent) + int(lost), calls)

    def test_a_session_that_begins_anew_is_told_and_what_was_open_is_nobodys_parent(self):
        program = self.program('hot')
        exporter, receiver = self.started(calls_of=(program, ('u::hot_push', 'event, return')))
        calls = self.call(program, 10)
        self.daemon.finish()
        self.hears_of_the_end(exporter)
        self.daemon.forget_what_is_armed()
        self.daemon.start()
        self.assertRegex(exporter.stderr.readline(), r'^tracectl-otlp: session s was begun anew by the next daemon: '
                         r'nothing was traced for at most \d+\.\d{3} s$')
        calls += self.call(program, 10)
        self.ended_without_faults(exporter, receiver)
        self.assertEqual(len(receiver.spans), calls)

    def test_it_is_ended_while_it_waits_and_sends_what_it_has(self):
        program = self.program('hot')
        self.session_of(program, ('u::hot_push', 'event, return'), options=('--saved',))
        for words, number in ((), signal.SIGTERM), (('--for', '3'), None):
            with self.subTest(words=words):
                exporter, receiver = self.exporter_of_s(*words)
                calls = self.call(program, 10)
                support.wait_until(lambda: receiver.spans, 'a span')
                calls += self.call(program, 300)
                self.daemon.finish()
                self.hears_of_the_end(exporter)
                if number:
                    exporter.send_signal(number)
                said = exporter.communicate(timeout=60)[1]
                self.daemon.start()
                self.assertEqual((exporter.returncode, len(receiver.spans)), (0, calls), said)

    def test_it_ends_with_the_daemon_where_nothing_goes_on(self):
        program = self.program('hot')
        for options, words in ((), ()), (('--saved',), ('--reconnect', '0')):
            with self.subTest(options=options):
                exporter, receiver = self.started(*words, options=options, calls_of=(
                    program, ('u::hot_push', 'event, return')))
                calls = self.call(program, 10)
                support.wait_until(lambda: receiver.spans, 'a span')
                calls += self.call(program, 300)
                self.daemon.restart()
                said = exporter.communicate(timeout=60)[1]
                self.assertEqual((exporter.returncode, len(receiver.spans)), (1, calls), said)
                self.assertIn('the daemon has closed the connection', said)

    def test_it_gives_up_where_the_session_is_gone_and_where_no_daemon_comes(self):
        program = self.program('hot')
        exporter, _ = self.started(calls_of=(program, ('u::hot_push', 'return')))
        self.daemon.stop()
        self.hears_of_the_end(exporter)
        self.daemon.start()
        said = exporter.communicate(timeout=60)[1]
        self.assertEqual(exporter.returncode, 1)
        self.assertIn('there is no session "s"', said)
        exporter, _ = self.started('--reconnect', '0.3', calls_of=(program, ('u::hot_push', 'return')))
        self.daemon.finish()
        self.hears_of_the_end(exporter)
        said = exporter.communicate(timeout=60)[1]
        self.assertEqual(exporter.returncode, 1)
        self.assertIn('the daemon does not answer; tried for 0.3 s', said)


class Schema(unittest.TestCase):
    """The receiver above detects what OTLP forbids, one fault at a time."""

    def setUp(self):
        spans = tracectl_spans.Spans('host', lambda hit: hit.probe != 'mark', 'arg0')

        def event(ts, kind, probe, args=(), **more):
            return spans.take(tracectl.Event(
                ts=ts, wall=f'2026-11-21T04:10:45.{ts:09}Z', epoch=1, session='s', cpu=0, pid=1, tid=1,
                comm='c', probe=probe, kind=kind, args=list(args), **more))

        event(1, 'hit', 'f', ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', -1, 1.5])
        for ts in range(2, 200):
            event(ts, 'hit', 'mark')
        self.span = event(200, 'unwound', 'f', duration=199)
        self.request = json.loads(json.dumps(tracectl_spans.request_of([self.span], 'host')))

    def faults_with(self, *place, value):
        """The faults of the request with another value at one place, or, if `value` is None, without that
        member."""
        changed = json.loads(json.dumps(self.request))
        *way, last = place
        inner = functools.reduce(lambda found, name: found[name], way, changed)
        if value is None:
            del inner[last]
        else:
            inner[last] = value
        return list(validator().iter_errors(changed))

    def test_what_is_no_log_record_is_refused(self):
        log = tracectl_spans.log_of(self.span, 1)
        request = json.loads(json.dumps(tracectl_spans.request_of([log], 'host', lists=tracectl_spans.LOGS)))
        kind = 'ExportLogsServiceRequest'
        self.assertEqual(list(validator(kind).iter_errors(request)), [])
        for name, value in (('timeUnixNano', 1), ('severityNumber', 0), ('severityNumber', 'WARN'), ('body', 'text'),
                            ('spanId', '0' * 16), ('traceId', None), ('event_name', 'x'), ('name', 'x')):
            with self.subTest(name=name, value=value):
                changed = json.loads(json.dumps(request))
                record, = changed['resourceLogs'][0]['scopeLogs'][0]['logRecords']
                record[name] = value
                if value is None:
                    del record[name]
                self.assertEqual(len(list(validator(kind).iter_errors(changed))), 1)

    def test_what_is_no_profile_is_refused(self):
        kind = 'ExportProfilesServiceRequest'
        frame = tracectl_profiles.Frame('/bin/x', 'ab', 16, 'f', 'f.c', 3)
        sample = tracectl_profiles.Sample((frame,), 5, (('tracectl.probe', 'p'),))
        profile = tracectl_profiles.Profile('s', 1, 'hits', 'count', 1, 2, [sample])
        request = tracectl_profiles.request_of([profile], 'host')
        self.assertEqual(list(validator(kind).iter_errors(request)), [])
        inside = 'resourceProfiles', 0, 'scopeProfiles', 0, 'profiles', 0
        for place, value in (
                (('dictionary', 'stringTable', 0), 'x'), (('dictionary', 'stackTable', 0), {'locationIndices': [1]}),
                (('dictionary', 'locationTable', 1, 'line'), []), (('dictionary', 'locationTable', 1, 'address'), 16),
                (('dictionary', 'attributeTable', 1, 'key'), 'x'), (('dictionary', 'linkTable'), []),
                ((*inside, 'sample'), []), ((*inside, 'samples', 0, 'values'), [5]), ((*inside, 'timeNanos'), '1'),
                ((*inside, 'samples', 0, 'locationIndices'), [0]), ((*inside, 'sampleType'), [])):
            with self.subTest(place=place):
                changed = json.loads(json.dumps(request))
                found = functools.reduce(lambda found, name: found[name], place[:-1], changed)
                found[place[-1]] = value
                self.assertTrue(list(validator(kind).iter_errors(changed)))

    def test_a_span_with_all_that_we_write_is_taken(self):
        self.assertEqual(list(validator().iter_errors(self.request)), [])
        span, = self.request['resourceSpans'][0]['scopeSpans'][0]['spans']
        self.assertEqual(set(span), {
            'traceId', 'spanId', 'parentSpanId', 'flags', 'name', 'kind', 'startTimeUnixNano',
            'endTimeUnixNano', 'attributes', 'events', 'droppedEventsCount', 'status'})

    def test_what_is_no_span_is_refused(self):
        for name, value in (
                ('traceId', 'S/kvNXezTaajzpKdDg5HNg=='), ('traceId', '0' * 32), ('traceId', '4bf9'),
                ('traceId', None), ('trace_id', '4bf92f3577b34da6a3ce929d0e0e4736'), ('spanId', '0' * 16),
                ('spanId', None), ('parentSpanId', ''), ('parentSpanId', '0' * 16), ('name', ''),
                ('name', None), ('kind', 'SPAN_KIND_INTERNAL'), ('kind', 6), ('kind', 0), ('startTimeUnixNano', 1),
                ('startTimeUnixNano', '-1'), ('endTimeUnixNano', '1e9'), ('endTimeUnixNano', None),
                ('flags', '01'), ('flags', -1), ('droppedEventsCount', -1), ('status', 'STATUS_CODE_ERROR'),
                ('status', {'code': 3}), ('status', {'code': 'STATUS_CODE_ERROR'}),
                ('status', {'description': 'x'}), ('attributes', {'a': 1}), ('events', [{'name': 'x'}]),
                ('duration', 1)):
            with self.subTest(name=name, value=value):
                self.assertTrue(self.faults_with('resourceSpans', 0, 'scopeSpans', 0, 'spans', 0, name,
                                                 value=value))

    def test_what_is_no_value_is_refused(self):
        for value in ({}, 'x', {'intValue': 1}, {'intValue': '1.5'}, {'intValue': '0x1'},
                      {'doubleValue': '1'}, {'boolValue': 'true'}, {'stringValue': 1},
                      {'string_value': 'x'}, {'stringValue': 'x', 'intValue': '1'},
                      {'arrayValue': [{'intValue': '1'}]}):
            with self.subTest(value=value):
                self.assertTrue(self.faults_with(
                    'resourceSpans', 0, 'scopeSpans', 0, 'spans', 0, 'attributes', 0, 'value',
                    value=value))

    def test_what_is_no_request_is_refused(self):
        for place, value in ((['resourceSpans'], None), (['resource_spans'], []),
                             (['resourceSpans', 0, 'scopeSpans'], None),
                             (['resourceSpans', 0, 'instrumentationLibrarySpans'], []),
                             (['resourceSpans', 0, 'resource', 'attributes', 0, 'key'], ''),
                             (['resourceSpans', 0, 'resource', 'attributes', 0, 'key'], None),
                             (['resourceSpans', 0, 'scopeSpans', 0, 'scope', 'name'], 1)):
            with self.subTest(place=place):
                self.assertTrue(self.faults_with(*place, value=value))


class Followed(unittest.TestCase):
    def test_it_keeps_nothing_of_epochs_that_are_over(self):
        spec = importlib.util.spec_from_loader(
            'tracectl_otlp', importlib.machinery.SourceFileLoader('tracectl_otlp', EXPORTER))
        exporter = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(exporter)
        setting = {'session': 's', 'probe': 'p', 'pattern': 'u::p', 'do': 'event, return', 'returns': 'auto'}

        class Daemon:
            def info(self, _):
                return [setting]

        hit = tracectl.Event(ts=0, wall='', epoch=0, session='s', cpu=0, pid=1, tid=1, comm='', probe='p',
                             kind='hit', args=[])
        followed = exporter.Followed(Daemon(), 's')
        hits = [dataclasses.replace(hit, epoch=epoch) for epoch in range(10_000)]
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        for one in hits:
            self.assertTrue(followed(one))
        self.assertLess(tracemalloc.get_traced_memory()[0], 100_000)


class SpansOfEvents(unittest.TestCase):
    """Sequences that no program makes on request."""

    def setUp(self):
        self.now = 0
        self.spans = tracectl_spans.Spans('host', lambda hit: hit.probe != 'mark')

    def event(self, kind, probe, tid=1, **more):
        self.now += 1
        return self.spans.take(tracectl.Event(
            ts=self.now, wall=f'2026-11-21T04:10:45.{self.now:09}Z', epoch=1, session='s', cpu=0, pid=1,
            tid=tid, comm='c', probe=probe, kind=kind, args=[], **more))

    def ended(self, probe, tid=1):
        return self.event('return', probe, tid, duration=1).body

    def test_calls_that_are_open_when_something_is_lost_are_nobodys_parents(self):
        self.event('hit', 'f')
        self.assertIsNone(self.spans.take(tracectl.Lost(ts=9, count=3, cause='ring_full', session='s')))
        self.event('hit', 'g')
        inner = self.ended('g')
        outer = self.ended('f')
        self.assertNotIn('parentSpanId', inner)
        self.assertNotEqual(inner['traceId'], outer['traceId'])
        self.assertEqual(self.spans.lost, 3)

    def test_a_call_whose_end_did_not_come_ends_with_the_one_around_it(self):
        self.event('hit', 'f')
        self.event('hit', 'g')
        outer = self.ended('f')
        self.event('hit', 'h')
        self.assertNotIn('parentSpanId', outer)
        self.assertNotIn('parentSpanId', self.ended('h'))

    def test_threads_have_nothing_to_do_with_each_other(self):
        self.event('hit', 'f', tid=1)
        self.event('hit', 'g', tid=2)
        self.assertNotIn('parentSpanId', self.ended('g', tid=2))
        self.event('hit', 'g', tid=1)
        self.assertIn('parentSpanId', self.ended('g', tid=1))

    def test_a_function_that_calls_itself_is_below_itself(self):
        for _ in range(3):
            self.event('hit', 'f')
        spans = [self.ended('f') for _ in range(3)]
        self.assertEqual([span.get('parentSpanId') for span in spans],
                         [spans[1]['spanId'], spans[2]['spanId'], None])
        self.assertEqual(len({span['traceId'] for span in spans}), 1)

    def test_hits_in_a_call_are_its_events_and_so_many_are_kept(self):
        self.event('hit', 'mark')  # outside of calls
        self.event('hit', 'f')
        for _ in range(200):
            self.event('hit', 'mark')
        span = self.ended('f')
        self.assertEqual((len(span['events']), span['droppedEventsCount']), (128, 72))

    def test_a_time_from_probe_to_probe_is_a_span(self):
        span = self.event('latency', 'to', duration=1).body
        self.assertEqual(int(span['endTimeUnixNano']) - int(span['startTimeUnixNano']), 1)

    def test_wall_clocks_are_read_to_the_nanosecond(self):
        self.assertEqual(tracectl_spans.unix_ns('2009-02-13T23:31:30.123456789Z'), 1234567890123456789)

    def test_values_of_every_kind(self):
        for value, wanted in ((-1, {'intValue': '-1'}), (2 ** 63, {'stringValue': str(2 ** 63)}),
                              (1.5, {'doubleValue': 1.5}), (True, {'boolValue': True}),
                              ('x', {'stringValue': 'x'})):
            self.assertEqual(tracectl_spans.any_value(value), wanted)


class Traceparent(unittest.TestCase):
    """The examples of https://www.w3.org/TR/trace-context/, and texts that it calls invalid."""

    def test_what_is_valid(self):
        text = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
        for one in text, text.replace('00-', '01-', 1) + '-later':
            self.assertEqual(tracectl_spans.context_of_traceparent(one), tracectl_spans.Context(
                '4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7', 1))

    def test_what_is_not(self):
        for text in ('', 'ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
                     '00-00000000000000000000000000000000-00f067aa0ba902b7-01',
                     '00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01',
                     '00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01',
                     '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more',
                     '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7'):
            self.assertIsNone(tracectl_spans.context_of_traceparent(text), text)


if __name__ == '__main__':
    unittest.main()
