"""However large or odd a program is, it is read in bounded work, and what was left out is said."""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable

import pytest

from gradledger.checking.program import Judged, check_program
from gradledger.rules.finding import Certainty
from gradledger.static.explore import explore
from gradledger.static.parsed import parse
from tests.static import shapes
from tests.static.project import Project, places, programs

MOST_CALLS = 12_000_000
"""So many Python calls, at most, for any program here: the budget of the model, with room to spare."""

MOST_EVENTS = 400_000


def judged(text: str) -> tuple[Judged, int]:
    """The answer and the number of Python calls it took: work that is counted, not timed."""
    profile = cProfile.Profile()
    profile.enable()
    try:
        answer = check_program(text, "train.py")
    finally:
        profile.disable()
    return answer, pstats.Stats(profile).total_calls  # type: ignore[attr-defined]


def cut_short(answer: Judged) -> bool:
    return any("too large" in note for note in answer.notes)


LARGE = {
    "20,000 lines of functions": lambda: shapes.many_functions(20_000),
    "100 branches that matter": lambda: shapes.branching_steps(100),
    "2 to the 30 calls": lambda: shapes.call_tree(30),
    "deep expressions": lambda: shapes.deep_expression(400),
    "huge literals": lambda: shapes.huge_literals(5_000),
}


@pytest.mark.parametrize("make", LARGE.values(), ids=LARGE)
def test_work_is_bounded(make: Callable[[], str]) -> None:
    answer, calls = judged(make())
    assert calls < MOST_CALLS
    assert places(answer, Certainty.CERTAIN) == []


def test_paths_and_events_are_bounded() -> None:
    exploration = explore(parse(shapes.branching_steps(2_000), "train.py"))
    assert exploration.cut_short
    assert len(exploration.traces) < 100
    assert sum(len(trace.events) for trace in exploration.traces) < MOST_EVENTS


