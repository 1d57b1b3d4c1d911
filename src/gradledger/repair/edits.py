"""The elementary edits: insert lines, remove, move and wrap; None where one cannot be done safely."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from gradledger.ledger.record import replace
from gradledger.repair import layout
from gradledger.repair.expressions import ATOMS, TIGHT, closing, in_parentheses, is_product, is_receiver
from gradledger.repair.program import Place, Program
from gradledger.rules.finding import Edit

Edits = list[Edit] | None


class Editor:
    """Makes edits to one program."""

    def __init__(self, program: Program, path: str) -> None:
        self.program = program
        self.path = path

    def edit(self, start: Place, end: Place, text: str) -> Edit:
        """Replace what is between two places."""
        return Edit(self.path, start, end, text)

    # --- new lines ----------------------------------------------------------------------------------

    def before(self, statement: ast.stmt, *code: str) -> Edits:
        """New lines above the statement and its comment; a leading tab in `code` is one level deeper."""
        program = self.program
        if not layout.starts_line(program, statement):
            return self._on_line(program.start(statement), code, "{}; ")
        place = (layout.own_comment(program, statement), 1)
        return [self.edit(place, place, self._lines(statement, code))]

    def after(self, statement: ast.stmt, *code: str) -> Edits:
        """New lines below the statement."""
        program = self.program
        if not layout.has_own_lines(program, statement):
            return self._on_line(program.end(statement), code, "; {}")
        return [self._below(statement, self._lines(statement, code))]

    def _below(self, statement: ast.stmt, lines: str) -> Edit:
        place, unended = layout.below(self.program, layout.last_line(statement))
        eol = self.program.eol
        return self.edit(place, place, eol + lines[: -len(eol)] if unended else lines)

    def _on_line(self, place: Place, code: Sequence[str], form: str) -> Edits:
        if any(line.startswith("\t") or line.endswith(":") for line in code):
            return None
        return [self.edit(place, place, form.format("; ".join(code)))]

    def _lines(self, beside: ast.stmt, code: Sequence[str]) -> str:
        margin, unit = layout.indent(self.program, beside), layout.unit(self.program)
        deep = ((len(line) - len(line.lstrip("\t")), line.lstrip("\t")) for line in code)
        return "".join(margin + unit * depth + line + self.program.eol for depth, line in deep)

    # --- removing -----------------------------------------------------------------------------------

    def remove(self, statement: ast.stmt, *, comment: bool = False) -> Edits:
        """Take the statement away, with its own comment if asked; an emptied block gets a `pass`."""
        program = self.program
        block = program.block(statement)
        start, end = program.start(statement), program.end(statement)
        alone = len(block) == 1
        if alone and layout.has_own_lines(program, statement):
            top = layout.own_comment(program, statement) if comment else layout.first_line(statement)
            margin = layout.indent(program, statement)
            stop = (end[0], len(program.line(end[0])) + 1)
            return [self.edit((top, 1), stop, margin + "pass")]
        if alone:
            return [self.edit(start, end, "pass")]
        if layout.has_own_lines(program, statement):
            top = layout.own_comment(program, statement) if comment else layout.first_line(statement)
            place, _ = layout.below(program, end[0])
            return [self.edit((top, 1), place, "")]
        index = next(i for i, item in enumerate(block) if item is statement)
        follower = block[index + 1] if index + 1 < len(block) else None
        if follower is not None and program.start(follower)[0] == end[0]:
            return [self.edit(start, program.start(follower), "")]
        return [self.edit(program.end(block[index - 1]), end, "")]

    # --- moving -------------------------------------------------------------------------------------

    def move(
        self,
        statement: ast.stmt,
        *,
        before: ast.stmt | None = None,
        after: ast.stmt | None = None,
        led_by: str = "",
        gap: int = 0,
    ) -> Edits:
        """Move the statement with its comments: a new line in front of it, empty lines behind it if given."""
        target = before or after
        removed = self.remove(statement, comment=True)
        if target is None or target is statement or removed is None:
            return None
        placed = self._placed(statement, target, below=before is None, led_by=led_by)
        if placed is None:
            return None
        spaced = [replace(edit, text=edit.text + self.program.eol * gap) for edit in placed]
        return [*removed, *spaced]

    def _placed(self, statement: ast.stmt, target: ast.stmt, *, below: bool, led_by: str) -> Edits:
        program = self.program
        free = layout.has_own_lines(program, target) if below else layout.starts_line(program, target)
        if not free or not layout.has_own_lines(program, statement):
            code = program.text_of(statement)
            if hasattr(statement, "body") or "\n" in code or "\r" in code:
                return None
            lines = (led_by, code) if led_by else (code,)
            return self.after(target, *lines) if below else self.before(target, *lines)
        margin = layout.indent(program, target)
        there = self.lines_of(statement, margin)
        if there is None:
            return None
        text = (margin + led_by + program.eol if led_by else "") + there
        if below:
            return [self._below(target, text)]
        place = (layout.own_comment(program, target), 1)
        return [self.edit(place, place, text)]

    def lines_of(self, statement: ast.stmt, margin: str) -> str | None:
        """The statement's lines with its comments, indented anew."""
        program = self.program
        old = layout.indent(program, statement)
        if old != margin and layout.spans_lines_in_strings(statement):
            return None
        numbers = range(layout.own_comment(program, statement), layout.last_line(statement) + 1)
        lines = [program.line(number) for number in numbers]
        moved = [margin + line[len(old) :] if line.startswith(old) else line for line in lines]
        return "".join(line + program.eol for line in moved)

    def nest(self, statement: ast.stmt, header: str) -> Edits:
        """Put the statement, where it stands, under a new header such as `if x is not None:`."""
        program = self.program
        if not layout.ends_line(program, statement) or hasattr(statement, "body"):
            return None
        if layout.starts_line(program, statement):
            margin = layout.indent(program, statement)
            if layout.spans_lines_in_strings(statement):
                return None
            unit, first, last = (
                layout.unit(program),
                layout.first_line(statement),
                layout.last_line(statement),
            )
            edits = [self.edit((first, 1), (first, 1), margin + header + program.eol + unit)]
            # Lines inside brackets follow the first one.
            return edits + [self.edit((n, 1), (n, 1), unit) for n in range(first + 1, last + 1)]
        block = program.block(statement)
        parent = program.parent(statement)
        if len(block) > 1 or not isinstance(parent, ast.stmt) or statement.lineno != parent.lineno:
            return None
        # `for p in ps: use(p.grad)`: the header keeps its line, the rest goes below it.
        unit, margin = layout.unit(program), layout.indent(program, parent)
        start = program.start(statement)
        head = program.line(start[0])[: start[1] - 1]
        text = program.eol + margin + unit + header + program.eol + margin + unit * 2
        return [self.edit((start[0], len(head.rstrip()) + 1), start, text)]

    # --- expressions --------------------------------------------------------------------------------

    def replace(self, node: ast.expr | ast.stmt, text: str) -> Edits:
        """Write another text in the node's place."""
        return [self.edit(self.program.start(node), self.program.end(node), text)]

    def around(self, node: ast.expr, left: str, right: str) -> Edits:
        """Write something on both sides of an expression, leaving it as it is."""
        start, end = self.program.start(node), self.program.end(node)
        return [edit for edit in (self.edit(start, start, left), self.edit(end, end, right)) if edit.text]

    def divided(self, node: ast.expr, divisor: str) -> Edits:
        """`loss` -> `loss / n`, in parentheses as its place demands."""
        outer = is_receiver(self.program, node) and not in_parentheses(self.program, node)
        inner = not isinstance(node, TIGHT) and not is_product(node)
        left, right = "(" * (outer + inner), ")" * inner + f" / {divisor}" + ")" * outer
        return self.around(node, left, right)

    def method(self, node: ast.expr, call: str) -> Edits:
        """`loss` -> `loss.item()`, in parentheses where the expression needs them."""
        if isinstance(node, ATOMS) or in_parentheses(self.program, node):
            end = closing(self.program, node) if not isinstance(node, ATOMS) else self.program.end(node)
            return [self.edit(end, end, call)]
        return self.around(node, "(", ")" + call)
