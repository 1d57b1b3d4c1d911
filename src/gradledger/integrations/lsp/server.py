"""The protocol's messages -> the session."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, BinaryIO

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from gradledger._version import __version__
from gradledger.integrations.lsp.actions import KINDS
from gradledger.integrations.lsp.diagnostics import NAME
from gradledger.integrations.lsp.session import REST, Session

if TYPE_CHECKING:
    from pygls.server import ServerErrors

_NOTEBOOKS = types.NotebookDocumentSyncOptions(
    [
        types.NotebookDocumentFilterWithCells(
            cells=[types.NotebookCellLanguage("python")],
            notebook=types.NotebookDocumentFilterNotebookType("jupyter-notebook"),
        )
    ],
    save=True,
)
_WATCHED = ("**/pyproject.toml", "**/*.py")


class Server(LanguageServer):
    """Says what went wrong in the log, without a window in the user's way."""

    shutdown_asked = False

    def report_server_error(self, error: Exception, source: ServerErrors) -> None:
        """Log it."""
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, f"gradledger: {error}"))


def serve(reader: BinaryIO, writer: BinaryIO) -> int:
    """Talk to one client until it leaves; 0 if it took its leave as the protocol wants it."""
    # What a client sends and we do not know is no reason to write to its log.
    logging.getLogger("pygls").setLevel(logging.CRITICAL)
    server = Server(NAME, __version__, notebook_document_sync=_NOTEBOOKS)
    session = Session(server)
    _follow_texts(server, session)
    _answer(server, session)
    try:
        server.start_io(reader, writer)
    finally:
        session.end()
    return 0 if server.shutdown_asked else 1


def _follow_texts(server: Server, session: Session) -> None:
    texts = session.texts

    def opened(params: types.DidOpenTextDocumentParams) -> None:
        texts.open(params.text_document)
        session.touched(params.text_document.uri)

    def changed(params: types.DidChangeTextDocumentParams) -> None:
        texts.change(params.text_document, params.content_changes)
        session.touched(params.text_document.uri, rest=REST)

    def closed(params: types.DidCloseTextDocumentParams) -> None:
        texts.close(params.text_document.uri)
        session.closed(params.text_document.uri)

    def notebook_opened(params: types.DidOpenNotebookDocumentParams) -> None:
        texts.open_notebook(params)
        session.touched(params.notebook_document.uri)

    def notebook_changed(params: types.DidChangeNotebookDocumentParams) -> None:
        if params.change.cells is not None:
            texts.change_notebook(params.notebook_document.uri, params.change.cells)
            session.touched(params.notebook_document.uri, rest=REST)

    def notebook_closed(params: types.DidCloseNotebookDocumentParams) -> None:
        texts.close_notebook(params.notebook_document.uri)
        session.closed(params.notebook_document.uri)

    # Instead of those of pygls, see texts.py.
    manager = server.protocol.fm
    manager.add_builtin_feature(types.TEXT_DOCUMENT_DID_OPEN, opened)
    manager.add_builtin_feature(types.TEXT_DOCUMENT_DID_CHANGE, changed)
    manager.add_builtin_feature(types.TEXT_DOCUMENT_DID_CLOSE, closed)
    manager.add_builtin_feature(types.NOTEBOOK_DOCUMENT_DID_OPEN, notebook_opened)
    manager.add_builtin_feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE, notebook_changed)
    manager.add_builtin_feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE, notebook_closed)


def _answer(server: Server, session: Session) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(_params: types.InitializeParams) -> None:
        encoding = server.workspace.position_encoding
        if encoding is not None:
            session.texts.encoding = types.PositionEncodingKind(encoding).value

    @server.feature(types.INITIALIZED)
    def initialized(_params: types.InitializedParams) -> None:
        workspace = server.client_capabilities.workspace
        watching = None if workspace is None else workspace.did_change_watched_files
        if watching is None or not watching.dynamic_registration:
            return
        watchers = [types.FileSystemWatcher(pattern) for pattern in _WATCHED]
        registration = types.Registration(
            "gradledger-files",
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
            types.DidChangeWatchedFilesRegistrationOptions(watchers),
        )
        server.client_register_capability(types.RegistrationParams([registration]))

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        session.touched(params.text_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    def notebook_saved(params: types.DidSaveNotebookDocumentParams) -> None:
        session.touched(params.notebook_document.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(_params: types.DidChangeWatchedFilesParams) -> None:
        session.touched_all()

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(list(KINDS)))
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        return await session.actions(params)

    @server.feature(types.SHUTDOWN)
    def shutdown(_params: None) -> None:
        server.shutdown_asked = True
