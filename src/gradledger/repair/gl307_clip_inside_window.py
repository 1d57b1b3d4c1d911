"""GL307: clip once per window."""

from __future__ import annotations

from collections.abc import Iterator

from gradledger.repair.case import Case
from gradledger.repair.clips import before_step, clip_statement
from gradledger.repair.gates import sync_gate
from gradledger.repair.repairer import Repairer
from gradledger.rules.finding import Fix


class ClipTheTotal(Repairer):
    """Moves the clip under the step's guard, right above the step."""

    code = "GL307"

    def candidates(self, case: Case) -> Iterator[Fix | None]:
        """Where a library decides about the step, the clip gets the library's condition."""
        clip, step = clip_statement(case), case.step()
        if clip is None or step is None:
            return
        gate = sync_gate(case.program, clip, case.program.statement(step))
        if gate is not None:
            yield case.fix("clip once per window", case.editor.nest(clip, f"if {gate}:"))
        yield case.fix("clip once per window, before the step", before_step(case, clip, step))
