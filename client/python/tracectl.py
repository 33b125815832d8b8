# SPDX-License-Identifier: BSD-2-Clause
"""A client of tracectld: its protocol (tracectl-protocol(7)) for Python 3.9 and later.

One file that needs only the standard library: it can be copied next to a program that uses it.

    import tracectl

    with tracectl.connect() as daemon, daemon.session() as session:
        session.set(['usdt::python:gc__*'], tracectl.target(pids=[4711]))
        session.subscribe()
        session.commit()
        for item in session.events():
            if isinstance(item, tracectl.Lost):
                print(item.count, 'events are missing here:', item.cause)
            else:
                print(item.ts, item.probe, item.args)

Methods return the daemon's results: dicts and lists as described in tracectl-protocol(7); `tracectl schema`
prints their JSON Schema. Times from the daemon are in nanoseconds, times passed to this module are in seconds.

Threads: a connection and its sessions must be used by one thread at a time. Threads that run concurrently
make a connection each; a named session can be opened in all of them.

Errors: `Refused` if the daemon answers with an error, `Disconnected` if it is absent or goes away. Both are a
tracectl.Error. Errors of the kernel about a descriptor to be passed are an OSError.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import importlib
import json
import os
import select
import socket
import time
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = ['connect', 'target', 'frame_of', 'Connection', 'Session', 'Event', 'Lost', 'Described', 'Item', 'Error',
           'Refused', 'Disconnected', 'DEFAULT_SOCKET']

DEFAULT_SOCKET = '/run/tracectl/tracectl.sock'

_MOST_REQUEST_BYTES = 1 << 20   # the daemon's limit
_MOST_ANSWER_BYTES = 64 << 20
_CHUNK_BYTES = 256 << 10
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.02, 1  # between attempts to reach an absent daemon

_Json = dict[str, typing.Any]  # an object of the protocol
_ObjectHook = typing.Optional[typing.Callable[[_Json], typing.Any]]


class _HasFileno(typing.Protocol):
    def fileno(self) -> int: ...


_Descriptor = typing.Union[int, _HasFileno]


class Error(Exception):
    """An error between this program and the daemon."""


class Disconnected(Error):
    """No daemon listens, or it has closed the connection, or its answer did not come in time. The connection cannot be
    used any more, until Session.rejoin(); but Session.pending() and Session.events() still return what the daemon had
    sent before it closed the connection."""


class Refused(Error):
    """The daemon's answer to a request is an error; nothing was changed.

    code     its number: 1 to 7, or a JSON-RPC code for a malformed request
    name     the code's name: invalid, not_found, denied, busy, exhausted, unsupported, kernel
    message  the error and its remedy
    data     a dict: `code`, and if known `field`, `text` and `column`, the offset in bytes of the error in
             the text
    """

    def __init__(self, error: _Json) -> None:
        super().__init__(error['message'])
        self.code: int = error['code']
        self.message: str = error['message']
        self.data: _Json = error.get('data', {})
        self.name: str = self.data.get('code', '')


@dataclasses.dataclass(frozen=True)
class Event:
    """A hit of a probe, the end of a call, or a latency from one probe to another. Missing values are None. Members:
    tracectl-protocol-events(7), NOTIFICATIONS."""

    ts: int        # ns since boot
    wall: str      # RFC 3339, UTC
    epoch: int
    session: str
    cpu: int
    pid: int
    tid: int
    comm: str
    probe: str
    kind: str      # hit, return, unwound, latency
    args: list[typing.Any]
    call: int | None = None
    depth: int | None = None
    retval: int | float | str | None = None
    retval_is: str | None = None  # what retval is, if no value of the function's type
    duration: int | None = None  # ns, and its parts in which the thread waited for a CPU, and for anything else:
    runnable: int | None = None
    blocked: int | None = None
    stack: list[typing.Any] | None = None
    stack_by: str | None = None
    stack_end: str | None = None
    tag: str | None = None


@dataclasses.dataclass(frozen=True)
class Lost:
    """Takes the place of `count` missing events."""

    ts: int        # ns since boot
    count: int
    cause: str     # ring_full, slow_client, held_full
    session: str
    cpu: int | None = None


@dataclasses.dataclass(frozen=True)
class Described:
    """Describes the arguments of a probe's events, for subscriptions with `describe`."""

    session: str
    probe: str
    args: list[_Json]
    result: _Json | None = None


