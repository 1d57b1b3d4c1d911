"""Odd values, odd syntax and texts that are no programs do no harm."""

from __future__ import annotations

import sys

import pytest

from gradledger.checking.program import ProgramError, check_program
from gradledger.rules.finding import Certainty
from tests.static.project import places, programs
from tests.static.shapes import HEAD, STEP, indented

NUMBERS = {
    "too large": """\
n = 10 ** 10 ** 10
m = 1 << (1 << 40)
s = 'a' * 10**12
l = [0] * 10**12
t = (1,) * 10**10
u = 'a'.ljust(10**12)
v = bytes(10**12)
w = list(range(10**12))
z = '%1000000000000d' % 1
f = f'{1:1000000000000}'
""",
    "divided by zero": "n = 0\nk = 1 // n\nj = 1 % n\nf = 1 / n\ng = 1.0 % 0\nd = divmod(1, 0)\n",
    "not finite": """\
import math
a = math.exp(1000)
b = int(float('inf'))
c = round(float('nan'))
d = range(int(1e400))
e = 2.0 ** 10000
g = math.sqrt(-1)
h = math.ceil(float('inf'))
i = sum([float('inf'), float('-inf')])
""",
    "complex": "a = (-8) ** 0.5\nb = int(a)\nc = a < 1\nd = range(a)\ne = max(a, 1)\n",
    "of many digits": f"a = {'9' * 4000}\nb = str(a * a)\nc = float(a)\nd = a / 3\ne = f'{{a * a}}'\n",
    "of the wrong kind": """\
a = 'x' % 3
b = [] < 1
c = -'x'
d = None + 1
e = {}[[]]
f = {[]: 1}
g = 'abc'[9]
h = len(5)
i = sorted([1, 'x'])
j = dict([1, 2])
k = zip(1)
l = int('x')
m = set([[]])
n = [1][:'x']
o = range('x')
p = enumerate(None, 'x')
q = {1: 2}.pop(3)
r = [].pop()
s = max([])
t = ''.join([1])
u = getattr(1, 2)
v = isinstance(1, 2)
""",
    "negative": "a = 'x' * -5\nb = range(-3)\nc = 1 << -1\nd = [1, 2][-9]\ne = 2 ** -3\nf = range(1, 5, 0)\n",
}


@pytest.mark.parametrize("text", programs(NUMBERS))
def test_odd_values_do_no_harm(text: str) -> None:
    loop = "for i_, (x, y) in enumerate(loader):\n"
    for whole in (HEAD + text + loop + indented(STEP, 1), HEAD + loop + indented(text + STEP, 1)):
        assert check_program(whole, "train.py").findings == ()


def test_every_odd_value_alone_does_no_harm() -> None:
    for text in NUMBERS.values():
        first = text.splitlines()[0]
        for line in text.splitlines():
            whole = f"{HEAD}import math\n{first}\n{line}\nfor x, y in loader:\n{indented(STEP, 1)}"
            assert check_program(whole, "train.py").findings == ()


SYNTAX = {
    "match": """\
match get():
    case {'x': x, **rest} if x:
        pass
    case [a, *b] | (a, b):
        pass
    case torch.Tensor(shape=s):
        pass
    case str() as t:
        pass
    case None | True | 'x' | -1:
        pass
    case _:
        pass
""",
    "walrus": "while (n := next(it, None)) is not None and (m := n):\n    print(n, m)\n[k := 1, k ** 2]\n",
    "async": """\
async def f(a):
    async for x in a:
        async with x as y, await z:
            await y
    return [i async for i in a if await i]
""",
    "decorators": """\
@a
@b.c(1)
@(lambda f: f)
@d[0]
def g():
    pass
@a
class C(B, metaclass=M, x=1):
    pass
g()
C()
""",
    "arguments": """\
def f(a, /, b, *c, d=1, **e):
    return f(*c, *[1], **e, **{'x': 1}, d=a)
f(*q, **r)
f(1, b=2)
f()
f(1, 2, 3, 4, d=5, z=6)
f(1, 2, b=3)
""",
    "scopes": """\
def f():
    a = 1
    def g():
        nonlocal a
        global b
        a = b = 2
        del a
    g()
    return a
f()
""",
    "targets": """\
(a, *b), c = [1, 2, 3], 4
*a, = b
a, b, *c = [1]
a, b = 1
a.b[c].d = e = f
del a[0], a.b
u: int
v: 'T' = 1
for a.b, (c[0], *d) in e:
    pass
with f as (g, h), i as j.k:
    pass
a[1:2, ..., ::3] @= 1
a.b.c += d[e] - f
""",
    "expressions": """\
a if b else c
not a is not b not in c
{**a, 'b': 1}
{*a, 1}
(yield_ for i in j for k in l)
f'{a!r:>{b}} {c=}'
lambda *a, b=1, **c: (a, b)
a < b < c
~a
...
b'x'
1j
(lambda: (yield))
""",
    "flow": """\
try:
    raise A from b
except (A, B) as e:
    pass
else:
    pass
finally:
    pass
for i in []:
    continue
else:
    pass
while False:
    break
else:
    pass
""",
    "imports": "import a.b.c, d as e\nfrom .. import f\nfrom .g.h import (i as j,)\nfrom .... import k\n",
    "classes": """\
class A:
    x = 1
    y = [x for _ in range(3)]
    class B:
        pass
    def __new__(cls): ...
    def __init_subclass__(cls): ...
    def __class_getitem__(cls, k): return cls
    __slots__ = ()
A()
A[int]
A().missing.more()
A.x.y.z = 1
""",
    "yield": """\
def g():
    x = yield
    y = yield x
    yield from h()
    return (yield)
next(g())
list(g())
g().send(1)
""",
    "odd spacing": "# -*- odd -*-\nif 1:\n\tpass\nx_ = (1,\n\n 2)  ;  y_ = \\\n  3\n",
    "wrong places": "return\nyield_ = 1\nbreak\n",
}
if sys.version_info >= (3, 11):
    SYNTAX["exception groups"] = (
        "try:\n    pass\nexcept* (A, B) as e:\n    pass\ndef f(*a: *B):\n    a[*b]\nf()\n"
    )
