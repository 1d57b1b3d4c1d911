"""GL502: reduce the last micro-batch of each window."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradledger.repair import layout
from gradledger.repair.case import Case
from gradledger.repair.edits import Edits
from gradledger.repair.expressions import atom
from gradledger.repair.guards import guard_of
from gradledger.repair.locate import called
from gradledger.repair.program import Program
from gradledger.repair.repairer import Repairer
from gradledger.repair.roles import STEP
from gradledger.repair.scope import bindings, reaches
from gradledger.repair.windows import micro_loop
from gradledger.rules.finding import Fix


class ReduceTheLast(Repairer):
    """Leaves `no_sync()` where the step's guard is true, and enters it where it is not."""

    code = "GL502"

    def candidates(self, case: Case) -> Iterator[Fix | None]:
        """Only for a `with` around forward and backward that enters `no_sync()`, always or by a condition."""
        program, editor = case.program, case.editor
        step, backward = case.call(*STEP), case.backward()
        if step is None or backward is None:
            return
        description = "reduce at the last micro-batch of each window"
        branch = next((a for a in program.ancestors(step) if isinstance(a, ast.If)), None)
        for around in program.ancestors(backward):
            manager = _manager(program, around)
            last = None if manager is None else _last(program, step, backward)
            match manager:
                case ast.Call() if called(manager) == "no_sync" and last is not None:
                    name, imported = _nullcontext(case)
                    yield case.fix(
                        description, editor.around(manager, f"{name}() if {last} else ", ""), imported
                    )
                case ast.IfExp(orelse=ast.Call() as local) if called(local) == "no_sync":
                    if branch is not None and reaches(program, branch.test, manager):
                        test = program.text_of(branch.test)
                        yield case.fix(description, editor.replace(manager.test, test))
                case ast.IfExp(body=ast.Call() as local) if called(local) == "no_sync":
                    test = program.text_of(manager.test)
                    if branch is not None and program.text_of(branch.test) == test:
                        turned = f"not {atom(manager.test, test)}"
                        yield case.fix(description, editor.replace(manager.test, turned))


def _manager(program: Program, around: ast.AST) -> ast.expr | None:
    """The context that a `with` enters, also where one choice between two gave it a name."""
    if not isinstance(around, ast.With):
        return None
    manager = around.items[0].context_expr
    if not isinstance(manager, ast.Name):
        return manager
    name, function = manager.id, program.function(around)
    given = [
        node
        for node in program.nodes
        if isinstance(node, ast.Assign)
        and program.function(node) is function
        and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    ]
    return given[0].value if len(given) == 1 and isinstance(given[0].value, ast.IfExp) else None


def _last(program: Program, step: ast.Call, backward: ast.Call) -> str | None:
    """The condition that this is the window's last micro-batch."""
    guard = guard_of(program, step)
    if guard is not None and not guard.skips and reaches(program, guard.test, backward):
        return program.text_of(guard.test)
    match micro_loop(program, backward, step):
        case ast.For(target=ast.Name(id=index), iter=ast.Call(func=ast.Name(id="range"), args=[count])):
            return f"{index} + 1 == {atom(count, program.text_of(count))}"
    return None


def _nullcontext(case: Case) -> tuple[str, Edits]:
    """How the file can name a context that does nothing, with the import it may need."""
    program = case.program
    known = bindings(program.tree)
    if "nullcontext" in known:
        return "nullcontext", []
    if "contextlib" in known:
        return "contextlib.nullcontext", []
    first = next(
        (s for s in program.tree.body if isinstance(s, (ast.Import, ast.ImportFrom)) and not _is_future(s)),
        None,
    )
    if first is None or not layout.starts_line(program, first):
        return "nullcontext", None
    return "contextlib.nullcontext", case.editor.before(first, "import contextlib")


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
