"""Elementary edits in the ways people lay out their statements."""

from __future__ import annotations

import ast

import pytest

from gradledger.repair.apply import applied
from gradledger.repair.edits import Editor, Edits
from gradledger.repair.program import Program, read


class Bench:
    """A program whose statements are found by their text."""

    def __init__(self, text: str) -> None:
        program = read(text)
        assert program is not None
        self.program: Program = program
        self.editor = Editor(program, "f.py")

    def statement(self, text: str) -> ast.stmt:
        found = [n for n in self.program.nodes if isinstance(n, ast.stmt)]
        return next(n for n in found if self.program.text_of(n).startswith(text))

    def after(self, edits: Edits) -> str:
        assert edits is not None
        result = applied(self.program.text, edits)
        assert read(result) is not None, result
        return result


INSERT_BEFORE = {
    "plain": ("for x in y:\n    a()\n", "for x in y:\n    new()\n    a()\n"),
    "tabs": ("for x in y:\n\ta()\n", "for x in y:\n\tnew()\n\ta()\n"),
    "crlf": ("for x in y:\r\n    a()\r\n", "for x in y:\r\n    new()\r\n    a()\r\n"),
    "comment": ("b()\n# why\na()\n", "b()\nnew()\n# why\na()\n"),
    "semicolon": ("b(); a()\n", "b(); new(); a()\n"),
    "one line": ("if c: a()\n", "if c: new(); a()\n"),
    "no newline": ("b()\na()", "b()\nnew()\na()"),
    "string above": ('b("""\n# no comment\n""")\na()\n', 'b("""\n# no comment\n""")\nnew()\na()\n'),
}
INSERT_AFTER = {
    "plain": ("for x in y:\n  a()\nb()\n", "for x in y:\n  a()\n  new()\nb()\n"),
    "tabs": ("for x in y:\n\ta()\n", "for x in y:\n\ta()\n\tnew()\n"),
    "crlf": ("a()\r\nb()\r\n", "a()\r\nnew()\r\nb()\r\n"),
    "trailing comment": ("a()  # why\nb()\n", "a()  # why\nnew()\nb()\n"),
    "semicolon": ("a(); b()\n", "a(); new(); b()\n"),
    "last of line": ("b(); a()\n", "b(); a(); new()\n"),
    "one line": ("if c: a()\nb()\n", "if c: a(); new()\nb()\n"),
    "no newline": ("a()", "a()\nnew()"),
    "many lines": ("a(\n    1,\n)\nb()\n", "a(\n    1,\n)\nnew()\nb()\n"),
    "idle semicolon": ("a();\nb()\n", "a();\nnew()\nb()\n"),
}
REMOVE = {
    "plain": ("b()\na()\nc()\n", "b()\nc()\n"),
    "with its trailing comment": ("b()\na()  # why\nc()\n", "b()\nc()\n"),
    "comment above stays": ("b()\n# section\na()\nc()\n", "b()\n# section\nc()\n"),
    "only one": ("if c:\n    a()\nb()\n", "if c:\n    pass\nb()\n"),
    "only one, tabs, crlf": ("if c:\r\n\ta()\r\nb()\r\n", "if c:\r\n\tpass\r\nb()\r\n"),
    "first of line": ("a(); b()\n", "b()\n"),
    "middle of line": ("b(); a(); c()\n", "b(); c()\n"),
    "last of line": ("b(); a()  # why\n", "b()  # why\n"),
    "one line": ("if c: a()\nb()\n", "if c: pass\nb()\n"),
    "one line, two": ("if c: b(); a()\n", "if c: b()\n"),
    "last line": ("b()\na()", "b()\n"),
    "many lines": ("b()\na(\n    1,\n)\nc()\n", "b()\nc()\n"),
}


@pytest.mark.parametrize(("before", "after"), INSERT_BEFORE.values(), ids=INSERT_BEFORE)
def test_a_line_is_inserted_before(before: str, after: str) -> None:
    bench = Bench(before)
    assert bench.after(bench.editor.before(bench.statement("a("), "new()")) == after


@pytest.mark.parametrize(("before", "after"), INSERT_AFTER.values(), ids=INSERT_AFTER)
def test_a_line_is_inserted_after(before: str, after: str) -> None:
    bench = Bench(before)
    assert bench.after(bench.editor.after(bench.statement("a("), "new()")) == after


@pytest.mark.parametrize(("before", "after"), REMOVE.values(), ids=REMOVE)
def test_a_statement_is_removed(before: str, after: str) -> None:
    bench = Bench(before)
    assert bench.after(bench.editor.remove(bench.statement("a("))) == after


