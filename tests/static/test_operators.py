"""Operators and functions on values of every kind: what Python would refuse is unknown, never a fault."""

from __future__ import annotations

import pytest

from gradledger.checking.program import check_program
from tests.static.shapes import HEAD, STEP, indented

VALUES = (
    ["None", "1", "-1", "0", "2.5", "'s'", "b's'", "[]", "[1]", "()", "(1,)", "{}", "{1: 2}", "{1}", "True"],
    ["...", "1j", "10**30", "model", "optimizer", "torch", "model.weight", "model.parameters()", "loader"],
    ["len", "int", "lambda: 1", "range(3)", "undefined", "float('nan')", "float('inf')", "NotImplemented"],
)
FLAT = [value for row in VALUES for value in row]
OPERATORS = "+ - * / // % ** @ << >> & | ^ < == in is and or".split()  # noqa: SIM905
CALLS = [
    *("-({0})", "~({0})", "not ({0})", "({0})()", "({0})[0]", "({0})[1:]", "({0})[{0}]", "[*({0})]"),
    *("[q for q in ({0})]", "{{**({0})}}", 'f"{{({0})}}"', "'%s' % ({0})", "({0}).grad", "({0}).step()"),
    *("len({0})", "int({0})", "float({0})", "str({0})", "bool({0})", "abs({0})", "round({0})", "sum({0})"),
    *("max({0})", "min({0}, {0})", "list({0})", "tuple({0})", "dict({0})", "set({0})", "sorted({0})"),
    *("range({0})", "range(0, {0}, {0})", "enumerate({0})", "zip({0}, {0})", "reversed({0})", "next({0})"),
    *("iter({0})", "map({0}, {0})", "filter({0}, {0})", "isinstance({0}, {0})", "getattr({0}, {0})"),
    *("setattr({0}, {0}, {0})", "type({0})", "any({0})", "divmod({0}, {0})", "pow({0}, {0})", "super({0})"),
    *("'x'.join({0})", "({0}).append({0})", "({0}).update({0})", "({0}).pop({0})", "({0}).get({0})"),
    *("math.ceil({0})", "math.sqrt({0})", "functools.partial({0})", "itertools.chain({0})", "vars({0})"),
    *("torch.optim.SGD({0}, lr={0})", "torch.nn.utils.clip_grad_norm_({0}, {0})", "copy.deepcopy({0})"),
    *("torch.amp.GradScaler({0}).scale({0})", "torch.utils.data.DataLoader({0}, batch_size={0})"),
    *("torch.nn.Sequential({0})", "torch.nn.ModuleList({0})", "torch.nn.Parameter({0})", "torch.stack({0})"),
    *("torch.autograd.grad({0}, {0})", "torch.autograd.backward({0})", "model({0})", "optimizer.step({0})"),
    *("optimizer.add_param_group({0})", "torch.optim.lr_scheduler.OneCycleLR({0}, {0}, total_steps={0})"),
    *("model.load_state_dict({0})", "torch.split({0}, {0})", "torch.no_grad()({0})", "torch.compile({0})"),
]
LOOP = f"for x, y in loader:\n{indented(STEP, 1)}"


@pytest.mark.parametrize("operator", OPERATORS)
def test_operators_take_any_two_values(operator: str) -> None:
    for left in FLAT:
        lines = "".join(f"z = ({left}) {operator} ({right})\n" for right in FLAT)
        assert check_program(HEAD + lines + LOOP, "train.py").findings == ()


@pytest.mark.parametrize("call", CALLS)
def test_functions_take_any_value(call: str) -> None:
    imports = "import copy, functools, itertools, math\n"
    for value in FLAT:
        said = call.format(value)
        uses = (
            f"z = {said}\nfor w in {said}:\n    pass\nif {said}:\n    pass\na, *b = {said}\nz += 1\nz.w = 2\n"
        )
        check_program(f"{imports}{HEAD}{uses}{LOOP}", "train.py")
