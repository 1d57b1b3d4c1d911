"""Comments and docstrings are emptied, and nothing else."""

from __future__ import annotations

import pytest

from gradledger.static.code import code_of
from gradledger.static.unit import differentiates

CASES = {
    "a comment": ("x = 1  # loss.backward()\n", "x = 1  \n"),
    "a mark inside a string": ('x = "# no comment"  # one\n', 'x = "# no comment"  \n'),
    "a quote inside a comment": ("# it's\nloss.backward()  # isn't\n", "\nloss.backward()  \n"),
    "a docstring": (
        'def f():\n    """loss.backward()\n    # more\n    """\n    g()\n',
        "def f():\n    \n\n\n    g()\n",
    ),
    "a raw docstring": ("    r'''backward()'''\n    f()\n", "    r\n    f()\n"),
    "a long string that is used": ('x = """# kept\n"""  # gone\n', 'x = """# kept\n"""  \n'),
    "an escaped quote": ("x = 'it\\'s # kept'  # gone\n", "x = 'it\\'s # kept'  \n"),
    "computed text": ('f"""{loss.backward()}"""\n', 'f"""{loss.backward()}"""\n'),
}


@pytest.mark.parametrize(("text", "code"), list(CASES.values()), ids=list(CASES))
def test_only_code_is_left(text: str, code: str) -> None:
    assert code_of(text) == code
    assert code.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "code",
    [
        "loss.backward()",
        "manual_backward(loss)",
        "from engine import backward",
        "getattr(loss, 'backward')()",
        "pool.submit(loss.backward)",
        "def backward(loss): loss.backward()",
        "backward_pass(loss)",
    ],
)
def test_what_calls_or_hands_on_a_pass_differentiates(code: str) -> None:
    assert differentiates(code)


@pytest.mark.parametrize(
    "code", ["loss.forward()", "backward = 1", "class F:\n    def backward(ctx, g):\n        return g"]
)
def test_to_name_or_define_one_is_not_to_differentiate(code: str) -> None:
    assert not differentiates(code)
