# SPDX-License-Identifier: BSD-2-Clause
"""A client of tracectld: its protocol (tracectl-protocol(7)) for Python 3.9 and later.

One file, the standard library alone: it can be copied beside the program that uses it.

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

Methods return what the daemon answers: dicts and lists as tracectl-protocol(7) describes them, of which
docs/protocol.schema.json is the schema. Times are in nanoseconds where they come from the daemon, and in
seconds where they are given to this module.

Threads: a connection, and its sessions with it, are for one thread at a time. Threads that work at the
same time make a connection each; a named session can be opened in all of them.

Errors: `Refused` where the daemon says no, `Disconnected` where it is not there or goes away. Both are a
tracectl.Error. What the kernel says of a descriptor that is passed on is an OSError.
"""

import collections
import contextlib
import dataclasses
import json
import os
import select
import socket
import time

__all__ = ['connect', 'target', 'Connection', 'Session', 'Event', 'Lost', 'Described', 'Error',
           'Refused', 'Disconnected', 'DEFAULT_SOCKET']

DEFAULT_SOCKET = '/run/tracectl/tracectl.sock'

_MOST_REQUEST_BYTES = 1 << 20   # as the daemon takes them
_MOST_ANSWER_BYTES = 64 << 20
_CHUNK_BYTES = 256 << 10
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.02, 1  # between attempts to reach a daemon that is not there


class Error(Exception):
    """What goes wrong between this program and the daemon."""


class Disconnected(Error):
    """No daemon listens, or it has closed the connection, or its answer did not come in time. The
    connection is of no more use, until Session.rejoin(); what the daemon had sent before it closed it can
    still be taken by Session.pending() and Session.events()."""


class Refused(Error):
    """The daemon's answer to a request is an error; nothing was changed.

    code     its number: 1 to 7, or that of JSON-RPC for a request of the wrong shape
    name     the code's name: invalid, not_found, denied, busy, exhausted, unsupported, kernel
    message  what is wrong, and what to do
    data     a dict: `code`, and where they are known `field`, `text` and `column`, the byte of the text
             at which it went wrong
    """

    def __init__(self, error):
        super().__init__(error['message'])
        self.code = error['code']
        self.message = error['message']
        self.data = error.get('data', {})
        self.name = self.data.get('code', '')


@dataclasses.dataclass(frozen=True)
class Event:
    """A hit of a probe, the end of a call, or of a time from one probe to another. What an event does not
    have is None. Members: tracectl-protocol(7), NOTIFICATIONS."""

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
    args: list
    call: 'int | None' = None
    depth: 'int | None' = None
    retval: 'int | float | str | None' = None
    duration: 'int | None' = None  # ns
    stack: 'list | None' = None
    stack_by: 'str | None' = None
    stack_end: 'str | None' = None
    tag: 'str | None' = None


@dataclasses.dataclass(frozen=True)
class Lost:
    """Stands among the events where `count` of them are missing."""

    ts: int        # ns since boot
    count: int
    cause: str     # ring_full, slow_client, held_full
    session: str
    cpu: 'int | None' = None


@dataclasses.dataclass(frozen=True)
class Described:
    """What the arguments of a probe's events are called, for who has subscribed with `describe`."""

    session: str
    probe: str
    args: list     # of dicts
    result: 'dict | None' = None


_ITEMS = {'event': Event, 'lost': Lost, 'probe': Described}
_MEMBERS = {item: {field.name for field in dataclasses.fields(item)} for item in _ITEMS.values()}


def _item(notification):
    """None for one of a later daemon; members of a later daemon are left out."""
    kind = _ITEMS.get(notification['method'])
    if not kind:
        return None
    members = _MEMBERS[kind]
    return kind(**{name: value for name, value in notification['params'].items() if name in members})


def target(pids=(), executables=(), everything=False, follow=None, units=(), cgroups=()):
    """The processes in which probes are to fire.

    pids         numbers of processes
    executables  absolute paths: every process that runs one of them, now or later
    units        names of systemd's units, 'ssh.service': every process of them, now or later
    cgroups      of version 2, as '/system.slice/ssh.service': every process in them, now or later
    everything   every process that has the probe's file mapped
    follow       'children' or 'first_child': those that the processes in `pids` fork later, too
    """
    chosen = {}
    if pids:
        chosen['pids'] = list(pids)
    if executables:
        chosen['executables'] = list(executables)
    if units:
        chosen['units'] = list(units)
    if cgroups:
        chosen['cgroups'] = list(cgroups)
    if everything:
        chosen['all'] = True
    if follow:
        chosen['follow'] = follow
    return chosen


