"""One editor at work: what it has open is checked when it rests, and told as soon as it is known."""

from __future__ import annotations

import asyncio
import os
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from gradledger.integrations.lsp.actions import Offer
from gradledger.integrations.lsp.analysis import Analysis, Surroundings, analyse
from gradledger.integrations.lsp.diagnostics import Diagnoser
from gradledger.integrations.lsp.source import Source
from gradledger.integrations.lsp.texts import Texts, path_of
from gradledger.ledger.record import dataclass, field

REST = 0.15
"""Seconds without a change after which the text is taken to be more than half a word."""

_ROOM = 16 * 1024 * 1024

Result = TypeVar("Result")


@dataclass(slots=True)
class _Program:
    """What is known of one open program."""

    task: asyncio.Task[None] | None = None
    told: dict[str, list[types.Diagnostic]] = field(default_factory=dict)
    neighbours: frozenset[str] = frozenset()
    """The paths of the modules it was read with."""
    repairs: Analysis | None = None
    notes: tuple[str, ...] = ()


class Session:
    """The open programs and what is known of them; everything here runs on the event loop."""

    def __init__(self, server: LanguageServer) -> None:
        self.texts = Texts()
        self._server = server
        self._programs: dict[str, _Program] = {}
        # Programs may be nested deeply, and some systems give threads little room for that.
        threading.stack_size(_ROOM)
        # One thread: the checker's view of a file's text is one for the whole process.
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="gradledger")

    def end(self) -> None:
        """Start nothing any more."""
        self._worker.shutdown(wait=False, cancel_futures=True)

    # --- what the editor does -----------------------------------------------------------------------

    def touched(self, uri: str, *, rest: float = 0.0) -> None:
        """Check the program at this address, and those that were read with it, after a rest."""
        path = path_of(uri)
        self._schedule(uri, rest)
        for key, known in list(self._programs.items()):
            if key != uri and path in known.neighbours:
                self._schedule(key, rest)

    def touched_all(self) -> None:
        """Check everything that is open again."""
        for key in self.texts.sources():
            self._schedule(key, 0.0)

    def closed(self, uri: str) -> None:
        """Take back what was said of a program, and look again at those that were read with it."""
        known = self._programs.pop(uri, None)
        if known is not None:
            if known.task is not None:
                known.task.cancel()
            self._publish(known.told)
        self.touched(uri)

    async def actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """What can be done at a range of a text, as it is now."""
        key = self.texts.key(params.text_document.uri)
        source = self.texts.source(key)
        if source is None:
            return []
        around, offer = self._around(source), self._offer(source)
        known = self._programs.setdefault(key, _Program())
        ready = known.repairs if known.repairs is not None and known.repairs.source == source else None

        def work() -> tuple[Analysis, list[types.CodeAction]]:
            analysis = analyse(source, around, repairs=True) if ready is None else ready
            return analysis, offer.actions(analysis, params)

        try:
            known.repairs, found = await self._off_the_loop(work)
        except Exception as error:
            self._log_fault(source, error)
            return []
        return found

    # --- checking -----------------------------------------------------------------------------------

    def _schedule(self, key: str, rest: float) -> None:
        if self.texts.source(key) is None:
            return
        known = self._programs.setdefault(key, _Program())
        known.repairs = None
        if known.task is not None:
            known.task.cancel()  # what it finds would be about a text that is no more
        known.task = asyncio.get_running_loop().create_task(self._check(key, known, rest))

    async def _check(self, key: str, known: _Program, rest: float) -> None:
        if rest:
            await asyncio.sleep(rest)
        source = self.texts.source(key)
        if source is None:
            return
        around = self._around(source)
        try:
            analysis = await self._off_the_loop(lambda: analyse(source, around))
            told = Diagnoser(analysis, self.texts.encoding, self._address).all()
        except Exception as error:
            self._log_fault(source, error)
            analysis, told = Analysis(source), {part.uri: [] for part in source.parts}
        before, known.told = known.told, told
        known.neighbours = frozenset(analysis.neighbours)
        self._publish({**before, **told})
        for note in analysis.notes:
            if note not in known.notes:
                self._log(note, types.MessageType.Info)
        known.notes = analysis.notes

    async def _off_the_loop(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._worker, work)

    def _publish(self, addresses: dict[str, list[types.Diagnostic]]) -> None:
        """Tell all that is known of each text, whichever programs it was found in."""
        for uri in addresses:
            found: dict[tuple[object, ...], types.Diagnostic] = {}
            for known in self._programs.values():
                for diagnostic in known.told.get(uri, ()):
                    start = diagnostic.range.start
                    key = (diagnostic.code, start.line, start.character)
                    other = found.get(key)
                    if other is None or _rank(diagnostic) < _rank(other):
                        found[key] = diagnostic
            self._server.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(uri, list(found.values()), self.texts.version(uri))
            )

    # --- surroundings -------------------------------------------------------------------------------

    def _around(self, source: Source) -> Surroundings:
        files = self.texts.open_files()
        others = {path: item.text for path, item in files.items() if path != source.path}
        return Surroundings(self._folder(source.path), others)

    def _folder(self, path: str) -> str:
        """The deepest open folder that holds the path."""
        workspace = self._server.workspace
        uris = [*workspace.folders, *([workspace.root_uri] if workspace.root_uri else [])]
        folders = [os.path.normpath(folder) for uri in uris if (folder := to_fs_path(uri))]
        holding = [folder for folder in folders if path.startswith(folder.rstrip(os.sep) + os.sep)]
        return max(holding or folders[:1] or [os.getcwd()], key=len)

    def _offer(self, source: Source) -> Offer:
        workspace = self._server.client_capabilities.workspace
        edits = None if workspace is None else workspace.workspace_edit
        versioned = edits is not None and bool(edits.document_changes)
        return Offer(self._around(source), self.texts.encoding, self._address, versioned)

    def _address(self, path: str) -> str:
        item = self.texts.open_files().get(path)
        return item.uri if item is not None else from_fs_path(path) or path

    # --- telling ------------------------------------------------------------------------------------

    def _log_fault(self, source: Source, error: Exception) -> None:
        trace = "".join(traceback.format_exception(error))
        self._log(
            f"{source.path} was not checked, by a fault of gradledger; please report it\n{trace}",
            types.MessageType.Error,
        )

    def _log(self, message: str, kind: types.MessageType) -> None:
        self._server.window_log_message(types.LogMessageParams(kind, message))


def _rank(diagnostic: types.Diagnostic) -> int:
    return int(diagnostic.severity or types.DiagnosticSeverity.Error)