Item = typing.Union[Event, Lost, Described]  # of Session.events() and Session.pending()

_ITEMS: dict[str, type[Item]] = {'event': Event, 'lost': Lost, 'probe': Described}
_MEMBERS = {item: {field.name for field in dataclasses.fields(item)} for item in _ITEMS.values()}


def _item(notification: _Json) -> Item | None:
    """None for an unknown kind of item, from a later daemon; unknown members are left out."""
    kind = _ITEMS.get(notification['method'])
    if not kind:
        return None
    members = _MEMBERS[kind]
    return kind(**{name: value for name, value in notification['params'].items() if name in members})


def target(pids: Iterable[int] = (), executables: Iterable[str] = (), everything: bool = False,
           follow: str | None = None, units: Iterable[str] = (), cgroups: Iterable[str] = (),
           containers: Iterable[str] = (), pods: Iterable[str] = (), container_cgroups: Iterable[str] = ()) -> _Json:
    """The processes in which probes fire.

    pids         process ids
    executables  absolute paths: every process that runs one of them, now or later
    units        names of systemd units, 'ssh.service': every process of them, now or later
    cgroups      of cgroup version 2, as '/system.slice/ssh.service': every process in them, now or later
    everything   every process that has the probe's file mapped
    follow       'children' or 'first_child': also those that the processes in `pids` fork later

    Containers have names outside of the kernel, so the daemon only keeps these, for tracectl-join(1): while that runs, it
    finds the containers that run, and those that are created later.

    containers   names of containers
    pods         names of pods of Kubernetes, 'NAMESPACE/NAME'
    container_cgroups   the cgroups of those of them that run now, which are then traced without `tracectl join`
    """
    chosen: _Json = {name: list(values) for name, values in (
        ('pids', pids), ('executables', executables), ('units', units), ('cgroups', cgroups)) if values}
    named = {name: list(values) for name, values in (
        ('names', containers), ('pods', pods), ('cgroups', container_cgroups)) if values}
    if named:
        chosen['containers'] = named
    if everything:
        chosen['all'] = True
    if follow:
        chosen['follow'] = follow
    return chosen


def connect(path: str | None = None, timeout_s: float | None = 60) -> Connection:
    """A Connection to the daemon that listens on `path`: if None, on $TRACECTL_SOCKET, else on
    DEFAULT_SOCKET.

    timeout_s  the timeout for answers; None: no timeout. Commits of many thousand probes take seconds.
    Raises Disconnected if no daemon listens, and PermissionError if this user may not connect.
    """
    return Connection(path, timeout_s)


def _connected(path: str, may_wait: bool = True) -> socket.socket:
    """A connected socket. `may_wait`: wait if the daemon's queue of connections is full."""
    it = socket.socket(socket.AF_UNIX)
    try:
        it.setblocking(may_wait)
        it.connect(path)
        it.setblocking(True)
        return it
    except (FileNotFoundError, ConnectionRefusedError) as error:
        it.close()
        raise Disconnected(f'no daemon listens on {path}') from error
    except BlockingIOError as error:
        it.close()
        raise Disconnected(f'too many wait for the daemon on {path}') from error
    except BaseException:
        it.close()
        raise


def _has_any(files: Iterable[_Descriptor], end: float | None) -> bool:
    """Waits until one of the files is readable; False if none is at `end`. `end` None: no timeout."""
    wait_ms = None if end is None else max(0, int((end - time.monotonic()) * 1000 + 0.999))
    poll = select.poll()
    for file in files:
        poll.register(file, select.POLLIN)
    return bool(poll.poll(wait_ms))


