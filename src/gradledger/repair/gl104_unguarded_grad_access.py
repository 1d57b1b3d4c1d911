"""GL104: ask whether there is a gradient first."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradledger.repair.case import Case
from gradledger.repair.program import Program
from gradledger.repair.repairer import Repairer
from gradledger.rules.finding import Fix


class AskFirst(Repairer):
    """Puts `is not None` before the access, where its statement or its turn can be left out."""

    code = "GL104"

    def candidates(self, case: Case) -> Iterator[Fix | None]:
        """In a comprehension, over one statement, over one turn of the loop."""
        statement = case.statement()
        if statement is None:
            return
        for access in _accesses(case.program, statement):
            text = case.program.text_of(access)
            description = f"ask first: `{text} is not None`"
            each = _comprehension(case.program, access)
            if each is not None:
                place = case.program.end(each.ifs[-1] if each.ifs else each.iter)
                joint = " and" if each.ifs else " if"
                edit = case.editor.edit(place, place, f"{joint} {text} is not None")
                yield case.fix(description, [edit])
            elif _can_be_left_out(statement):
                yield case.fix(description, case.editor.nest(statement, f"if {text} is not None:"))
            else:
                yield _skipped_turn(case, statement, access)


def _accesses(program: Program, statement: ast.stmt) -> list[ast.Attribute]:
    """The `.grad` expressions of which something is asked, each text once."""
    inner = [statement.iter] if isinstance(statement, ast.For) else [statement]
    found: dict[str, ast.Attribute] = {}
    for node in (n for part in inner for n in ast.walk(part)):
        if isinstance(node, ast.Attribute) and node.attr == "grad":
            found.setdefault(program.text_of(node), node)
    return list(found.values())


def _comprehension(program: Program, access: ast.Attribute) -> ast.comprehension | None:
    names = {node.id for node in ast.walk(access) if isinstance(node, ast.Name)}
    for around in program.ancestors(access):
        if isinstance(around, (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)):
            for each in around.generators:
                if any(isinstance(n, ast.Name) and n.id in names for n in ast.walk(each.target)):
                    return each
    return None


def _can_be_left_out(statement: ast.stmt) -> bool:
    """Whether nothing later needs a value that this statement makes."""
    return isinstance(statement, (ast.Expr, ast.AugAssign))


def _skipped_turn(case: Case, statement: ast.stmt, access: ast.Attribute) -> Fix | None:
    program = case.program
    names = {node.id for node in ast.walk(access) if isinstance(node, ast.Name)}
    loop = next(iter(program.loops(statement)), None)
    if not isinstance(loop, ast.For) or statement not in loop.body:
        return None
    if not any(isinstance(n, ast.Name) and n.id in names for n in ast.walk(loop.target)):
        return None
    text = program.text_of(access)
    edits = case.editor.before(statement, f"if {text} is None:", "\tcontinue")
    return case.fix(f"leave out parameters without a gradient: `{text} is None`", edits)
