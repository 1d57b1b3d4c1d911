"""GL204: count from one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradledger.repair.case import Case
from gradledger.repair.edits import Edits
from gradledger.repair.guards import Guard, guard_of
from gradledger.repair.repairer import Repairer
from gradledger.repair.roles import STEP
from gradledger.repair.tails import at_last_batch
from gradledger.rules.finding import Fix


class CountFromOne(Repairer):
    """Writes `(i + 1) % n` for `i % n`, and steps the last, short window where that is now missed."""

    code = "GL204"

    def candidates(self, case: Case) -> Iterator[Fix | None]:
        """The guard alone; then with the tail."""
        step, statement = case.call(*STEP), case.statement()
        node: ast.AST | None = step
        if node is None and isinstance(statement, ast.If):
            node = statement.body[0]
        guard = None if node is None else guard_of(case.program, node)
        if guard is None or guard.modulo is None:
            return
        counted = _from_one(case, guard)
        yield case.fix("count from one in the guard", counted)
        flush = at_last_batch(case.editor, guard)
        yield case.fix("count from one, and step the last, short window", counted, flush)


def _from_one(case: Case, guard: Guard) -> Edits:
    count = guard.count
    if not isinstance(count, (ast.Name, ast.Attribute, ast.Subscript)):
        return None
    return case.editor.around(count, "(", " + 1)")
