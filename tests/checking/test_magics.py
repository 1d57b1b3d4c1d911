from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradledger.checking.magics import plain_python
from tests.samples import steady


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("x = 1\n", "x = 1\n"),
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("if x:\n    !pip install torch\ny = 2", "if x:\n    pass\ny = 2"),
        ("!pip install \\\n  torch \\\n  numpy\nx = 1", "pass\n\n\nx = 1"),
        ("files = !ls\nx = 1", "files = None\nx = 1"),
        ("out = %timeit -o f()", "out = None"),
        ("torch.nn?", "pass"),
        ("model.train??\nx", "pass\nx"),
        ("?model", "pass"),
        ("%time train(model)", "pass; train(model)"),
        ("%timeit -n 10 -r3 train(model)", "pass;             train(model)"),
        ("%time", "pass"),
        ("%%time\ntrain()", "\ntrain()"),
        ("\n%%capture out\ntrain()", "\n\ntrain()"),
        ("%%bash\nls *.py\necho $x", "\n\n"),
        ("%%writefile train.py\nloss.backward()", "\n"),
        ("%%unheard_of\nloss.backward()", "\n"),
        ("print('%d'\n      % x)", "print('%d'\n      % x)"),
        ('"""\n%time\nWhy?\n!ls\n"""\n%who', '"""\n%time\nWhy?\n!ls\n"""\npass'),
        ("x = a \\\n  % b", "x = a \\\n  % b"),
        ("x = 'it\\'s (' # (\n%who", "x = 'it\\'s (' # (\npass"),
        ("d['a=%s'] = 1  # ok?", "d['a=%s'] = 1  # ok?"),
        ("ready = done != 1\nwhat = 'x = !y'", "ready = done != 1\nwhat = 'x = !y'"),
    ],
)
def test_what_only_ipython_understands_is_replaced(cell: str, python: str) -> None:
    assert plain_python(cell) == python


def test_a_kept_statement_keeps_its_column() -> None:
    cell = "for x in y:\n    %time loss.backward()"
    assert plain_python(cell).index("loss") == cell.index("loss")
    ast.parse(plain_python(cell))


@steady
@given(st.text(alphabet="%!?=x \n\t()'\"\\#ab;,/", max_size=60))
def test_lines_are_kept_whatever_the_cell(cell: str) -> None:
    assert plain_python(cell).count("\n") == cell.count("\n")