def connect(path=None, timeout_s=60):
    """A Connection to the daemon that listens on `path`: if None, on $TRACECTL_SOCKET, else on
    DEFAULT_SOCKET.

    timeout_s  how long an answer may take; None: for ever. Commits of many thousand probes take seconds.
    Raises Disconnected where no daemon listens, and PermissionError where this user may not ask it.
    """
    return Connection(path, timeout_s)


def _connected(path, may_wait=True):
    """A socket. `may_wait`: where more have connected than the daemon has taken."""
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


def _has_any(files, end):
    """Waits until something can be read from one of them, and says whether it can: False if it cannot by
    then. `end` None: for ever."""
    wait_ms = None if end is None else max(0, int((end - time.monotonic()) * 1000 + 0.999))
    poll = select.poll()
    for file in files:
        poll.register(file, select.POLLIN)
    return bool(poll.poll(wait_ms))


@contextlib.contextmanager
def _opened(paths):
    """Descriptors of these files, for as long as it takes to send them."""
    with contextlib.ExitStack() as closing:
        descriptors = []
        for path in paths:
            descriptors.append(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
            closing.callback(os.close, descriptors[-1])
        yield descriptors


_MOST_PROOFS = 128  # of a request, with its files


@contextlib.contextmanager
def _memories(pids):
    """Descriptors of the memory of these processes: what shows that the kernel lets this user trace them.
    Those that it refuses, or that have ended, are left out: the daemon says what it misses."""
    with contextlib.ExitStack() as closing:
        descriptors = []
        for pid in pids:
            try:
                descriptors.append(os.open(f'/proc/{pid}/mem', os.O_RDONLY | os.O_CLOEXEC))
            except OSError:
                continue
            closing.callback(os.close, descriptors[-1])
        yield descriptors


def _pids_of(target, most):
    return list((target or {}).get('pids', ()))[:max(most, 0)]


def _within_message(object_hook):
    """Which leaves the message itself alone."""
    if object_hook is None:
        return None
    return lambda found: found if 'jsonrpc' in found else object_hook(found)


def _without_none(params):
    return {name: value for name, value in params.items() if value is not None}


class Connection:
    """A connection to the daemon: for one thread at a time. As a context manager it is closed at the end,
    and with it end its subscriptions and its unnamed sessions."""

    def __init__(self, path=None, timeout_s=60):
        self.path = path or os.environ.get('TRACECTL_SOCKET') or DEFAULT_SOCKET
        self.timeout_s = timeout_s
        self._socket = _connected(self.path)
        self._received = bytearray()
        self._looked_at = 0  # bytes of these that have no end of a line
        self._last_id = 0
        self._items = collections.defaultdict(collections.deque)  # by session

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends the connection; may be called again."""
        self._socket.close()

    @property
    def is_open(self):
        """Whether requests can still be made."""
        return self._socket.fileno() >= 0

    def fileno(self):
        """For select() and poll(): readable when something has come. What a call has taken before with
        its answer is not seen there: look into Session.pending() first."""
        return self._socket.fileno()

    def call(self, method, params=None, descriptors=(), object_hook=None):
        """Any method of the protocol; returns its result.

        params       a dict that json can write; members are refused by the daemon if it knows none such
        descriptors  open files that go with the request, by number or as objects with fileno(); they stay
                     the caller's
        object_hook  as json.loads() takes it: makes something else of each object of the result, the inner
                     ones first, so that a large result need not be kept whole. It is called with what is
                     in notifications, too: not for a connection that has subscribed
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
            self.close()  # what comes now would be taken for the answer to the next request
            raise

    # ---- the daemon ----

    def hello(self):
        """Who answers: daemon, version, protocol, and the methods that it has."""
        return self.call('hello')

    def status(self):
        """What the daemon holds."""
        return self.call('daemon.status')

    def stats(self):
        """The daemon's own counters."""
        return self.call('daemon.stats')

    def doctor(self):
        """What this kernel can do."""
        return self.call('daemon.doctor')

    # ---- probes ----

    def probes(self, patterns, target=None, scope=None, files=()):
        """What can be traced: `probes`, `refused`, `total_probes`, `total_sites`. Arms nothing.

        scope  'local', also if None: every function with a symbol; 'global': exported ones
        files  as of Session.set()
        """
        pids = _pids_of(target, _MOST_PROOFS - len(files))
        with _opened(files) as descriptors, _memories(pids) as memories:
            return self.call('probe.list', _without_none(
                {'patterns': list(patterns), 'target': target, 'scope': scope,
                 'files': list(files) or None, 'proofs': len(memories) or None}),
                             descriptors + memories)

    def info(self, pattern):
        """What is set on armed probes whose names fit the pattern, by which sessions: a list."""
        return self.call('probe.info', {'pattern': pattern})['settings']

    # ---- sessions ----

    def sessions(self):
        """All sessions that this user may see: a list of dicts."""
        return self.call('session.list')['sessions']

    def session(self, name=None, budget=None, recorder=None):
        """Makes a session, and returns it as a Session.

        name      it outlives this connection; if None the session ends with it
        budget    what its hits may cost, in percent of one CPU; probes that cost more are left out
        recorder  {'bytes': ..., 'seconds': ...}: it keeps its last events in memory
        Raises Refused: busy where there is a session of this name.
        """
        made = self.call('session.create', _without_none(
            {'name': name, 'budget': budget, 'recorder': recorder}))
        return Session(self, made['name'], is_named=name is not None)

    def open_session(self, name):
        """A Session that is there already. Raises Refused: not_found where it is not."""
        shown = self.call('session.show', {'session': name})
        return Session(self, name, is_named=shown['named'])

    # ---- what is below ----

    def _line_of(self, method, params):
        self._last_id += 1
        message = {'jsonrpc': '2.0', 'id': self._last_id, 'method': method, 'params': params}
        line = json.dumps(message).encode() + b'\n'
        if len(line) > _MOST_REQUEST_BYTES:
            raise ValueError(f'a request has at most {_MOST_REQUEST_BYTES} bytes, and {method} would '
                             f'have {len(line)}')
        return line

    def _check_open(self):
        if not self.is_open:
            raise Disconnected('the connection has been closed')

    def _send(self, line, descriptors):
        self._check_open()
        try:
            sent = 0
            if descriptors:
                sent = socket.send_fds(self._socket, [line], descriptors, socket.MSG_NOSIGNAL)
            self._socket.sendall(line[sent:], socket.MSG_NOSIGNAL)
        except (BrokenPipeError, ConnectionResetError) as error:
            self._receive_rest()
            raise Disconnected('the daemon has closed the connection') from error

    def _receive_rest(self):
        """What the daemon has sent before it closed the connection."""
        with contextlib.suppress(Disconnected):
            while self._receive(time.monotonic()):
                pass

    def _answer(self, end, object_hook=None):
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

    def _keep(self, notification):
        item = _item(notification)
        if item is not None:
            self._items[item.session].append(item)

    def _message(self, end, object_hook=None):
        """The next one, or None where none has come until then."""
        while True:
            line_end = self._received.find(b'\n', self._looked_at)
            if line_end >= 0:
                return json.loads(self._take_line(line_end), object_hook=_within_message(object_hook))
            self._looked_at = len(self._received)
            if self._looked_at > _MOST_ANSWER_BYTES:
                raise Disconnected('the daemon sends a line without an end')
            if not self._receive(end):
                return None

    def _take_line(self, line_end):
        """Lines can be long: it is there only once, when this returns."""
        with memoryview(self._received) as received, received[:line_end] as line:
            text = str(line, 'utf-8')
        del self._received[:line_end + 1]
        self._looked_at = 0
        return text

    def _receive(self, end):
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

    def _take(self, session, end):
        """The session's next item, or None where none has come until then."""
        items = self._items[session]
        while not items:
            message = self._message(end)
            if message is None:
                return None
            self._keep(message)
        return items.popleft()

    def _take_all(self, session):
        """One portion of what the socket has at most: it may have more and more."""
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

    def _keep_received(self):
        while b'\n' in self._received:
            self._keep(self._message(time.monotonic()))

    # ---- the next daemon ----

    def _join_next(self, method, params, end, stops):
        """Makes this the connection to the next daemon, which is the one that answers the request: a listening
        socket that outlives daemons takes who comes also while there is none. False where one of `stops` can
        be read before."""
        self._receive_rest()
        self._keep_received()
        self._received.clear()  # a line that the daemon before has not ended
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
    """A set of settings with their results: what a user of the daemon works with. As a context manager it
    is deleted at the end if it is unnamed; a named one stays. For the thread of its connection."""

    def __init__(self, connection, name, is_named):
        self.connection = connection
        self.name = name
        self.is_named = is_named
        self._describe = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if not self.is_named and self.connection.is_open:
            try:
                self.delete()
            except Disconnected:
                pass  # it has ended with the connection
            except Refused as refused:
                if refused.name != 'not_found':  # it was deleted within
                    raise

    def call(self, method, params=None, descriptors=()):
        """A method of the protocol that takes a session: Connection.call() with its name."""
        return self.connection.call(method, {'session': self.name, **(params or {})}, descriptors)

    def show(self):
        """Its settings, its draft, its counts."""
        return self.call('session.show')

    def set(self, patterns, target, do=None, when=None, scope=None, returns=None, files=(), **others):
        """Adds settings to the draft: stage.set. Nothing happens before commit().

        target   of target()
        do       what a hit does: 'event', if None; 'count by tid', 'time', 'hist(arg2)', 'return'
        when     the condition under which it does that
        returns  how returns are seen: 'auto', 'exits', 'trampoline'
        files    absolute paths of the files in which the patterns are looked for. They are opened here, with
                 this user's rights: for one who may trace its own processes only the daemon opens none
        others   further members of stage.set; `from_` stands for from, which Python has taken
        Raises Refused: data has the place of a fault in a pattern or expression; and OSError for a file
        that cannot be opened.
        """
        members = {name.rstrip('_'): value for name, value in others.items()}
        self.prove((target or {}).get('pids', ()))
        with _opened(files) as descriptors:
            return self.call('stage.set', _without_none(
                {'patterns': list(patterns), 'target': target, 'do': do, 'when': when,
                 'scope': scope, 'returns': returns, 'files': list(files) or None, **members}),
                             descriptors)

    def prove(self, pids=()):
        """Shows that the kernel lets this user trace these processes: session.prove. Of a user who may not
        trace every process a session sees no others, but for what they fork; an exec ends it. set() does it
        for the `pids` of its target. Returns `needed`, `proven`, `unproven`, and `wanted`: processes that were
        seen, and left out, since the last time."""
        pids, answer = list(pids), None
        while answer is None or pids:
            some, pids = pids[:_MOST_PROOFS], pids[_MOST_PROOFS:]
            with _memories(some) as memories:
                answer = self.call('session.prove', {'proofs': len(memories)}, memories)
        return answer

    def remove(self, patterns, target=None, scope=None):
        """Takes settings out of the draft: stage.remove."""
        return self.call('stage.remove', _without_none(
            {'patterns': list(patterns), 'target': target, 'scope': scope}))

    def commit(self, partial=False, dry_run=False):
        """Switches to the draft, in one atomic step; returns what that has covered and cost.

        partial  arms the rest where some sites are refused
        dry_run  says what would be done, and does nothing
        Raises Refused, and then the settings before are in force.
        """
        return self.call('stage.commit', {'partial': partial, 'dry_run': dry_run})

    def abort(self):
        """Throws the draft away."""
        self.call('stage.abort')

    def pause(self):
        """Stops counting and streaming, in one step; counters are kept."""
        return self.call('session.pause')

    def resume(self):
        """Goes on after a pause, in one step."""
        return self.call('session.resume')

    def restart(self):
        """Sets the counters to zero and resumes, in one step."""
        return self.call('session.restart')

    def read(self, clear=False):
        """What was counted so far: `rows` and totals. With `clear` it is zeroed in the same cut."""
        return self.call('session.read', {'clear': clear})

    def delete(self):
        """Removes its settings, and its results."""
        return self.call('session.delete')

    def subscribe(self, describe=False):
        """From now on its events come to this connection; with `describe` also what their arguments are
        called. They wait in this process from when they are received until events() or pending() takes
        them: who subscribes takes them in time, or is told by Lost what the daemon had no room for."""
        self._describe = describe
        self.call('session.subscribe', {'describe': describe})

    def unsubscribe(self):
        """No more events come; those that have come stay."""
        self.call('session.unsubscribe')

    def flush(self):
        """When it returns, every event fired before the call is in pending(). Returns that time, in ns
        since boot."""
        return self.call('session.flush')['ts']

    def events(self, timeout_s=None):
        """Event, Lost and, if wanted, Described, in the order of their time, as they come: for ever, or
        until none has come for so long. Raises Disconnected at the daemon's end."""
        while True:
            end = None if timeout_s is None else time.monotonic() + timeout_s
            item = self.connection._take(self.name, end)
            if item is None:
                return
            yield item

    def pending(self):
        """A list of those of events() that have come; does not wait."""
        return self.connection._take_all(self.name)

    def rejoin(self, patience_s=10, stop=None):
        """After the daemon's end: connects to the daemon that comes next, and subscribes to this session as
        before, for a saved one goes on there. Its events are delivered from the record on at which the daemon
        before has left off, after what is still in pending(). Other sessions of the connection have lost
        their subscriptions; show() has what of this one has not gone on, and whether it has a gap.

        patience_s  for so long it is tried
        stop        something to wait for, with fileno(): what can be read there ends the waiting
        Returns False where that came first. Raises Refused, not_found where the session has not gone on, and
        Disconnected when the time is over: it can be tried again.
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