GROWING = {
    "functions": shapes.many_functions,
    "loop body": shapes.straight_line,
    "branches": lambda lines: shapes.branches(lines // 4),
    "trainers": shapes.many_trainers,
}


@pytest.mark.parametrize("kind", GROWING)
def test_work_grows_no_faster_than_the_file(kind: str) -> None:
    small, large = (judged(GROWING[kind](lines))[1] for lines in (2_000, 8_000))
    assert large < 4.8 * small


WRONG_AND_LARGE = {
    "20,000 lines in a loop": shapes.straight_line(20_000).replace("    optimizer.zero_grad()\n", ""),
    "30 nested loops": shapes.nested_loops(30, shapes.STALE),
    "2,000 branches": shapes.branches(2_000, shapes.STALE),
    "20 nested calls": shapes.call_chain(20, shapes.STALE),
    "200 nested calls": shapes.call_chain(200, shapes.STALE),
    "the last of 100 functions": "import torch\n\n\n"
    + "".join(f"def saliency_{n}(model, x):\n    model(x).max().backward()\n\n\n" for n in range(99))
    + "def train(model, loader):\n    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    + f"    for x, y in loader:\n{shapes.indented(shapes.STALE, 2)}",
}


@pytest.mark.parametrize("text", programs(WRONG_AND_LARGE))
def test_a_mistake_is_found_or_the_program_is_said_to_be_too_large(text: str) -> None:
    answer, calls = judged(text)
    assert calls < MOST_CALLS
    assert cut_short(answer) or [finding.code for finding in answer.findings] == ["GL101"]


def test_an_ordinary_program_is_not_cut_short() -> None:
    text = shapes.HEAD + "for x, y in loader:\n" + shapes.indented(shapes.STEP, 1)
    assert not explore(parse(text, "train.py")).cut_short
    assert check_program(text, "train.py").notes == ()


BUILDING = "".join(
    f"{'el' if n else ''}if args.kind == {kind!r}:\n"
    f"    optimizer = torch.optim.{kind}(model.parameters(), lr=0.1)\n"
    for n, kind in enumerate(["SGD", "Adam", "AdamW", "Adagrad", "Adadelta", "RMSprop", "Rprop", "NAdam"])
)
GOING_ON = "".join(
    f"if args.option{n}:\n    loss = loss + model(x).sum()\n    loss.backward()\n    continue\n"
    for n in (1, 2, 3)
)
SHORT = {
    "many ways to build one optimizer": "import torch\nmodel = torch.nn.Linear(4, 1)\n"
    + BUILDING
    + "for x in loader:\n    optimizer.zero_grad()\n    loss = model(x).mean()\n"
    + shapes.indented(GOING_ON, 1)
    + "    loss.backward()\n    optimizer.step()\n",
    "a memory that is never full": """\
import torch
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
stored, learnt = 0, 0
for episode in range(400):
    while True:
        reward = env.step(model(env.state))
"""
    + "        reward = reward * 2 + 1 - reward / 4\n" * 30
    + """\
        memory[stored % 2000] = reward
        stored += 1
        if stored >= 2000:
            if learnt % 100 == 0:
                target.load_state_dict(model.state_dict())
            learnt += 1
            optimizer.zero_grad()
            model(memory).mean().backward()
            optimizer.step()
""",
}


@pytest.mark.parametrize("text", programs(SHORT))
def test_a_short_program_is_followed_to_its_end(text: str) -> None:
    assert not explore(parse(text, "train.py")).cut_short


MANY_PATHS = "if keep:\n    print(x)\nelse:\n    optimizer.zero_grad()\n"


@pytest.mark.parametrize("count", [2, 10, 25])
def test_nothing_is_certain_because_of_paths_that_were_not_followed(count: int) -> None:
    answer = check_program(shapes.optional_losses(count, MANY_PATHS), "train.py")
    assert places(answer, Certainty.CERTAIN) == []


def test_paths_that_were_not_followed_are_said() -> None:
    (note,) = check_program(shapes.optional_losses(25, MANY_PATHS), "train.py").notes
    assert note == "train.py: too many paths through its conditions; the first 20 were checked"
    assert check_program(shapes.optional_losses(2, MANY_PATHS), "train.py").notes == ()


HEAD, STEP = shapes.HEAD, shapes.STEP
ENDLESS = {
    "while true": HEAD + "while True:\n    x, y = get()\n" + shapes.indented(STEP, 1),
    "while true around nothing": HEAD + "while True:\n    pass\n" + STEP,
    "recursion": HEAD + "def f(n):\n    x, y = get()\n" + shapes.indented(STEP, 1) + "    f(n + 1)\nf(0)\n",
    "mutual recursion": HEAD
    + "def a():\n    b()\n    b()\ndef b():\n    x, y = get()\n"
    + shapes.indented(STEP, 1)
    + "    a()\n    a()\na()\n",
    "a function given itself": HEAD + "f = lambda f, x: f(f, x).backward()\nf(f, 1)\n",
    "generators that delegate to themselves": HEAD
    + "def g():\n    yield from g()\n    yield 1\nfor x in g():\n    model(x).backward()\n",
    "an endless generator": HEAD
    + "def g():\n    while True:\n        yield get()\nfor x, y in g():\n"
    + shapes.indented(STEP, 1),
    "a property that asks for itself": HEAD
    + "class P:\n    @property\n    def p(self):\n        return self.p\n    def __getattr__(self, n):\n"
    + "        return getattr(self, n + 'x')\nP().p.backward()\nP().q.backward()\n",
    "classes in a circle": HEAD
    + "class A(B):\n    def go(self):\n        super().go()\nclass B(A):\n    def go(self):\n"
    + "        super().go()\n        x, y = get()\n"
    + shapes.indented(STEP, 2)
    + "class A(B):\n    pass\nclass A(A):\n    pass\nA().go()\n",
    "a class that is its own base": HEAD
    + "class A(A):\n    def go(self):\n        return self.go().backward()\nA().go()\n",
    "a very long range": HEAD + "for i in range(10**18):\n    x, y = get()\n" + shapes.indented(STEP, 1),
    "a list that holds itself": HEAD
    + "a = []\na.append(a)\nfor b in a:\n    model(b).backward()\nprint(a)\n",
    "a dict that holds itself": HEAD + "d = {}\nd['d'] = d\nmodel(d['d']['d']).backward()\n",
    "a list that grows while it is read": HEAD
    + "a = [1]\nfor b in a:\n    a.append(b)\n    model(b).backward()\n",
    "a counter that never arrives": HEAD
    + "i = 0\nwhile i != 7:\n    i += 2\n    x, y = get()\n"
    + shapes.indented(STEP, 1),
}


@pytest.mark.parametrize("text", programs(ENDLESS))
def test_what_never_ends_is_left_in_time(text: str) -> None:
    answer, calls = judged(text)
    assert calls < 400_000
    assert places(answer, Certainty.CERTAIN) == []


def test_modules_that_import_each_other_are_read_once() -> None:
    names = [f"m{n}" for n in range(40)]
    everyone = "".join(f"from {name} import *\nimport {name}\n" for name in names)
    files = {"train.py": everyone + HEAD + "for x, y in loader:\n" + shapes.indented(STEP, 1)}
    files |= {f"{name}.py": everyone + "def update(): pass\n" for name in names}
    project = Project(files)
    assert places(project.judged()) == []
    assert len(project.asked) < 20_000
