"""GL308: one scaler for the whole training."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradledger.repair import layout
from gradledger.repair.case import Case
from gradledger.repair.program import Function, Loop
from gradledger.repair.repairer import Repairer
from gradledger.repair.scope import reaches, used_names
from gradledger.rules.finding import Fix


class HoistTheScaler(Repairer):
    """Moves the scaler's construction before the loop, out of the function, or into the constructor."""

    code = "GL308"

    def candidates(self, case: Case) -> Iterator[Fix | None]:
        """The outermost loop that does not also build the optimizer."""
        program, editor = case.program, case.editor
        built = case.statement()
        if not isinstance(built, ast.Assign) or len(built.targets) != 1:
            return
        loops = [loop for loop in program.loops(built) if not _builds_optimizer(loop)]
        for loop in reversed(_unbroken(program.loops(built), loops)):
            if reaches(program, built.value, loop) and not _assigns(loop, used_names(built.value)):
                yield case.fix("create the scaler once, before the loop", editor.move(built, before=loop))
        function = program.function(built)
        if function is None:
            return
        outermost = program.function(function) is None and program.owner(function) is None
        if isinstance(built.targets[0], ast.Attribute):
            yield _in_constructor(case, built, function)
        elif outermost and reaches(program, built.value, function):
            yield case.fix("create the scaler once, outside", editor.move(built, before=function, gap=2))


def _unbroken(around: list[Loop], allowed: list[Loop]) -> list[Loop]:
    """The loops from the innermost outwards, up to the first that is not allowed."""
    kept: list[Loop] = []
    for loop in around:
        if loop not in allowed:
            break
        kept.append(loop)
    return kept


def _builds_optimizer(loop: Loop) -> bool:
    for node in ast.walk(loop):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if "optim." in name or name.rpartition(".")[2] in ("Adam", "AdamW", "SGD", "RMSprop", "Adagrad"):
                return True
    return False


def _assigns(loop: Loop, names: set[str]) -> bool:
    return any(
        isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in names
        for node in ast.walk(loop)
    )


def _in_constructor(case: Case, built: ast.Assign, function: Function) -> Fix | None:
    program = case.program
    owner = program.owner(function)
    makers = [] if owner is None else [n for n in owner.body if isinstance(n, ast.FunctionDef)]
    maker = next((n for n in makers if n.name == "__init__"), None)
    if maker is None or maker is function or not reaches(program, built, maker.body[-1]):
        return None
    if not layout.starts_line(program, maker.body[-1]):
        return None
    return case.fix(
        "create the scaler once, in the constructor", case.editor.move(built, after=maker.body[-1])
    )
