"""Programs of extreme shape, as large as asked for."""

from __future__ import annotations

import textwrap

HEAD = """\
import torch

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
STEP = """\
optimizer.zero_grad()
loss = torch.nn.functional.mse_loss(model(x), y)
loss.backward()
optimizer.step()
"""
STALE = """\
loss = torch.nn.functional.mse_loss(model(x), y)
loss.backward()
optimizer.step()
"""


def indented(text: str, depth: int) -> str:
    return textwrap.indent(text, "    " * depth)


def nested_loops(depth: int, body: str = STEP) -> str:
    """Loops inside loops, the training step in the innermost."""
    loops = "".join(indented(f"for i{n} in range(3):\n", n) for n in range(depth))
    return HEAD + loops + indented("x, y = get_batch()\n" + body, depth)


def branches(count: int, body: str = STEP) -> str:
    """Unknown conditions in a row, each with something to do, inside a training loop."""
    lines = "".join(f"if flag_{n}:\n    x = x + {n}\nelse:\n    y = y - {n}\n" for n in range(count))
    return HEAD + "for x, y in loader:\n" + indented(lines + body, 1)


def branching_steps(count: int) -> str:
    """Unknown conditions in a row, each deciding whether gradients are cleared, used or made."""
    words = ("optimizer.zero_grad()", "optimizer.step()", "model(x).mean().backward()")
    lines = "".join(f"if flag_{n}:\n    {words[n % 3]}\n" for n in range(count))
    return HEAD + "for x, y in loader:\n" + indented(lines, 1)


def call_chain(depth: int, body: str = STEP) -> str:
    """Functions that call one another, the training step in the last."""
    functions = "".join(f"def f{n}(x, y):\n    return f{n + 1}(x, y)\n\n\n" for n in range(depth))
    last = f"def f{depth}(x, y):\n{indented(body, 1)}\n\n"
    return f"{HEAD}\n\n{functions}{last}for x, y in loader:\n    f0(x, y)\n"


def call_tree(depth: int) -> str:
    """Functions that each call the next one twice: exponential for whoever follows every call."""
    functions = "".join(
        f"def f{n}(x, y):\n    f{n + 1}(x, y)\n    f{n + 1}(x, y)\n\n\n" for n in range(depth)
    )
    last = f"def f{depth}(x, y):\n{indented(STEP, 1)}\n\n"
    return f"{HEAD}\n\n{functions}{last}for x, y in loader:\n    f0(x, y)\n"


def many_functions(lines: int) -> str:
    """A long file of small functions around one training loop."""
    one = (
        "def f{0}(a, b=({0}, 'x')):\n    c = [a, b, {{'k': {0}}}]\n    for d in c:\n        a = a + d\n"
        "    return a\n\n\n"
    )
    count = (lines - 10) // 7
    return HEAD + "".join(one.format(n) for n in range(count)) + "for x, y in loader:\n" + indented(STEP, 1)


def many_trainers(lines: int) -> str:
    """A long file of functions that all train."""
    one = "def train_{0}(model, loader, optimizer):\n    for x, y in loader:\n" + indented(STEP, 2) + "\n\n"
    count = lines // 8
    return "import torch\n\n\n" + "".join(one.format(n) for n in range(count))


def straight_line(lines: int) -> str:
    """A long loop body without branches."""
    body = "".join(f"a{n} = x * {n} + y\n" for n in range(lines))
    return HEAD + "for x, y in loader:\n" + indented(body + STEP, 1)


def deep_expression(depth: int) -> str:
    """A sum with very many terms and many brackets."""
    total = "x" + " + x" * depth
    return f"{HEAD}for x, y in loader:\n    z = {total}\n    w = {'(' * 60}x{')' * 60}\n" + indented(STEP, 1)


def huge_literals(size: int) -> str:
    """A long list, a wide dict, a long string, a large number."""
    return (
        f"{HEAD}table = [{', '.join(map(str, range(size)))}]\n"
        f"names = {{{', '.join(f'{n}: {n!r}' for n in range(size))}}}\n"
        f"text = {'x' * size!r}\nlarge = 2 ** {size} ** 2\nwide = [0] * {size}**3\n"
        f"for x, y in loader:\n    rows = [row for row in table]\n" + indented(STEP, 1)
    )


def optional_losses(count: int, ending: str) -> str:
    """A loop with unknown conditions, each adding a loss, and an ending after the step."""
    losses = "".join(f"if extra_{n}:\n    (model(x).abs().mean() * {n}).backward()\n" for n in range(count))
    body = "torch.nn.functional.mse_loss(model(x), y).backward()\n" + losses + "optimizer.step()\n" + ending
    return HEAD + "for x, y in loader:\n" + indented(body, 1)
