"""The end of a run or a check: what is reported, where, and with which exit code."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

from gradledger.audit.answer import Answer
from gradledger.audit.atomic import write_atomically
from gradledger.audit.baseline import Baseline, baseline_of, without_known, write_baseline
from gradledger.audit.select import Selection, selected
from gradledger.cli.terminal import emit
from gradledger.ledger.record import dataclass, replace
from gradledger.report.forms import Renderer
from gradledger.report.style import StreamFacts
from gradledger.report.summary import summary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from gradledger.cli.paging import Page

CANNOT_WRITE = 2


def _fails(answer: Answer) -> bool:
    return answer.fails


@dataclass(frozen=True, slots=True)
class Conclusion:
    """Everything about the report that was settled before the user's program started.

    The program may change its directory, its environment and its streams; none of that matters here.
    """

    render: Renderer
    stream: TextIO
    facts: StreamFacts
    file_facts: StreamFacts
    wishes: Selection
    baseline: Baseline | None = None
    new_baseline: Path | None = None
    output: Path | None = None
    exit_zero: bool = False
    command: str = "run"
    fails: Callable[[Answer], bool] = _fails
    """Whether what is left to report is a reason to exit with 1."""
    complaints: TextIO | None = None
    """Where to say that something could not be written, if not on the stream."""
    page: Page | None = None
    """The page that is written beside the report."""

    def __call__(self, answer: Answer, script_exit: int) -> int:
        """Report the answer; the program's own exit code wins if it is not zero."""
        chosen = selected(answer, self.wishes, self.facts.cwd)
        chosen, baseline_written = self._past_baseline(chosen)
        written = self._report(chosen) and self._paged(chosen)
        if script_exit != 0:
            return script_exit
        if not (written and baseline_written):
            return CANNOT_WRITE
        return 1 if self.fails(chosen) and not self.exit_zero else 0

    def _past_baseline(self, answer: Answer) -> tuple[Answer, bool]:
        if self.new_baseline is not None:
            fresh = baseline_of(answer, self.new_baseline)
            try:
                write_baseline(fresh)
            except OSError as error:
                self._complain("baseline", self.new_baseline, error)
                return answer, False
            what = "1 finding" if fresh.size == 1 else f"{fresh.size} findings"
            note = f"wrote {what} to the baseline {self.new_baseline.name}, which now counts as known"
            known = without_known(answer, fresh)
            return replace(known, notes=(*answer.notes, note)), True
        return (answer if self.baseline is None else without_known(answer, self.baseline)), True

    def _report(self, answer: Answer) -> bool:
        """Write the report; if the file cannot be written, the terminal gets it."""
        if self.output is None:
            self._say(self.render(answer, self.facts))
            return True
        try:
            write_atomically(self.output, self.render(answer, self.file_facts))
        except OSError as error:
            self._complain("report", self.output, error)
            self._say(self.render(answer, self.facts))
            return False
        self._say(self.facts.plain(f"{summary(answer)} (report in {self.output.name})") + "\n")
        return True

    def _paged(self, answer: Answer) -> bool:
        if self.page is None:
            return True
        try:
            self.page.write(answer, self.facts.cwd)
        except OSError as error:
            self._complain("page", self.page.output, error)
            return False
        self._say(self.facts.plain(f"the run as a page: {self.page.output}") + "\n")
        return True

    def _complain(self, what: str, path: Path, error: OSError) -> None:
        reason = error.strerror or str(error)
        self._say(
            self.facts.plain(f"gradledger {self.command}: cannot write the {what} to {path}: {reason}")
            + "\n",
            self.complaints,
        )

    def _say(self, text: str, stream: TextIO | None = None) -> None:
        # the program may have closed the stream, or nobody reads it: the exit code still tells
        with suppress(OSError, ValueError):
            emit(text, stream or self.stream)
