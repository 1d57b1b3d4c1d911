"""An editor with a server behind it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.integrations.editor import Editor, start


def _connected(folder: Path, started: list[subprocess.Popen[bytes]], code: str | None = None) -> Editor:
    server = start(folder, code=code)
    started.append(server)
    assert server.stdin is not None
    assert server.stdout is not None
    return Editor(folder, server.stdout, server.stdin)


def _end(started: list[subprocess.Popen[bytes]]) -> None:
    for server in started:
        server.kill()
        server.communicate()


@pytest.fixture
def connect(tmp_path: Path) -> Iterator[Callable[..., Editor]]:
    """Start servers that are gone after the test."""
    started: list[subprocess.Popen[bytes]] = []

    def connected(code: str | None = None, **capabilities: object) -> Editor:
        editor = _connected(tmp_path, started, code)
        editor.initialize(**capabilities)
        return editor

    yield connected
    _end(started)


@pytest.fixture(scope="session")
def _shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    started: list[subprocess.Popen[bytes]] = []
    editor = _connected(tmp_path_factory.getbasetemp(), started)
    editor.initialize()
    yield editor
    _end(started)


@pytest.fixture
def editor(_shared: Editor, tmp_path: Path) -> Editor:
    """An editor that has greeted its server and has nothing open."""
    _shared.begin(tmp_path)
    return _shared
