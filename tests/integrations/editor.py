"""A small editor: speaks the Language Server Protocol with a real `gradledger lsp` process."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import gradledger

PATIENCE = 60.0
Json = dict[str, Any]

CAPABILITIES: Json = {
    "workspace": {
        "workspaceEdit": {"documentChanges": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True},
    },
    "textDocument": {"publishDiagnostics": {"relatedInformation": True, "versionSupport": True}},
    "notebookDocument": {"synchronization": {}},
}


_PLACE: Json = {"line": 0, "character": 0}
_NOWHERE: Json = {
    "textDocument": {"uri": "untitled:nothing"},
    "range": {"start": _PLACE, "end": _PLACE},
    "context": {"diagnostics": []},
}


def start(folder: Path, *args: str, code: str | None = None) -> subprocess.Popen[bytes]:
    """The server as a process, or code that starts it."""
    call = ["-m", "gradledger", "lsp", *args] if code is None else ["-c", code]
    source = str(Path(gradledger.__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, *call],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": source},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


class Editor:
    """Sends messages and waits for messages; it never waits for time to pass."""

    def __init__(self, folder: Path, reader: IO[bytes], writer: IO[bytes]) -> None:
        self.folder = folder
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self._reader, self._writer = reader, writer
        self._arrived: queue.Queue[Json | None] = queue.Queue()
        self._kept: list[Json] = []
        self._number = 0
        threading.Thread(target=self._read, daemon=True).start()

    # --- messages -----------------------------------------------------------------------------------

    def _read(self) -> None:
        with suppress(OSError, ValueError):
            while line := self._reader.readline():
                size = int(line.removeprefix(b"Content-Length:"))
                while self._reader.readline().strip():
                    pass
                self._arrived.put(json.loads(self._reader.read(size)))
        self._arrived.put(None)

    def send(self, message: Json) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._writer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._writer.flush()

    def notify(self, method: str, params: Json | None = None) -> None:
        self.send({"method": method, "params": {} if params is None else params})

    def ask(self, method: str, params: Json | None = None) -> Any:
        self._number += 1
        number = self._number
        self.send({"id": number, "method": method, "params": params})
        answer = self.wait(lambda message: message.get("id") == number and "method" not in message)
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def wait(self, wanted: Callable[[Json], bool]) -> Json:
        """The first message of this kind that has not been waited for."""
        for message in self._kept:
            if wanted(message):
                self._kept.remove(message)
                return message
        while True:
            message = self._arrived.get(timeout=PATIENCE)
            assert message is not None, "the server has gone"
            if "method" in message and "id" in message:
                self.send({"id": message["id"], "result": None})
            if wanted(message):
                return message
            self._kept.append(message)

    def wait_for(self, method: str) -> Any:
        return self.wait(lambda message: message.get("method") == method)["params"]

    def has_more(self, method: str, after: str | None = None) -> bool:
        """Whether such a message has come and was not waited for; of one text, only newer ones count."""
        waiting = [m["params"] for m in self._kept if m.get("method") == method]
        if after is not None:
            newest = self.versions[after]
            waiting = [p for p in waiting if p["uri"] == after and p["version"] >= newest]
        return bool(waiting)

    # --- a session ----------------------------------------------------------------------------------

    def initialize(self, **capabilities: Json) -> Json:
        params = {
            "processId": os.getpid(),
            "rootUri": self.folder.as_uri(),
            "workspaceFolders": [{"uri": self.folder.as_uri(), "name": "folder"}],
            "capabilities": {**CAPABILITIES, **capabilities},
        }
        result = self.ask("initialize", params)
        self.notify("initialized")
        return result

    def begin(self, folder: Path) -> None:
        """Forget an earlier test: nothing is open, nothing has been said."""
        for uri in list(self.versions):
            self.close(uri)
        self.ask("textDocument/codeAction", _NOWHERE)  # its answer comes after all that was under way
        self._kept.clear()
        self.folder = folder

    def leave(self) -> None:
        assert self.ask("shutdown") is None
        self.notify("exit")

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def open(self, name: str, text: str, language: str = "python") -> str:
        uri = name if ":" in name else self.uri(name)
        self.texts[uri], self.versions[uri] = text, 1
        item = {"uri": uri, "languageId": language, "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})
        return uri

    def change(self, uri: str, *changes: Json | str) -> None:
        """Send changes; a string is the whole text."""
        self.versions[uri] += 1
        sent = [{"text": change} if isinstance(change, str) else change for change in changes]
        identifier = {"uri": uri, "version": self.versions[uri]}
        self.notify("textDocument/didChange", {"textDocument": identifier, "contentChanges": sent})

    def close(self, uri: str) -> None:
        del self.versions[uri]
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def diagnostics(self, uri: str, version: int | None = None) -> list[Json]:
        """What the server says of this version; what it says of others is let go."""
        wanted = self.versions.get(uri) if version is None else version

        def fits(message: Json) -> bool:
            if message.get("method") != "textDocument/publishDiagnostics" or message["params"]["uri"] != uri:
                return False
            return wanted is None or message["params"].get("version") == wanted

        return self.wait(fits)["params"]["diagnostics"]

    def actions(self, uri: str, line: int = 0, end: int | None = None, **context: Any) -> list[Json]:
        """The actions for lines, from 0."""
        where = {"start": {"line": line, "character": 0}, "end": {"line": end or line, "character": 0}}
        params = {"textDocument": {"uri": uri}, "range": where, "context": {"diagnostics": [], **context}}
        return self.ask("textDocument/codeAction", params)


def applied(text: str, edits: list[Json], encoding: str = "utf-16") -> str:
    """The text after edits, by the protocol's own rules for lines and columns."""
    starts = [0]
    at = 0
    while at < len(text):
        step = 2 if text.startswith("\r\n", at) else 1
        if text[at] in "\r\n":
            starts.append(at + step)
        at += step

    def offset(position: Json) -> int:
        assert position["line"] < len(starts), "a strict client knows no such line"
        start = starts[position["line"]]
        rest = text[start:].encode(encoding + "-le" if encoding != "utf-8" else encoding)
        unit = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
        taken = rest[: position["character"] * unit]
        return start + len(taken.decode(encoding + "-le" if encoding != "utf-8" else encoding))

    spans = [(offset(e["range"]["start"]), offset(e["range"]["end"]), e["newText"]) for e in edits]
    for start, end, new in sorted(spans, reverse=True):
        text = text[:start] + new + text[end:]
    return text
