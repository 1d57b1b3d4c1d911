"""One test under audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradledger.audit.answer import Answer, Checked
from gradledger.host.arrival import Arrival, when_imported
from gradledger.integrations.settings import Settings
from gradledger.ledger.errors import AuditError
from gradledger.report.style import StreamFacts
from gradledger.report.text_form import render

if TYPE_CHECKING:
    from gradledger.watching import Ledger


class TestAudit:
    """Watches from begin() to end(); a test that never imports torch is never watched."""

    def __init__(self, settings: Settings, allowed: frozenset[str]) -> None:
        self._settings = settings
        self._allowed = allowed
        self._arrival: Arrival | None = None
        self._fault: Exception | None = None
        self._over = False
        self.ledger: Ledger | None = None
        self.answer: Answer | None = None
        """What is to be reported once the test has ended; None if it did not train."""
        self.failure: AuditError | None = None
        """What to fail the test with."""

    def begin(self, *, at_once: bool) -> None:
        """Watch now, or as soon as torch is imported."""
        if at_once:
            self._start()
        else:
            self._arrival = when_imported("torch", self._start_quietly)

    def end(self, error: BaseException | None = None) -> None:
        """Stop watching, the first time this is called."""
        if self._over:
            return
        self._over = True
        if self._arrival is not None:
            self._arrival.remove()
        if self._fault is not None:
            fault = f"{type(self._fault).__name__}: {self._fault}"
            note = f"a test could not be audited because of a fault of ours ({fault})"
            self.answer = Answer("runtime", (), Checked(), (note,))
        if self.ledger is None:
            return
        cause = error if isinstance(error, Exception) else None  # pytest.skip() and the like are no crash
        self.ledger.__exit__(None, cause, None)
        answer = self.ledger.close()
        if not (answer.checked.backwards or answer.checked.steps or answer.findings):
            return
        self.answer = self._settings.heard(answer, self._allowed)
        failing = [finding for finding in self.answer.findings if finding.fails]
        if failing:
            self.failure = AuditError(
                "; ".join(f"{each.code} {each.name} at {each.site}" for each in failing)
            )

    def text(self) -> str:
        """The findings to read."""
        assert self.answer is not None
        facts = StreamFacts(cwd=self._settings.cwd)
        return render(self.answer, facts)

    def _start(self) -> None:
        from gradledger.watching import watch

        self.ledger = watch()

    def _start_quietly(self) -> None:
        """Inside `import torch`, which no fault of ours may fail."""
        try:
            self._start()
        except Exception as fault:
            self._fault = fault
