"""What the editor has open, followed change by change.

pygls follows texts as well, but ends lines at form feeds and Unicode separators, where no editor does; from
the first such character on, its changes land in the wrong place.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from lsprotocol import types
from pygls.uris import to_fs_path

from gradledger.integrations.lsp.measured import Measured
from gradledger.integrations.lsp.source import Part, Source
from gradledger.ledger.record import dataclass, field, replace


@dataclass(slots=True)
class Texts:
    """All open texts and notebooks, by their addresses."""

    encoding: str = "utf-16"
    """What the client counts columns in."""
    _texts: dict[str, types.TextDocumentItem] = field(default_factory=dict)
    _notebooks: dict[str, list[types.NotebookCell]] = field(default_factory=dict)
    _cells: dict[str, str] = field(default_factory=dict)
    """The notebook of each cell."""

    def open(self, item: types.TextDocumentItem) -> None:
        """Take in a text."""
        self._texts[item.uri] = item

    def close(self, uri: str) -> None:
        """Let go of a text."""
        self._texts.pop(uri, None)

    def change(
        self,
        identifier: types.VersionedTextDocumentIdentifier,
        changes: Iterable[types.TextDocumentContentChangeEvent],
    ) -> None:
        """Apply changes in their order, each to the text that the one before it left."""
        item = self._texts[identifier.uri]
        text = item.text
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                measured = Measured(text, self.encoding)
                start, end = measured.offset(change.range.start), measured.offset(change.range.end)
                text = text[:start] + change.text + text[end:]
            else:
                text = change.text
        self._texts[identifier.uri] = types.TextDocumentItem(
            item.uri, item.language_id, identifier.version, text
        )

    def open_notebook(self, params: types.DidOpenNotebookDocumentParams) -> None:
        """Take in a notebook and its cells."""
        uri = params.notebook_document.uri
        self._notebooks[uri] = list(params.notebook_document.cells)
        for item in params.cell_text_documents:
            self._open_cell(item, uri)

    def close_notebook(self, uri: str) -> None:
        """Let go of a notebook and its cells."""
        self._notebooks.pop(uri, None)
        for cell in [cell for cell, notebook in self._cells.items() if notebook == uri]:
            self._close_cell(cell)

    def change_notebook(self, uri: str, cells: types.NotebookDocumentCellChanges) -> None:
        """Apply changes to which cells there are, what they are, and what stands in them."""
        structure = cells.structure
        if structure is not None:
            array = structure.array
            self._notebooks[uri][array.start : array.start + array.delete_count] = array.cells or ()
            for identifier in structure.did_close or ():
                self._close_cell(identifier.uri)
            for item in structure.did_open or ():
                self._open_cell(item, uri)
        fresh = {cell.document: cell for cell in cells.data or ()}
        self._notebooks[uri] = [fresh.get(cell.document, cell) for cell in self._notebooks[uri]]
        for content in cells.text_content or ():
            self.change(content.document, content.changes)

    def key(self, uri: str) -> str:
        """The address of the program that a text belongs to: its notebook's, or its own."""
        return self._cells.get(uri, uri)

    def version(self, uri: str) -> int | None:
        """The version of an open text."""
        item = self._texts.get(uri)
        return None if item is None else item.version

    def sources(self) -> list[str]:
        """The addresses of all open programs."""
        return [*self._notebooks, *(uri for uri in self._texts if uri not in self._cells)]

    def source(self, key: str) -> Source | None:
        """One open program, or None if it is none or written in another language."""
        if key in self._notebooks:
            return Source(key, path_of(key), self._parts(self._notebooks[key]), notebook=True)
        item = self._texts.get(key)
        if item is None or not _is_python(item):
            return None
        return Source(key, path_of(key), (Part(key, item.version, item.text),))

    def open_files(self) -> dict[str, types.TextDocumentItem]:
        """The open source files by their paths."""
        return {path_of(uri): item for uri, item in self._texts.items() if uri not in self._cells}

    def _parts(self, cells: Sequence[types.NotebookCell]) -> tuple[Part, ...]:
        parts: list[Part] = []
        for number, cell in enumerate(cells, 1):
            item = self._texts.get(cell.document)
            part = Part(cell.document, None, "", number, python=False)
            if item is not None:
                python = cell.kind == types.NotebookCellKind.Code and item.language_id == "python"
                part = replace(part, version=item.version, text=item.text, python=python)
            parts.append(part)
        return tuple(parts)

    def _open_cell(self, item: types.TextDocumentItem, notebook: str) -> None:
        self._cells[item.uri] = notebook
        self.open(item)

    def _close_cell(self, uri: str) -> None:
        self._cells.pop(uri, None)
        self.close(uri)


def path_of(uri: str) -> str:
    """The path of a file, or a name in angle brackets for what is in none."""
    path = to_fs_path(uri)
    return f"<{uri}>" if path is None else os.path.normpath(path)


def _is_python(item: types.TextDocumentItem) -> bool:
    return item.language_id == "python" or path_of(item.uri).endswith((".py", ".pyw"))
