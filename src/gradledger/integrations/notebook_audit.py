"""An audit that knows a notebook: what its cells have made, and which cell a line stands in."""

from __future__ import annotations

import json
import linecache
import os
import sys
from typing import TYPE_CHECKING, Any

from gradledger.audit.answer import Answer, Checked
from gradledger.audit.source import forget, hold
from gradledger.host.arrival import Arrival, when_imported
from gradledger.integrations.settings import Settings, read_settings
from gradledger.ledger.record import replace
from gradledger.ledger.site import Site
from gradledger.report.inline import inline
from gradledger.report.style import StreamFacts
from gradledger.report.text_form import render
from gradledger.rules.finding import Finding

if TYPE_CHECKING:
    from gradledger.watching import Ledger


class Output:
    """An answer as a cell's output: HTML where that can be shown, text elsewhere."""

    def __init__(self, answer: Answer, cwd: str) -> None:
        self.answer = answer
        self._cwd = cwd

    def _repr_html_(self) -> str:
        return inline(self.answer, self._cwd)

    def __repr__(self) -> str:
        return render(self.answer, StreamFacts(cwd=self._cwd)).rstrip("\n")


class NotebookAudit:
    """Watches from begin() to end(), or from the moment at which a cell imports torch."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._settings = read_settings()
        self._ledger: Ledger | None = None
        self._arrival: Arrival | None = None
        self._told: set[tuple[str, str, int]] = set()

    def begin(self) -> None:
        """Start, with the models and optimizers that are there already."""
        self._arrival = when_imported("torch", self._start)

    def so_far(self) -> Output:
        """All that is known now."""
        if self._ledger is None:
            return self._output(Answer("runtime", (), Checked()))
        return self._output(self._ledger.so_far())

    def news(self) -> Output | None:
        """What was not told before, if anything."""
        told = self.so_far()
        fresh = tuple(one for one in told.answer.findings if _key(one) not in self._told)
        if not fresh:
            return None
        self._told.update(map(_key, fresh))
        return Output(replace(told.answer, findings=fresh), self._settings.cwd)

    def end(self, error: BaseException | None = None) -> Output:
        """Stop, and give all that was found."""
        if self._arrival is not None:
            self._arrival.remove()
        if self._ledger is not None:
            self._ledger.__exit__(None, error, None)
        return self.so_far()

    def _start(self) -> None:
        from gradledger.watching import Ledger

        self._ledger = Ledger(_trained_things(self._shell.user_ns))

    def _output(self, answer: Answer) -> Output:
        return _shown(self._settings.heard(answer), self._shell, self._settings)


def _trained_things(names: dict[str, Any]) -> list[Any]:
    """The models and optimizers of earlier cells, once each."""
    torch = sys.modules["torch"]
    kinds = (torch.nn.Module, torch.optim.Optimizer)
    found = [value for name, value in names.items() if not name.startswith("_") and isinstance(value, kinds)]
    return list({id(thing): thing for thing in found}.values())


def check_cells(shell: Any, path: str) -> Output:
    """Check a file, or the cells that ran so far, as one notebook; nothing is run."""
    from IPython.core.error import UsageError

    from gradledger.checking.neighbours import Neighbours
    from gradledger.checking.one_file import check_file

    settings = read_settings()
    if path:
        name = os.path.join(settings.cwd, os.path.expanduser(path))
        try:
            with open(name, "rb") as file:
                raw = file.read()
        except OSError as error:
            raise UsageError(f"%gradledger check: {path}: {error.strerror}") from None
    else:
        name, raw = "session.ipynb", _as_notebook(shell)
    forget()
    outcome = check_file(name, raw, Neighbours(settings.cwd))
    notes = [
        *outcome.notes,
        *(f"{problem.path}:{problem.line}: {problem.reason}" for problem in outcome.problems),
    ]
    if not path:
        for number, text in enumerate(_inputs(shell), 1):
            hold(name, number, text)
    answer = settings.heard(Answer("static", outcome.findings, Checked(files=1), tuple(notes)))
    return Output(answer, settings.cwd) if path else _shown(answer, shell, settings, session=name)


def _inputs(shell: Any) -> list[str]:
    """The cells that ran, as they were typed; the last one is still running, and is the question itself."""
    return [str(text) for text in shell.history_manager.input_hist_raw[1:-1]]


def _as_notebook(shell: Any) -> bytes:
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": text} for text in _inputs(shell)]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def _shown(answer: Answer, shell: Any, settings: Settings, session: str | None = None) -> Output:
    """The answer with the cells' own names in place of their files' names."""

    def named(site: Site) -> Site:
        if site.cell is not None and site.path == session:
            label, text = f"In[{site.cell}]", _inputs(shell)[site.cell - 1]
        else:
            found = shell.compile.format_code_name(site.path)
            if found is None:
                return site
            label, text = found[1], "".join(linecache.getlines(site.path))
        hold(label, None, text)
        return replace(site, path=label, cell=None)

    findings = tuple(
        replace(
            finding,
            site=named(finding.site),
            related=tuple(replace(each, site=named(each.site)) for each in finding.related),
        )
        for finding in answer.findings
    )
    return Output(replace(answer, findings=findings), settings.cwd)


def _key(finding: Finding) -> tuple[str, str, int]:
    return finding.code, finding.site.path, finding.site.line
