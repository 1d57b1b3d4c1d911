"""The language server as a process: how it starts, over which stream it talks, how it ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.checking.programs import STALE
from tests.integrations.editor import PATIENCE, Editor, start


def test_a_client_that_leaves_without_a_word(tmp_path: Path) -> None:
    for last in ("exit", None):
        server = start(tmp_path)
        assert server.stdin is not None
        assert server.stdout is not None
        editor = Editor(tmp_path, server.stdout, server.stdin)
        editor.initialize()
        if last is None:
            server.stdin.close()
        else:
            editor.notify(last)
        assert server.wait(PATIENCE) == 1
        assert server.stderr is not None
        assert server.stderr.read() == b""


def test_torch_is_not_imported(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from gradledger.cli.main import main\n"
        "main(['lsp'])\n"
        "open('loaded', 'w').write(' '.join(sys.modules))"
    )
    server = start(tmp_path, code=code)
    assert server.stdin is not None
    assert server.stdout is not None
    editor = Editor(tmp_path, server.stdout, server.stdin)
    editor.initialize()
    uri = editor.open("train.py", STALE)
    editor.diagnostics(uri)
    assert editor.actions(uri, 6) != []
    editor.leave()
    assert server.wait(PATIENCE) == 0
    loaded = (tmp_path / "loaded").read_text().split()
    assert "pygls.lsp.server" in loaded
    assert "torch" not in loaded


def test_over_tcp(tmp_path: Path) -> None:
    import socket

    server = start(tmp_path, "--tcp", "127.0.0.1:0")
    assert server.stderr is not None
    line = server.stderr.readline().decode()
    assert line.startswith("gradledger lsp: listening at 127.0.0.1:")
    with socket.create_connection(("127.0.0.1", int(line.rpartition(":")[2])), PATIENCE) as connection:
        connection.settimeout(None)
        editor = Editor(tmp_path, connection.makefile("rb"), connection.makefile("wb"))
        editor.initialize()
        uri = editor.open("train.py", STALE)
        assert editor.diagnostics(uri) != []
        editor.leave()
        assert server.wait(PATIENCE) == 0
    server.communicate()


@pytest.mark.parametrize("address", ["2087", "localhost:", ":1", "localhost:99999", "localhost:x"])
def test_an_address_that_is_none(tmp_path: Path, address: str) -> None:
    server = start(tmp_path, "--tcp", address)
    _, complaint = server.communicate(timeout=PATIENCE)
    assert server.returncode == 2
    assert complaint.decode().splitlines() == [
        f"gradledger lsp: --tcp {address}: must be HOST:PORT, such as 127.0.0.1:2087"
    ]


def test_without_pygls_it_says_what_to_install(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "sys.modules['pygls'] = None\n"
        "from gradledger.cli.main import main\n"
        "sys.exit(main(['lsp']))"
    )
    call = [sys.executable, "-c", code]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 2
    assert done.stderr == 'gradledger lsp: needs pygls: pip install "gradledger[lsp]"\n'
