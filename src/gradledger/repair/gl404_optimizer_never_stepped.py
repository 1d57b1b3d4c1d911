"""GL404: step the forgotten optimizer."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradledger.repair.case import Case
from gradledger.repair.locate import called
from gradledger.repair.program import Program, after_of
from gradledger.repair.repairer import Repairer
from gradledger.repair.roles import STEP, does, expression_call, is_plain, is_scaler, receiver
from gradledger.repair.scope import reaches
from gradledger.rules.finding import Fix


class StepTheForgotten(Repairer):
    """Adds the missing step beside that of the optimizer which the same backward serves."""

    code = "GL404"

    def candidates(self, case: Case) -> Iterator[Fix | None]:
        """Only where the backward and another optimizer's step stand in one block."""
        program = case.program
        built, backward = case.statement(), case.backward()
        if not isinstance(built, ast.Assign) or len(built.targets) != 1 or backward is None:
            return
        name = built.targets[0]
        if not is_plain(name) or not reaches(program, name, backward) or _is_stepped(program, name):
            return
        below = program.statement(backward)
        for statement in after_of(below, program.block(below)):
            call = expression_call(statement)
            owner = None if call is None else receiver(call)
            if owner is not None and does(statement, *STEP):
                text = program.text_of(name)
                code = f"{text}.step()"
                if is_scaler(program, owner):
                    code = f"{program.text_of(owner)}.step({text})"
                yield case.fix(f"step it as well: `{code}`", case.editor.after(statement, code))
                return


def _is_stepped(program: Program, optimizer: ast.expr) -> bool:
    text = program.text_of(optimizer)
    return any(
        called(call) in STEP and any(program.text_of(n) == text for n in (receiver(call), *call.args) if n)
        for call in program.calls
    )