@contextlib.contextmanager
def _opened(paths: Iterable[str | os.PathLike[str]]) -> Iterator[list[int]]:
    """Descriptors of these files, open while they are sent."""
    with contextlib.ExitStack() as closing:
        descriptors: list[int] = []
        for path in paths:
            descriptors.append(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
            closing.callback(os.close, descriptors[-1])
        yield descriptors


_MOST_PROOFS = 128  # of one request, its files included


@contextlib.contextmanager
def _memories(pids: Iterable[int]) -> Iterator[list[int]]:
    """Descriptors of the memory of these processes, which prove that the kernel lets this user trace them. Processes
    that the kernel refuses, or that have ended, are left out: the daemon reports those that are missing."""
    with contextlib.ExitStack() as closing:
        descriptors: list[int] = []
        for pid in pids:
            try:
                descriptors.append(os.open(f'/proc/{pid}/mem', os.O_RDONLY | os.O_CLOEXEC))
            except OSError:
                continue
            closing.callback(os.close, descriptors[-1])
        yield descriptors


def _pids_of(target: _Json | None, most: int) -> list[int]:
    return list((target or {}).get('pids', ()))[:max(most, 0)]


def _within_message(object_hook: _ObjectHook) -> _ObjectHook:
    """The hook, but not for the message object itself."""
    if object_hook is None:
        return None
    hook = object_hook
    return lambda found: found if 'jsonrpc' in found else hook(found)


def _without_none(params: _Json) -> _Json:
    return {name: value for name, value in params.items() if value is not None}


# ---- pandas ----

# tracectl-protocol-results(7)
_ROW_MEMBERS = {'probe', 'demangled', 'of', 'by', 'count', 'sum', 'min', 'max', 'avg', 'hist', 'step', 'unread', 'self',
                'probes', 'running', 'runnable', 'blocked', 'unsplit', 'unwound', 'stack', 'stack_by', 'stack_end',
                'caller'}


def _pandas() -> typing.Any:
    try:
        return importlib.import_module('pandas')
    except ImportError as error:
        raise ImportError('a frame needs pandas: apt install python3-pandas, or pip install pandas') from error


def _cells_of_row(row: _Json) -> _Json:
    """By name of the column: those that say what the row is about come first."""
    cells = {name: row[name] for name in ('probe', 'of') if name in row}
    for key, value in row.get('by', {}).items():
        while key in _ROW_MEMBERS:
            key += '_'
        cells[key] = value
    return {**cells, **{name: value for name, value in row.items() if name != 'by'}}


def _cells_of_item(item: Event | Lost) -> _Json:
    cells = {field.name: getattr(item, field.name) for field in dataclasses.fields(item)}
    if isinstance(item, Lost):
        return {**cells, 'kind': 'lost'}
    del cells['args']
    return {**cells, **{f'arg{number}': value for number, value in enumerate(item.args)}}


def _frame(pandas: typing.Any, lines: Sequence[_Json], least: Sequence[str]) -> typing.Any:
    """A DataFrame of these lines, each with its cells by column; with the columns `least` also if there are none."""
    names = dict.fromkeys([name for line in lines for name in line] or least)
    return pandas.DataFrame({name: _column(pandas, [line.get(name) for line in lines]) for name in names})


def _column(pandas: typing.Any, values: Sequence[typing.Any]) -> typing.Any:
    """Where pandas chooses, integers become floats if one is missing, and lose digits."""
    numbers = [value for value in values if type(value) is int]
    if len(numbers) == sum(value is not None for value in values) and numbers:
        if -1 << 63 <= min(numbers) and max(numbers) < 1 << 63:
            return pandas.array(values, dtype='Int64')
        if min(numbers) >= 0 and max(numbers) < 1 << 64:
            return pandas.array(values, dtype='UInt64')
    return pandas.Series(values, dtype=object if numbers or not values else None)


def frame_of(items: Iterable[Item]) -> typing.Any:
    """Events as a pandas.DataFrame: a column for each member of Event, with `arg0` and so on in place of `args`. A Lost
    is a row, too, whose `kind` is 'lost', with `count` and `cause`; Described are left out.
    Raises ImportError if pandas is not installed."""
    lines = [_cells_of_item(item) for item in items if not isinstance(item, Described)]
    return _frame(_pandas(), lines, [field.name for field in dataclasses.fields(Event) if field.name != 'args'])


# ---- the daemon ----


class Connection:
    """A connection to the daemon, for one thread at a time. As a context manager it is closed at the end, which ends
    its subscriptions and its unnamed sessions."""

    def __init__(self, path: str | None = None, timeout_s: float | None = 60) -> None:
        self.path = path or os.environ.get('TRACECTL_SOCKET') or DEFAULT_SOCKET
        self.timeout_s = timeout_s
        self._socket = _connected(self.path)
        self._received = bytearray()
        self._looked_at = 0  # bytes known to have no end of line
        self._last_id = 0
        self._items: dict[str, collections.deque[Item]] = collections.defaultdict(collections.deque)  # by session

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection; may be called again."""
        self._socket.close()

    @property
    def is_open(self) -> bool:
        """Requests can be made."""
        return self._socket.fileno() >= 0

    def fileno(self) -> int:
        """For select() and poll(): readable when something has come. Items that were received together with the answer
        to a call do not count: check Session.pending() first."""
        return self._socket.fileno()

    @typing.overload
    def call(self, method: str, params: _Json | None = None, descriptors: Iterable[_Descriptor] = ()) -> _Json: ...

    @typing.overload
    def call(self, method: str, params: _Json | None = None, descriptors: Iterable[_Descriptor] = (),
             object_hook: _ObjectHook = None) -> typing.Any: ...

    def call(self, method: str, params: _Json | None = None, descriptors: Iterable[_Descriptor] = (),
             object_hook: _ObjectHook = None) -> typing.Any:
        """Calls any method of the protocol; returns its result.

        params       a dict that json can write; the daemon refuses unknown members
        descriptors  open files that are sent with the request, as numbers or as objects with fileno(); they
                     still belong to the caller
        object_hook  as for json.loads(): replaces each object of the result, the inner ones first, so that a
                     large result need not be kept as a whole. It is also called with objects of
                     notifications: do not use it on a connection that has subscribed
        Raises Refused, Disconnected, and ValueError for a request of more than 1 MiB.
        """
        line = self._line_of(method, params or {})
        end = None if self.timeout_s is None else time.monotonic() + self.timeout_s
        numbers = [one if isinstance(one, int) else one.fileno() for one in descriptors]
        try:
            self._send(line, numbers)
            return self._answer(end, object_hook)
        except Refused:
            raise
        except BaseException:
            self.close()  # the answer, if it still comes, must not answer the next request
            raise

    # ---- the daemon ----

    def hello(self) -> _Json:
        """The daemon: its name, version, protocol and methods."""
        return self.call('hello')

    def status(self) -> _Json:
        """The daemon's current state."""
        return self.call('daemon.status')

    def stats(self) -> _Json:
        """The daemon's own counters."""
        return self.call('daemon.stats')

    def doctor(self) -> _Json:
        """The capabilities of this kernel."""
        return self.call('daemon.doctor')

    # ---- probes ----

    def probes(self, patterns: Iterable[str], target: _Json | None = None, scope: str | None = None,
               files: Sequence[str | os.PathLike[str]] = ()) -> _Json:
        """The probes that can be traced: `probes`, `refused`, `total_probes`, `total_sites`. Arms nothing.

        scope  'local', also if None: every function with a symbol; 'global': exported ones; 'inlined': copies, too
        files  as in Session.set()
        """
        pids = _pids_of(target, _MOST_PROOFS - len(files))
        with _opened(files) as descriptors, _memories(pids) as memories:
            return self.call('probe.list', _without_none(
                {'patterns': list(patterns), 'target': target, 'scope': scope,
                 'files': list(files) or None, 'proofs': len(memories) or None}),
                             descriptors + memories)

    def info(self, pattern: str) -> list[_Json]:
        """The settings of armed probes whose names match the pattern, with their sessions: a list."""
        settings: list[_Json] = self.call('probe.info', {'pattern': pattern})['settings']
        return settings

    # ---- sessions ----

    def sessions(self) -> list[_Json]:
        """All sessions that this user may see: a list of dicts."""
        sessions: list[_Json] = self.call('session.list')['sessions']
        return sessions

    def session(self, name: str | None = None, budget: float | None = None,
                recorder: Mapping[str, float] | None = None) -> Session:
        """Creates a session, and returns it as a Session.

        name      the session outlives this connection; if None it ends with the connection
        budget    the limit for the cost of its hits, in percent of one CPU; probes that cost more are left out
        recorder  {'bytes': ..., 'seconds': ...}: it keeps its last events in memory
        Raises Refused: busy if a session of this name exists.
        """
        made = self.call('session.create', _without_none(
            {'name': name, 'budget': budget, 'recorder': recorder}))
        return Session(self, made['name'], is_named=name is not None)

    def open_session(self, name: str) -> Session:
        """An existing Session. Raises Refused: not_found if there is none."""
        shown = self.call('session.show', {'session': name})
        return Session(self, name, is_named=shown['named'])

    # ---- internals ----

    def _line_of(self, method: str, params: _Json) -> bytes:
        self._last_id += 1
        message = {'jsonrpc': '2.0', 'id': self._last_id, 'method': method, 'params': params}
        line = json.dumps(message).encode() + b'\n'
        if len(line) > _MOST_REQUEST_BYTES:
            raise ValueError(f'a request has at most {_MOST_REQUEST_BYTES} bytes, and {method} would '
                             f'have {len(line)}')
        return line

    def _check_open(self) -> None:
        if not self.is_open:
            raise Disconnected('the connection has been closed')

    def _send(self, line: bytes, descriptors: Sequence[int]) -> None:
        self._check_open()
        try:
            sent = 0
            if descriptors:
                sent = socket.send_fds(self._socket, [line], descriptors, socket.MSG_NOSIGNAL)
            self._socket.sendall(line[sent:], socket.MSG_NOSIGNAL)
        except (BrokenPipeError, ConnectionResetError) as error:
            self._receive_rest()
            raise Disconnected('the daemon has closed the connection') from error

    def _receive_rest(self) -> None:
        """Receives what the daemon had sent before it closed the connection."""
        with contextlib.suppress(Disconnected):
            while self._receive(time.monotonic()):
                pass

    def _answer(self, end: float | None, object_hook: _ObjectHook = None) -> typing.Any:
        while True:
            message = self._message(end, object_hook)
            if message is None:
                raise Disconnected('the daemon has not answered in time')
            if 'id' not in message:
                self._keep(message)
                continue
            if message['id'] not in (self._last_id, None):
                raise Disconnected('the daemon has answered something that was not asked')
            if 'error' in message:
                raise Refused(message['error'])
            return message['result']

    def _keep(self, notification: _Json) -> None:
        item = _item(notification)
        if item is not None:
            self._items[item.session].append(item)

    def _message(self, end: float | None, object_hook: _ObjectHook = None) -> typing.Any:
        """The next message, or None if none has come at `end`."""
        while True:
            line_end = self._received.find(b'\n', self._looked_at)
            if line_end >= 0:
                return json.loads(self._take_line(line_end), object_hook=_within_message(object_hook))
            self._looked_at = len(self._received)
            if self._looked_at > _MOST_ANSWER_BYTES:
                raise Disconnected('the daemon sends a line without an end')
            if not self._receive(end):
                return None

    def _take_line(self, line_end: int) -> str:
        """Returns the text of a line. Lines can be long, so the received bytes are deleted."""
        with memoryview(self._received) as received, received[:line_end] as line:
            text = str(line, 'utf-8')
        del self._received[:line_end + 1]
        self._looked_at = 0
        return text

    def _receive(self, end: float | None) -> bool:
        self._check_open()
        if not _has_any([self._socket], end):
            return False
        try:
            chunk = self._socket.recv(_CHUNK_BYTES)
        except ConnectionResetError:
            chunk = b''
        if not chunk:
            raise Disconnected('the daemon has closed the connection')
        self._received += chunk
        return True

    def _take(self, session: str, end: float | None) -> Item | None:
        """The session's next item, or None if none has come at `end`."""
        items = self._items[session]
        while not items:
            message = self._message(end)
            if message is None:
                return None
            self._keep(message)
        return items.popleft()

    def _take_all(self, session: str) -> list[Item]:
        """Receives at most one chunk from the socket, where more could arrive endlessly."""
        closed = None
        try:
            self._receive(time.monotonic())
        except Disconnected as error:
            closed = error
        self._keep_received()
        items = list(self._items[session])
        self._items[session].clear()
        if closed and not items:
            raise closed
        return items

    def _keep_received(self) -> None:
        while b'\n' in self._received:
            self._keep(self._message(time.monotonic()))

    # ---- the next daemon ----

    def _join_next(self, method: str, params: _Json, end: float, stops: Sequence[_Descriptor]) -> bool:
        """Connects to the next daemon, and waits for its answer: a listening socket that outlives daemons accepts
        connections also while none runs. False if one of `stops` becomes readable first."""
        self._receive_rest()
        self._keep_received()
        self._received.clear()  # an incomplete line of the previous daemon
        self._looked_at = 0
        self.close()
        self._socket = _connected(self.path, may_wait=False)
        try:
            self._send(self._line_of(method, params), [])
            if not _has_any([self._socket, *stops], end):
                raise Disconnected('the daemon does not answer')
            if _has_any(stops, time.monotonic()):
                self.close()
                return False
            self._answer(end)
            return True
        except Refused:
            raise
        except BaseException:
            self.close()
            raise


class Session:
    """A set of settings with their results: the unit of work with the daemon. As a context manager, it is deleted at
    the end if it is unnamed; a named one stays. Must be used in the thread of its connection."""

    def __init__(self, connection: Connection, name: str, is_named: bool) -> None:
        self.connection = connection
        self.name = name
        self.is_named = is_named
        self._describe = False

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        if not self.is_named and self.connection.is_open:
            try:
                self.delete()
            except Disconnected:
                pass  # the session has ended with the connection
            except Refused as refused:
                if refused.name != 'not_found':  # it was deleted in the block
                    raise

    def call(self, method: str, params: _Json | None = None, descriptors: Iterable[_Descriptor] = ()) -> _Json:
        """Connection.call() with this session's name, for methods that take a session."""
        return self.connection.call(method, {'session': self.name, **(params or {})}, descriptors)

    def show(self) -> _Json:
        """Its settings, its draft, its counts."""
        return self.call('session.show')

    def set(self, patterns: Iterable[str], target: _Json | None, do: str | None = None, when: str | None = None,
            scope: str | None = None, returns: str | None = None, files: Sequence[str | os.PathLike[str]] = (),
            **others: typing.Any) -> _Json:
        """Adds settings to the draft: stage.set. They take effect at commit().

        target   from target()
        do       what a hit does: 'event', if None; 'count by tid', 'time', 'hist(arg2)', 'return'
        when     the condition under which it does that
        returns  how returns are seen: 'auto', 'exits', 'trampoline'
        files    absolute paths of the files in which the patterns are searched. They are opened here, with
                 this user's rights: the daemon opens none for users who may trace only their own processes
        others   further members of stage.set; `from_` stands for from, which is a Python keyword
        Raises Refused: data has the position of an error in a pattern or expression; and OSError for a file
        that cannot be opened.
        """
        members = {name.rstrip('_'): value for name, value in others.items()}
        self.prove((target or {}).get('pids', ()))
        with _opened(files) as descriptors:
            return self.call('stage.set', _without_none(
                {'patterns': list(patterns), 'target': target, 'do': do, 'when': when,
                 'scope': scope, 'returns': returns, 'files': list(files) or None, **members}),
                             descriptors)

    def prove(self, pids: Iterable[int] = ()) -> _Json:
        """Proves that the kernel lets this user trace these processes: session.prove. A session of a user who may not
        trace every process sees only proven processes and those that they fork; an exec ends a proof. set() does this
        for the `pids` of its target. Returns `needed`, `proven`, `unproven`, and `wanted`: the processes that were seen
        and left out since the last call."""
        left = list(pids)
        while True:
            some, left = left[:_MOST_PROOFS], left[_MOST_PROOFS:]
            with _memories(some) as memories:
                answer: _Json = self.call('session.prove', {'proofs': len(memories)}, memories)
            if not left:
                return answer

    def remove(self, patterns: Iterable[str], target: _Json | None = None, scope: str | None = None) -> _Json:
        """Removes settings from the draft: stage.remove."""
        return self.call('stage.remove', _without_none(
            {'patterns': list(patterns), 'target': target, 'scope': scope}))

    def commit(self, partial: bool = False, dry_run: bool = False, strict: bool = False) -> _Json:
        """Switches to the draft, in one atomic step; returns what it covers and what it cost.

        Sites that are refused fail it, unless they fit a glob that fits others, too: they are left out then.

        partial  leaves out all of them
        strict   leaves out none of them
        dry_run  reports what would be done, and does nothing
        Raises Refused, and then the previous settings stay in force.
        """
        return self.call('stage.commit', {'partial': partial, 'strict': strict, 'dry_run': dry_run})

    def abort(self) -> None:
        """Discards the draft."""
        self.call('stage.abort')

    def pause(self) -> _Json:
        """Stops counting and streaming, in one step; counters are kept."""
        return self.call('session.pause')

    def resume(self) -> _Json:
        """Resumes counting and streaming, in one step."""
        return self.call('session.resume')

    def restart(self) -> _Json:
        """Sets the counters to zero and resumes, in one step."""
        return self.call('session.restart')

    def read(self, clear: bool = False) -> _Json:
        """The results so far: `rows` and totals. With `clear` the counters are zeroed in the same atomic step."""
        return self.call('session.read', {'clear': clear})

    def frame(self, clear: bool = False) -> typing.Any:
        """The rows of read() as a pandas.DataFrame: a column for each member, and one for each key of `by`, named by
        its expression, with `_` added where a member has that name. Integers are exact also where some are missing.
        Raises ImportError if pandas is not installed."""
        pandas = _pandas()
        return _frame(pandas, [_cells_of_row(row) for row in self.read(clear)['rows']], ['probe', 'count'])

    def delete(self) -> _Json:
        """Deletes the session with its settings and results."""
        return self.call('session.delete')

    def subscribe(self, describe: bool = False) -> None:
        """From now on the session's events come to this connection; with `describe` also the names and types of their
        arguments. Received events are kept in this process until events() or pending() returns them: take them in time,
        or the daemon runs out of room and reports the losses as Lost."""
        self._describe = describe
        self.call('session.subscribe', {'describe': describe})

    def unsubscribe(self) -> None:
        """Stops the events; those that were received are kept."""
        self.call('session.unsubscribe')

    def flush(self) -> int:
        """When this returns, every event that fired before the call is in pending(). Returns the time of the flush, in
        ns since boot."""
        flushed_ns: int = self.call('session.flush')['ts']
        return flushed_ns

    def events(self, timeout_s: float | None = None) -> Iterator[Item]:
        """Yields Event, Lost and, if wanted, Described, in time order, as they come: for ever, or until none has come
        for `timeout_s`. Raises Disconnected when the daemon ends."""
        while True:
            end = None if timeout_s is None else time.monotonic() + timeout_s
            item = self.connection._take(self.name, end)
            if item is None:
                return
            yield item

    def pending(self) -> list[Item]:
        """A list of those items of events() that have come; does not wait."""
        return self.connection._take_all(self.name)

    def rejoin(self, patience_s: float = 10, stop: _Descriptor | None = None) -> bool:
        """After the daemon's end: connects to the next daemon, and subscribes to this session as before,
        because a saved session goes on there. Its events continue with the first record that the previous
        daemon had not delivered, after what is still in pending(). Other sessions of the connection have lost
        their subscriptions; show() lists what has not been continued of this one, and any gap.

        patience_s  how long it tries
        stop        an object with fileno(); when it becomes readable, the waiting ends
        Returns False in that case. Raises Refused, not_found if the session does not go on, and Disconnected
        at the end of `patience_s`: it can be called again.
        """
        request = {'session': self.name, 'describe': self._describe}
        stops = [] if stop is None else [stop]
        give_up, pause_s = time.monotonic() + patience_s, _FIRST_PAUSE_S
        while True:
            try:
                return self.connection._join_next('session.subscribe', request, give_up, stops)
            except Disconnected as error:
                if time.monotonic() >= give_up:
                    raise Disconnected(f'{error}; tried for {patience_s:g} s') from error
            if _has_any(stops, min(give_up, time.monotonic() + pause_s)):
                return False
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