def test_a_new_block_takes_the_indentation_of_the_file() -> None:
    bench = Bench("if c:\n  a()\n")
    edits = bench.editor.before(bench.statement("a("), "if d:", "\tnew()")
    assert bench.after(edits) == "if c:\n  if d:\n    new()\n  a()\n"


def test_a_new_block_is_not_squeezed_into_a_line() -> None:
    bench = Bench("if c: a()\n")
    assert bench.editor.before(bench.statement("a("), "if d:", "\tnew()") is None


def test_a_decorated_function_keeps_its_decorators() -> None:
    bench = Bench("b()\n\n@d\ndef a():\n    pass\n")
    function = bench.statement("def a")
    assert bench.after(bench.editor.before(function, "new()")) == "b()\n\nnew()\n@d\ndef a():\n    pass\n"


def test_a_statement_moves_with_its_comments() -> None:
    bench = Bench("for x in y:\n    # clip\n    a()  # here\n    if c:\n        b()\n")
    moved = bench.after(bench.editor.move(bench.statement("a("), before=bench.statement("b(")))
    assert moved == "for x in y:\n    if c:\n        # clip\n        a()  # here\n        b()\n"


def test_a_call_over_many_lines_moves_as_it_is() -> None:
    bench = Bench("for x in y:\n\ta(\n\t\t1,\n\t)\n\tif c:\n\t\tb()\n")
    moved = bench.after(bench.editor.move(bench.statement("a("), before=bench.statement("b(")))
    assert moved == "for x in y:\n\tif c:\n\t\ta(\n\t\t\t1,\n\t\t)\n\t\tb()\n"


def test_lines_inside_a_string_are_never_indented_anew() -> None:
    bench = Bench('a("""\none\n""")\nif c:\n    b()\n')
    assert bench.editor.move(bench.statement("a("), before=bench.statement("b(")) is None


def test_a_move_behind_the_last_line_ends_that_line() -> None:
    bench = Bench("a()\nif c:\n    b()")
    moved = bench.after(bench.editor.move(bench.statement("a("), after=bench.statement("b(")))
    assert moved == "if c:\n    b()\n    a()"


def test_a_statement_between_semicolons_can_move() -> None:
    bench = Bench("b(); a(); c()\n")
    moved = bench.after(bench.editor.move(bench.statement("a("), before=bench.statement("b(")))
    assert moved == "a()\nb(); c()\n"


def test_a_condition_is_put_over_a_statement() -> None:
    bench = Bench("for p in ps:\n\ta(\n\t\tp,\n\t)\n")
    nested = bench.after(bench.editor.nest(bench.statement("a("), "if p:"))
    assert nested == "for p in ps:\n\tif p:\n\t\ta(\n\t\t\tp,\n\t\t)\n"


def test_a_condition_is_put_over_the_body_of_a_line() -> None:
    bench = Bench("for p in ps: a(p)  # c\nb()\n")
    nested = bench.after(bench.editor.nest(bench.statement("a("), "if p:"))
    assert nested == "for p in ps:\n    if p:\n        a(p)  # c\nb()\n"


DIVIDED = {
    "a.backward()": "(a / n).backward()",
    "(a).backward()": "(a / n).backward()",
    "(a + b).backward()": "((a + b) / n).backward()",
    "(a * b).backward()": "(a * b / n).backward()",
    "f(x).backward()": "(f(x) / n).backward()",
    "s.scale(a).backward()": "s.scale(a / n).backward()",
    "s.scale(a + b).backward()": "s.scale((a + b) / n).backward()",
    "acc.backward(a if c else b)": "acc.backward((a if c else b) / n)",
    "é = ü.backward()": "é = (ü / n).backward()",
}


@pytest.mark.parametrize(("before", "after"), DIVIDED.items())
def test_a_loss_is_divided_with_the_parentheses_it_needs(before: str, after: str) -> None:
    bench = Bench(before)
    call = next(c for c in bench.program.calls if ast.unparse(c.func).endswith("backward"))
    assert isinstance(call.func, ast.Attribute)
    loss = call.args[0] if call.args else call.func.value
    if isinstance(loss, ast.Call) and ast.unparse(loss.func) == "s.scale":
        loss = loss.args[0]
    assert bench.after(bench.editor.divided(loss, "n")) == after


def test_a_parenthesised_chain_is_divided_in_place() -> None:
    bench = Bench("(\n    loss\n    .mean()\n    .backward()\n)\n")
    call = next(c for c in bench.program.calls if ast.unparse(c.func).endswith("backward"))
    assert isinstance(call.func, ast.Attribute)
    after = bench.after(bench.editor.divided(call.func.value, "n"))
    assert after == "(\n    (loss\n    .mean() / n)\n    .backward()\n)\n"
