"""An audit inside a training library: it begins and ends with the training, and tells its news on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch.distributed as dist

from gradledger.audit.answer import Answer
from gradledger.audit.transfer import answer_from_json, answer_to_json
from gradledger.host.family import labelled, together
from gradledger.host.session import text_of
from gradledger.integrations.settings import read_settings
from gradledger.ledger.errors import AuditError
from gradledger.ledger.record import replace
from gradledger.rules.finding import Certainty, Finding, Severity
from gradledger.watching import Ledger

Say = Callable[[str], None]


class Attached:
    """The audit of one training; findings are told once each, filtered by the project's settings."""

    def __init__(self, say: Say, *, fail: bool = False) -> None:
        self._say = say
        self._fail = fail
        self._settings = read_settings()
        self._told: set[tuple[str, str, int]] = set()
        self._ledger: Ledger | None = None
        self.answer: Answer | None = None
        """What was found, once the training has ended."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What has been found so far, as far as the settings let it through."""
        if self.answer is not None:
            return self.answer.findings
        return () if self._ledger is None else self._heard(self._ledger).findings

    def begin(self, *things: Any) -> None:
        """Watch from here on; a second training is a second audit."""
        if self._ledger is None:
            self.answer = None
            self._ledger = Ledger(things)

    def news(self) -> None:
        """Tell what is new."""
        for finding in self.findings:
            self._tell(finding)

    def end(self, error: BaseException | None = None) -> Answer | None:
        """Stop, put the processes' answers together, tell what is new; raises if findings are to fail."""
        if self._ledger is None:
            return self.answer
        ledger, self._ledger = self._ledger, None
        ledger.__exit__(None, error, None)
        whole = ledger.close()
        self.answer = self._settings.heard(whole if error is not None else _of_all_ranks(whole))
        for finding in self.answer.findings:
            self._tell(finding)
        for note in self.answer.notes:
            self._say(f"gradledger: {note}")
        if self._fail and error is None and self.answer.fails:
            raise AuditError("\n".join(text_of(each) for each in self.answer.findings if each.fails))
        return self.answer

    def numbers(self) -> dict[str, float]:
        """The findings by kind, for a library's own log of numbers."""
        return dict(_numbers(self.findings))

    def _heard(self, ledger: Ledger) -> Answer:
        return self._settings.heard(replace(ledger.so_far(), notes=()))

    def _tell(self, finding: Finding) -> None:
        key = (finding.code, finding.site.path, finding.site.line)
        if key not in self._told:
            self._told.add(key)
            sure = "" if finding.certainty is Certainty.CERTAIN else " (possible)"
            self._say(f"gradledger: {text_of(finding)}{sure}")


def _numbers(findings: tuple[Finding, ...]) -> Iterator[tuple[str, float]]:
    certain = [finding.severity for finding in findings if finding.certainty is Certainty.CERTAIN]
    yield "gradledger/errors", float(certain.count(Severity.ERROR))
    yield "gradledger/warnings", float(certain.count(Severity.WARNING))
    yield "gradledger/possible", float(len(findings) - len(certain))


def _of_all_ranks(mine: Answer) -> Answer:
    """One answer for all processes that train together; every one of them must come here."""
    if not (dist.is_available() and dist.is_initialized()) or dist.get_world_size() < 2:
        return mine
    texts: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(texts, answer_to_json(mine))
    return together([labelled(answer_from_json(text), rank) for rank, text in enumerate(texts)])