if sys.version_info >= (3, 12):
    SYNTAX["type parameters"] = (
        "type A[T: int, *U, **P] = list[T]\ndef f[T](x: T) -> T:\n    return x\n"
        "class C[T]:\n    pass\nf(1)\nC()\n"
    )

LOOP = """\
for x_, y_ in loader:
{}    optimizer.zero_grad()
    model(x_).mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize("syntax", programs(SYNTAX))
def test_odd_syntax_is_read(syntax: str) -> None:
    """Around the loop, inside it, inside a function, it is no mistake."""
    inside = LOOP.format(indented(syntax, 1))
    for text in (
        HEAD + syntax + LOOP.format(""),
        HEAD + LOOP.format("") + syntax,
        HEAD + inside,
        f"{HEAD}def train(loader):\n{indented(inside, 1)}\ntrain(loader)\n",
        f"{HEAD}def train(loader):\n{indented(syntax, 1)}{indented(LOOP.format(''), 1)}",
    ):
        assert places(check_program(text, "train.py"), Certainty.CERTAIN) == []


UNREADABLE = {
    "python 2": "import torch\nprint 'loss', loss.backward()\n",
    "unclosed": "import torch\nloss.backward(\n",
    "null byte": "import torch\nloss.backward()\x00\n",
    "indentation": "import torch\nif x:\nloss.backward()\n",
    "brackets": "import torch\nx = " + "(" * 500 + ")" * 500 + "\nx.backward()\n",
    "indented 150 times": "import torch\n"
    + "".join(" " * n + "if x:\n" for n in range(150))
    + "x.backward()\n",
    "a sum of 100,000 terms": "import torch\nx = 1" + " + 1" * 100_000 + "\nx.backward()\n",
    "a number of 5,000 digits": f"import torch\nx = {'9' * 5000}\nx.backward()\n",
    "a lone surrogate": "import torch\nx = '\ud800'\nloss.backward()\n",
    "conflict markers": "import torch\n<<<<<<< HEAD\nloss.backward()\n=======\n>>>>>>> main\n",
}


@pytest.mark.parametrize("text", programs(UNREADABLE))
def test_a_text_that_is_no_program_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(ProgramError) as refused:
        check_program(text, "train.py")
    assert refused.value.line >= 1
    assert refused.value.reason
    assert "\n" not in refused.value.reason


EMPTY = ("", "\n", "# backward, torch\n", '"""backward torch"""', "\ufeffimport torch\n", "backward\ntorch\n")


@pytest.mark.parametrize("text", EMPTY, ids=repr)
def test_next_to_nothing_is_a_program(text: str) -> None:
    assert check_program(text, "train.py").findings == ()


def test_a_long_path_changes_nothing() -> None:
    """What a call has made keeps that mark when its label is cut: `model_type` is no model."""
    text = """\
import argparse
import torch
from transformers import AdamW, BertConfig, BertForSequenceClassification, BertTokenizer

CLASSES = {'bert': (BertConfig, BertForSequenceClassification, BertTokenizer)}


def train(args, loader, model):
    groups = [{'params': [p for n, p in model.named_parameters() if 'bias' not in n], 'weight_decay': 0.1}]
    optimizer = AdamW(groups, lr=args.rate)
    model.zero_grad()
    for step, batch in enumerate(loader):
        inputs = {'ids': batch[0], 'labels': batch[1]}
        if args.model_type != 'distilbert':
            inputs['kinds'] = batch[2] if args.model_type in ['bert', 'xlnet'] else None
        loss = model(**inputs)[0] / args.steps
        loss.backward()
        if (step + 1) % args.steps == 0:
            optimizer.step()
            model.zero_grad()


def main():
    parser = argparse.ArgumentParser()
    args = parser.parse_args()
    args.model_type = args.model_type.lower()
    config_class, model_class, tokenizer_class = CLASSES[args.model_type]
    config = config_class.from_pretrained(args.config_name if args.config_name else args.model_name_or_path)
    model = model_class.from_pretrained(args.model_name_or_path, config=config)
    model.to(args.device)
    train(args, load(args, tokenizer_class), model)


if __name__ == '__main__':
    main()
"""
    for path in ("train.py", "/" + "/".join(["a_rather_long_name_of_a_folder"] * 6) + "/train.py"):
        assert [f.code for f in check_program(text, path).findings if f.certainty is Certainty.CERTAIN] == []
