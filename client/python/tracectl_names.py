# SPDX-License-Identifier: BSD-2-Clause
"""Names for people in what the daemon sends: functions of C++ and Rust demangled, containers by their names."""

from __future__ import annotations

import functools
import json
import os
import pathlib
import re
import typing
from collections.abc import Iterator

import tracectl_rust

MOST_BYTES = 16 << 20  # of a file of names
DIGITS_OF_KEY = 12     # of a container's id: tracectl-keys(7)

STORAGE = 'var/lib/containers/storage'
DOCKER = 'var/lib/docker/containers'
# Bundles of containerd for Kubernetes, and of CRI-O.
TASKS = 'run/containerd/io.containerd.runtime.v2.task/k8s.io'
OVERLAYS = 'run/containers/storage/overlay-containers'

# ---- functions ----


def _load() -> typing.Callable[[str], str | None]:
    """The demangler of the C++ library. Without one no name is demangled."""
    try:
        import ctypes
        library, free = ctypes.CDLL('libstdc++.so.6'), ctypes.CDLL(None).free
        call = library.__cxa_demangle
    except (ImportError, MemoryError, OSError, AttributeError):
        return lambda name: None
    call.restype = ctypes.c_void_p
    free.argtypes = [ctypes.c_void_p]

    def demangled(name: str) -> str | None:
        status = ctypes.c_int()
        found = call(name.encode(), None, None, ctypes.byref(status))
        if not found:
            return None
        try:
            return ctypes.string_at(found).decode(errors='replace')
        finally:
            free(found)
    return demangled


_demangle = _load()


@functools.lru_cache(maxsize=16384)
def readable_probe(probe: str) -> str:
    """A canonical name with its function demangled: uprobe:/usr/bin/app:ns::parse(int)."""
    parts = re.fullmatch(r'(uprobe:.*:)(_[ZR][\w$.]+)(\+\w+)?', probe, re.ASCII | re.DOTALL)
    if not parts:
        return probe
    name = tracectl_rust.demangled(parts[2]) or _demangle(parts[2])
    return f'{parts[1]}{name}{parts[3] or ""}' if name else probe


class ProbeNames:
    """Of several probes with the same readable name, as the constructors of a class, the first keeps it."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}  # by canonical name

    def keep(self, probes: set[str]) -> None:
        """Names these probes, as before where they had names, and forgets all others."""
        self._names = {probe: name for probe, name in self._names.items() if probe in probes}
        taken = set(self._names.values())
        for probe in sorted(probes - self._names.keys()):
            name = readable_probe(probe)
            self._names[probe] = probe if name in taken else name
            taken.add(self._names[probe])

    def of(self, probe: str) -> str:
        return self._names.get(probe, probe)

# ---- containers ----


def _parsed(path: pathlib.Path) -> typing.Any:
    """None if it cannot be read or is no JSON."""
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            return None
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None


def _entries(directory: pathlib.Path) -> list[pathlib.Path]:
    try:
        return sorted(directory.iterdir())
    except OSError:
        return []


def _of_storage(storage: pathlib.Path) -> Iterator[tuple[str, str]]:
    """Pairs of an id and a name."""
    for driver in _entries(storage):
        listed = _parsed(driver / 'containers.json') if driver.name.endswith('-containers') else None
        for one in listed if isinstance(listed, list) else []:
            names = one.get('names') if isinstance(one, dict) else None
            if isinstance(names, list) and names:
                yield str(one.get('id')), str(names[0])


def _of_docker(root: pathlib.Path) -> Iterator[tuple[str, str]]:
    for container in _entries(root / DOCKER):
        config = _parsed(container / 'config.v2.json')
        if isinstance(config, dict) and config.get('Name'):
            yield str(config.get('ID')), str(config['Name']).removeprefix('/')


def _name_in_pod(notes: dict[str, typing.Any]) -> str | None:
    def first(*members: str) -> str:
        return next((str(notes[member]) for member in members if notes.get(member)), '')
    space = first('io.kubernetes.cri.sandbox-namespace', 'io.kubernetes.pod.namespace')
    pod = first('io.kubernetes.cri.sandbox-name', 'io.kubernetes.pod.name')
    name = first('io.kubernetes.cri.container-name', 'io.kubernetes.container.name')
    if not pod:
        return None
    return '/'.join([space, pod, *([name] if name else [])])


def _of_bundles(directory: pathlib.Path, config_name: str) -> Iterator[tuple[str, str]]:
    for container in _entries(directory):
        config = _parsed(container / config_name)
        notes = config.get('annotations') if isinstance(config, dict) else None
        name = _name_in_pod(notes) if isinstance(notes, dict) else None
        if name:
            yield container.name, name


def container_names(root: str = '/') -> dict[str, str]:
    """The names by the beginnings of ids that are keys, of those that this user may read. Below `root`."""
    top = pathlib.Path(root)
    found = [*_of_storage(top / STORAGE), *_of_docker(top), *_of_bundles(top / TASKS, 'config.json'),
             *_of_bundles(top / OVERLAYS, 'userdata/config.json')]
    if home := os.environ.get('HOME'):
        found += _of_storage(top / home.lstrip('/') / '.local/share/containers/storage')
    names: dict[str, set[str]] = {}
    ids: dict[str, set[str]] = {}
    for container, name in found:
        if re.fullmatch('[0-9a-f]{64}', container):
            names.setdefault(container[:DIGITS_OF_KEY], set()).add(name)
            ids.setdefault(name, set()).add(container)
    # One name for two keys would make two series one.
    return {key: min(some) for key, some in names.items() if len(some) == 1 and len(ids[min(some)]) == 1}
