# SPDX-License-Identifier: BSD-2-Clause
"""Turns rows by stack into OpenTelemetry profiles, in the JSON of OTLP.

A profile has what was counted between two reads of a session: its values are differences, so the session is not
cleared. Each distinct frame is kept once while a reply is read, and of the rows of the last read only digests and
numbers, because a session has up to 65,536 rows.

The format is not stable yet: opentelemetry-proto, profiles/v1development/profiles.proto, as of its versions 1.9 and
1.10, which are equal in JSON. All stacks, locations, functions, attributes and texts are in tables of the request, of
which the first element is always the empty one.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import typing
from collections.abc import Iterable, Iterator, Sequence

import tracectl_spans
from tracectl_spans import Json

NO_ROW = 0, 0  # count and value


@dataclasses.dataclass(frozen=True)
class Frame:
    module: str = ''
    build_id: str = ''
    address: int = 0  # in the file's own address space; of code in no file: in the process
    function: str = ''
    file: str = ''
    line: int = 0
    inlined: bool = False  # into the next frame


@dataclasses.dataclass(frozen=True)
class Sample:
    frames: tuple[Frame, ...]  # the innermost first
    value: int
    attributes: tuple[tuple[str, object], ...]


@dataclasses.dataclass(frozen=True)
class Profile:
    """The samples of one process, if the rows say which, and of one kind of value."""

    session: str
    pid: int | None
    kind: str
    unit: str
    began_ns: int  # since 1970
    ended_ns: int
    samples: Sequence[Sample]


def frame_of(found: Json) -> Frame:
    return Frame(found.get('module', ''), found.get('build_id', ''), found.get('offset', found.get('address', 0)),
                 found.get('function', ''), found.get('file', ''), found.get('line', 0), found['inlined'])


def values_of(row: Json) -> Iterator[tuple[str, str, int]]:
    """Kind, unit and value of what a row has summed up."""
    if 'of' not in row:
        yield 'hits', 'count', row['count']
    elif 'sum' in row:
        yield row['of'], 'nanoseconds' if row['of'] == 'duration' else 'count', row['sum']


def attributes_of(row: Json) -> tuple[tuple[str, object], ...]:
    keys = {'tracectl.by.' + key: value for key, value in row.get('by', {}).items() if key != 'pid'}
    return tuple({'tracectl.probe': row['probe'], **keys}.items())


def difference(value: int, before: int) -> int:
    """Sums are modulo 2^64, values of samples signed."""
    return (value - before + (1 << 63)) % (1 << 64) - (1 << 63)


class Profiles:
    """Makes profiles of the rows of one session."""

    def __init__(self, session: str, now_ns: int) -> None:
        self._session = session
        self._read_ns = now_ns
        self._frames: dict[Frame, Frame] = {}  # of the reply that is read
        self._before: dict[bytes, tuple[int, int]] = {}  # count and value of rows, by a digest of what they are about
        self._now: dict[bytes, tuple[int, int]] = {}
        self._samples: dict[tuple[int | None, str, str], list[Sample]] = {}

    def hook(self, found: Json) -> typing.Any:
        """The object_hook for a reply to session.read. Only frames have a bool, and only rows a list by these names."""
        if isinstance(found.get('inlined'), bool):
            frame = frame_of(found)
            return self._frames.setdefault(frame, frame)
        if isinstance(found.get('stack'), list):
            self._take(found)
            return None
        return found

    def take(self, now_ns: int) -> list[Profile]:
        """The profiles of the reply that was read, from the reply before until now."""
        profiles = [Profile(self._session, pid, kind, unit, self._read_ns, max(now_ns, self._read_ns), samples)
                    for (pid, kind, unit), samples in self._samples.items()]
        self._read_ns = now_ns
        self._before, self._now = self._now, {}
        self._samples, self._frames = {}, {}
        return profiles

    def forget(self) -> None:
        """After the session was begun anew."""
        self._before.clear()

    def _take(self, row: Json) -> None:
        by = row.get('by', {})
        pid = by.get('pid') if isinstance(by.get('pid'), int) else None
        for kind, unit, value in values_of(row):
            # A row with a lower count than before has been cleared.
            identity = self._identity(row, kind)
            count, before = self._before.get(identity, NO_ROW)
            self._now[identity] = row['count'], value
            changed = difference(value, before if row['count'] >= count else 0)
            if changed:
                self._samples.setdefault((pid, kind, unit), []).append(
                    Sample(tuple(row['stack']), changed, attributes_of(row)))

    @staticmethod
    def _identity(row: Json, kind: str) -> bytes:
        about = [kind, row['probe'], row.get('by'), row.get('stack_end'), [hash(frame) for frame in row['stack']]]
        return hashlib.blake2b(json.dumps(about).encode(), digest_size=16).digest()


T = typing.TypeVar('T')


class Table(typing.Generic[T]):
    """Elements without repetition, which are referred to by their index."""

    def __init__(self, empty: T) -> None:
        self._indices = {empty: 0}

    def index_of(self, element: T) -> int:
        return self._indices.setdefault(element, len(self._indices))

    def __iter__(self) -> Iterator[T]:
        return iter(self._indices)


class Dictionary:
    """The tables of a request. An element is the JSON of its message, as text, because dicts have no hash."""

    def __init__(self) -> None:
        self._texts = Table('')
        self._mappings, self._locations, self._functions = Table('{}'), Table('{}'), Table('{}')
        self._attributes, self._stacks = Table('{}'), Table('{}')

    def text(self, text: str) -> int:
        return self._texts.index_of(text)

    def attribute(self, key: str, value: object) -> int:
        return self._index(self._attributes, {'keyStrindex': self.text(key), 'value': tracectl_spans.any_value(value)})

    def stack(self, frames: Iterable[Frame]) -> int:
        """Inlined frames are lines of the location of the frame that they are inlined into."""
        locations, lines = [], []
        for frame in frames:
            lines.append(frame)
            if not frame.inlined:
                locations.append(self._location(lines))
                lines = []
        if lines:
            locations.append(self._location(lines))
        return self._index(self._stacks, {'locationIndices': locations})

    def message(self) -> Json:
        """A ProfilesDictionary."""
        def read(table: Table[str]) -> list[Json]:
            return [json.loads(element) for element in table]
        return {'mappingTable': read(self._mappings), 'locationTable': read(self._locations),
                'functionTable': read(self._functions), 'linkTable': [{}], 'stringTable': list(self._texts),
                'attributeTable': read(self._attributes), 'stackTable': read(self._stacks)}

    @staticmethod
    def _index(table: Table[str], message: Json) -> int:
        return table.index_of(json.dumps(message))

    def _location(self, lines: Sequence[Frame]) -> int:
        outer = lines[-1]
        return self._index(self._locations, {
            'mappingIndex': self._mapping(outer), 'address': str(outer.address),
            'lines': [{'functionIndex': self._function(frame), 'line': str(frame.line)} for frame in lines
                      if frame.function]})

    def _mapping(self, frame: Frame) -> int:
        if not frame.module:
            return 0
        message: Json = {'filenameStrindex': self.text(frame.module)}
        if frame.build_id:
            message['attributeIndices'] = [self.attribute('process.executable.build_id.gnu', frame.build_id)]
        return self._index(self._mappings, message)

    def _function(self, frame: Frame) -> int:
        return self._index(self._functions, {'nameStrindex': self.text(frame.function),
                                             'filenameStrindex': self.text(frame.file)})


def request_of(profiles: Iterable[Profile], host: str, service: str | None = None, version: str = '') -> Json:
    """An ExportProfilesServiceRequest, with the profiles grouped by process."""
    dictionary = Dictionary()
    groups: dict[int | None, list[Json]] = {}
    for profile in profiles:
        groups.setdefault(profile.pid, []).append(_body_of(profile, dictionary))
    scope = {'name': 'tracectl', 'version': version}
    return {'resourceProfiles': [
        {'resource': {'attributes': tracectl_spans.attributes({'service.name': service, 'host.name': host,
                                                               'process.pid': pid})},
         'scopeProfiles': [{'scope': scope, 'profiles': bodies}]}
        for pid, bodies in groups.items()], 'dictionary': dictionary.message()}


def _body_of(profile: Profile, dictionary: Dictionary) -> Json:
    samples = [{'stackIndex': dictionary.stack(sample.frames), 'values': [str(sample.value)],
                'attributeIndices': [dictionary.attribute(key, value) for key, value in sample.attributes
                                     if value is not None]}
               for sample in profile.samples]
    return {'sampleType': {'typeStrindex': dictionary.text(profile.kind),
                           'unitStrindex': dictionary.text(profile.unit)},
            'samples': samples, 'timeUnixNano': str(profile.began_ns),
            'durationNano': str(profile.ended_ns - profile.began_ns),
            'attributeIndices': [dictionary.attribute('tracectl.session', profile.session)]}
