# SPDX-License-Identifier: BSD-2-Clause
"""Turns events of tracectld into OpenTelemetry spans and log records, in the JSON of OTLP.

A span begins with a hit whose call is followed and ends with the call's return in the same thread. Hits in
between are within it: other calls are its children, other hits its events. The nesting follows from the order
of a thread's events, so after a loss nothing becomes a child of a call that was open before.

The format: opentelemetry-proto, trace/v1/trace.proto, logs/v1/logs.proto and docs/specification.md, "JSON Protobuf
Encoding";
traceparent: https://www.w3.org/TR/trace-context/.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import hashlib
import re
import typing
from collections.abc import Callable, Iterable, Mapping

import tracectl

Json = dict[str, typing.Any]

MOST_OPEN_CALLS = 100_000  # of all threads together
MOST_SPAN_EVENTS = 128

KIND_INTERNAL = 1
STATUS_ERROR = 2
SEVERITY_WARN = 13
SLOW_CALL = 'tracectl.slow_call'

_TRACEPARENT = re.compile(r'([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?')


@dataclasses.dataclass(frozen=True)
class Context:
    """The trace that a span belongs to, and its parent span."""

    trace_id: str             # 32 hexadecimal digits
    parent: str | None = None  # 16 hexadecimal digits
    flags: int | None = None


def digest(digits: int, *parts: object) -> str:
    """This many hexadecimal digits, equal for equal parts, and never all 0."""
    text = '\0'.join(map(str, parts)).encode()
    return hashlib.blake2b(text, digest_size=digits // 2).hexdigest()


def context_of_traceparent(text: str) -> Context | None:
    """None if the text is invalid. Reads version 0, and the known part of later ones; ids must not be all 0."""
    match = _TRACEPARENT.fullmatch(text)
    if not match or match[1] == 'ff' or (match[1] == '00' and match[5]):
        return None
    if not int(match[2], 16) or not int(match[3], 16):
        return None
    return Context(match[2], match[3], int(match[4], 16))


@functools.lru_cache(maxsize=64)
def _second(text: str) -> int:
    moment = datetime.datetime.strptime(text, '%Y-%m-%dT%H:%M:%S')
    return int(moment.replace(tzinfo=datetime.timezone.utc).timestamp())


def unix_ns(wall: str) -> int:
    """2026-11-21T04:10:45.641765954Z as nanoseconds since 1970."""
    return _second(wall[:19]) * 1_000_000_000 + int(wall[20:29])


def any_value(value: object) -> Json:
    """An AnyValue. Integers that do not fit into an int64 become strings."""
    if isinstance(value, bool):
        return {'boolValue': value}
    if isinstance(value, int) and -1 << 63 <= value < 1 << 63:
        return {'intValue': str(value)}
    if isinstance(value, float):
        return {'doubleValue': value}
    return {'stringValue': str(value)}


def attributes(values: Mapping[str, object]) -> list[Json]:
    """A list of KeyValue, without those whose value is None."""
    return [{'key': key, 'value': any_value(value)} for key, value in values.items()
            if value is not None]


@dataclasses.dataclass
class OpenCall:
    hit: tracectl.Event
    span_id: str
    context: Context
    events: list[Json] = dataclasses.field(default_factory=list)
    events_left_out: int = 0


@dataclasses.dataclass(frozen=True)
class Record:
    """A span or a log record."""

    pid: int
    comm: str
    body: Json  # in OTLP's JSON


@dataclasses.dataclass(frozen=True)
class Span(Record):
    duration: int | None  # ns, as of the event that ends it


class Spans:
    """Makes spans from the items of one session, in order."""

    def __init__(self, host: str, is_followed: Callable[[tracectl.Event], bool],
                 trace_id: str | None = None) -> None:
        """host         part of generated ids
        is_followed  returns whether the call that an event begins has a return
        trace_id     the source of trace ids: 'tag', 'argN', or None"""
        self._host = host
        self._is_followed = is_followed
        self._trace_id = trace_id
        self._open: dict[tuple[int, int], list[OpenCall]] = {}  # by pid and tid: the outermost first
        self._open_count = 0
        self._described: dict[str, list[str]] = {}
        self.lost = 0

    def take(self, item: tracectl.Item) -> Span | None:
        """The span that the item ends, or None."""
        if isinstance(item, tracectl.Described):
            self._described[item.probe] = [one['name'] for one in item.args]
            return None
        if isinstance(item, tracectl.Lost):
            self.lost += item.count
            self.forget_open()
            return None
        if item.kind == 'latency':
            return self._span(OpenCall(item, self._new_span_id(item), self._own_context(item)), item)
        if item.kind != 'hit':
            return self._end(item)
        if self._is_followed(item):
            self._begin(item)
        else:
            self._add_event(item)
        return None

    def forget_open(self) -> None:
        """After a loss: open calls may have ended."""
        self._open.clear()
        self._open_count = 0

    # ---- calls ----

    def _begin(self, hit: tracectl.Event) -> None:
        if self._open_count >= MOST_OPEN_CALLS:
            self.forget_open()
        calls = self._open.setdefault((hit.pid, hit.tid), [])
        around = calls[-1] if calls else None
        calls.append(OpenCall(hit, self._new_span_id(hit), self._context(hit, around)))
        self._open_count += 1

    def _end(self, end: tracectl.Event) -> Span:
        """Also drops the calls within it whose ends did not come."""
        calls = self._open.get((end.pid, end.tid), [])
        for place in reversed(range(len(calls))):
            if self._is_end_of(calls[place].hit, end):
                call = calls[place]
                self._open_count -= len(calls) - place
                del calls[place:]
                if not calls:
                    del self._open[end.pid, end.tid]
                return self._span(call, end)
        # Its beginning was lost, or before tracing began.
        return self._span(OpenCall(end, self._new_span_id(end), self._own_context(end)), end)

    @staticmethod
    def _is_end_of(hit: tracectl.Event, end: tracectl.Event) -> bool:
        if hit.call or end.call:
            return hit.call == end.call
        return hit.probe == end.probe

    def _add_event(self, hit: tracectl.Event) -> None:
        calls = self._open.get((hit.pid, hit.tid))
        if not calls:
            return
        if len(calls[-1].events) == MOST_SPAN_EVENTS:
            calls[-1].events_left_out += 1
            return
        calls[-1].events.append({'timeUnixNano': str(unix_ns(hit.wall)), 'name': hit.probe,
                                 'attributes': attributes(self._arguments(hit))})

    # ---- ids ----

    def _new_span_id(self, event: tracectl.Event) -> str:
        return digest(16, self._host, event.pid, event.tid, event.ts, event.probe, event.kind)

    def _context(self, hit: tracectl.Event, around: OpenCall | None) -> Context:
        """The trace that the hit names, else that of the call around it, else a new one."""
        named = self._named_context(hit)
        if around is None:
            return named or self._own_context(hit)
        if named and named.trace_id != around.context.trace_id:
            return named
        return Context(around.context.trace_id, around.span_id, around.context.flags)

    def _own_context(self, event: tracectl.Event) -> Context:
        return self._named_context(event) or Context(
            digest(32, self._host, event.pid, event.tid, event.ts))

    def _named_context(self, event: tracectl.Event) -> Context | None:
        if self._trace_id == 'tag':
            return self._context_of_tag(event.tag)
        if self._trace_id:
            number = int(self._trace_id.removeprefix('arg'))
            text = event.args[number] if number < len(event.args) else None
            return context_of_traceparent(text) if isinstance(text, str) else None
        return None

    @staticmethod
    def _context_of_tag(tag: str | None) -> Context | None:
        """A tag is shorter than a trace id: equal tags make the same trace."""
        return Context(digest(32, tag)) if tag else None

    # ---- spans ----

    def _arguments(self, event: tracectl.Event) -> Json:
        names = self._described.get(event.probe, [])
        if len(names) != len(event.args):
            names = [f'arg{i}' for i in range(len(event.args))]
        return {'tracectl.arg.' + name: value for name, value in zip(names, event.args)}

    @staticmethod
    def _begin_ns(call: OpenCall, end: tracectl.Event) -> int:
        """Durations leave out what the probes took; calls within it began and ended with that."""
        end_ns = unix_ns(end.wall)
        if call.hit is end:
            return end_ns - (end.duration or 0)
        return min(unix_ns(call.hit.wall), end_ns)  # the wall clock may have been set back

    def _span(self, call: OpenCall, end: tracectl.Event) -> Span:
        end_ns = unix_ns(end.wall)
        arguments = self._arguments(call.hit) or self._arguments(end)
        body: Json = {'traceId': call.context.trace_id, 'spanId': call.span_id, 'name': end.probe,
                'kind': KIND_INTERNAL, 'startTimeUnixNano': str(self._begin_ns(call, end)),
                'endTimeUnixNano': str(end_ns),
                'attributes': attributes({
                    **arguments, 'tracectl.duration_ns': end.duration, 'tracectl.retval': end.retval,
                    'tracectl.retval_is': end.retval_is, 'tracectl.session': end.session,
                    'tracectl.tag': call.hit.tag, 'thread.id': end.tid, 'thread.name': end.comm})}
        if call.context.parent:
            body['parentSpanId'] = call.context.parent
        if call.context.flags is not None:
            body['flags'] = call.context.flags
        if call.events:
            body['events'] = call.events
        if call.events_left_out:
            body['droppedEventsCount'] = call.events_left_out
        if end.kind == 'unwound':
            body['status'] = {'code': STATUS_ERROR, 'message': 'it was left without a return'}
        return Span(end.pid, end.comm, body, end.duration)


def log_of(span: Span, observed_ns: int) -> Record:
    """A LogRecord that says how long the call took, with the attributes of its span."""
    body = {'timeUnixNano': span.body['endTimeUnixNano'], 'observedTimeUnixNano': str(observed_ns),
            'severityNumber': SEVERITY_WARN, 'severityText': 'WARN', 'eventName': SLOW_CALL,
            'body': {'stringValue': f'{span.body["name"]} took {(span.duration or 0) / 1e6:.6g} ms'},
            'attributes': span.body['attributes'], 'traceId': span.body['traceId'], 'spanId': span.body['spanId']}
    if 'flags' in span.body:
        body['flags'] = span.body['flags']
    return Record(span.pid, span.comm, body)


# Each as the names of its lists in a request, from the outermost on.
SPANS = 'resourceSpans', 'scopeSpans', 'spans'
LOGS = 'resourceLogs', 'scopeLogs', 'logRecords'


def request_of(records: Iterable[Record], host: str, service: str | None = None, version: str = '',
               lists: tuple[str, str, str] = SPANS) -> Json:
    """An ExportTraceServiceRequest or an ExportLogsServiceRequest, with the records grouped by process."""
    by_resource, by_scope, of_all = lists
    groups: dict[tuple[int, str], list[Json]] = {}
    for record in records:
        groups.setdefault((record.pid, service or record.comm), []).append(record.body)
    scope = {'name': 'tracectl', 'version': version}
    return {by_resource: [
        {'resource': {'attributes': attributes({'service.name': name, 'host.name': host,
                                                'process.pid': pid})},
         by_scope: [{'scope': scope, of_all: bodies}]}
        for (pid, name), bodies in groups.items()]}
