"""Programs that go wrong, end early or do odd things: their result is kept, what was seen is reported."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from pathlib import Path

import pytest

from gradledger.audit.auditor import Auditor
from gradledger.ledger.journal import Journal
from gradledger.ledger.recording import read
from tests.forked import Audit, audit

STALE = """\
import os, sys
import torch
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for i in range(5):
    loss = model(torch.ones(1, 2)).square().sum()
    loss.backward()  # stale
    optimizer.step()
print("trained", flush=True)
"""
"""A program with one finding, to be continued."""


def line_of(source: str, mark: str) -> int:
    return next(n for n, line in enumerate(source.splitlines(), 1) if f"# {mark}" in line)


def run(folder: Path, source: str, *options: str) -> Audit:
    script = folder / "script.py"
    script.write_text(textwrap.dedent(source), encoding="utf-8")
    return audit(script, options=options)


def report_of(done: Audit) -> str:
    """What is on standard error besides the traceback of the script."""
    return re.sub(r"Traceback \(most recent call last\):\n(  .*\n)+\S.*\n", "", done.stderr)


def frames(done: Audit) -> list[str]:
    return re.findall(r'^  File "([^"]+)", line \d+, in .*$', done.stderr, re.MULTILINE)


def test_the_findings_alone_decide_where_all_went_well(tmp_path: Path) -> None:
    done = run(tmp_path, STALE)
    assert (done.status, done.stdout) == (1, "trained\n")
    assert done.codes() == [("GL101", line_of(STALE, "stale"))]
    assert done.answer["checked"] == {"backwards": 5, "steps": 5, "parameters": 2}


# -- ends in mid-step ------------------------------------------------------------------------------------

CRASHES = {
    "in a hook of backward": (
        """\
def hook(grad):
    raise ValueError("in the middle")
model.weight.register_hook(hook)
model(torch.ones(1, 2)).sum().backward()
""",
        "ValueError: in the middle",
    ),
    "in a closure": (
        """\
def closure():
    raise ValueError("in the middle")
optimizer.step(closure)
""",
        "ValueError: in the middle",
    ),
    "in a step of the user's": (
        """\
class Own(torch.optim.SGD):
    def step(self, closure=None):
        super().step()
        raise ValueError("in the middle")
own = Own(model.parameters(), lr=0.1)
own.zero_grad()
model(torch.ones(1, 2)).sum().backward()
own.step()
""",
        "ValueError: in the middle",
    ),
    "in a hook before the step": (
        """\
def hook(*args):
    raise ValueError("in the middle")
optimizer.register_step_pre_hook(hook)
optimizer.step()
""",
        "ValueError: in the middle",
    ),
    "in the data": (
        """\
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, index):
        raise ValueError("in the middle")
for batch in torch.utils.data.DataLoader(Data()):
    pass
""",
        "ValueError: in the middle",
    ),
    "in the schedule": (
        """\
def rate(n):
    if n:
        raise ValueError("in the middle")
    return 1.0
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
optimizer.step()
schedule.step()
""",
        "ValueError: in the middle",
    ),
    "in torch": (
        "loss.backward()\n",
        "RuntimeError: Trying to backward through the graph a second time",
    ),
    "in the scaler": (
        """\
scaler = torch.amp.GradScaler("cpu")
scaler.scale(model(torch.ones(1, 2)).sum()).backward()
scaler.unscale_(optimizer)
scaler.unscale_(optimizer)
""",
        "RuntimeError: unscale_() has already been called",
    ),
    "in the clipping": (
        """\
model.weight.grad.fill_(float("nan"))
torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)
""",
        "RuntimeError: The total norm of order 2.0",
    ),
}


@pytest.mark.parametrize(("ending", "said"), CRASHES.values(), ids=CRASHES)
def test_a_crash_is_the_scripts_own_and_what_was_seen_is_reported(
    tmp_path: Path, ending: str, said: str
) -> None:
    done = run(tmp_path, STALE + ending)
    assert (done.status, done.stdout) == (1, "trained\n")
    assert ("GL101", line_of(STALE, "stale")) in done.codes()
    assert said in done.stderr
    assert done.stderr.count("Traceback") == 1
    package = os.sep + "gradledger" + os.sep
    assert frames(done)[0].endswith("script.py")
    assert not [path for path in frames(done) if package in path or path.startswith("<")], done.stderr
    assert "1 error" in report_of(done)
    assert done.answer["notes"] == []


def test_a_traceback_is_the_same_to_the_letter(tmp_path: Path) -> None:
    source = STALE + CRASHES["in a hook of backward"][0]
    script = tmp_path / "script.py"
    script.write_text(source)
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(write_end, 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.execv(sys.executable, [sys.executable, str(script)])
    os.close(write_end)
    with os.fdopen(read_end) as stream:
        plain = stream.read()
    os.waitpid(child, 0)
    done = audit(script)
    assert done.stderr.startswith(plain)
    assert plain.startswith("Traceback")


# -- ends by other means ---------------------------------------------------------------------------------

ENDINGS = {
    "sys.exit()": ("sys.exit()\n", 1),
    "sys.exit(0)": ("sys.exit(0)\n", 1),
    "sys.exit(3)": ("sys.exit(3)\n", 3),
    "sys.exit('text')": ("sys.exit('no more data')\n", 1),
    "os._exit(3)": ("os._exit(3)\n", 3),
    "os._exit(0)": ("os._exit(0)\n", 1),
    "exit inside backward": (
        "model.weight.register_hook(lambda grad: sys.exit(5))\nmodel(torch.ones(1, 2)).sum().backward()\n",
        5,
    ),
    "raise SystemExit in a closure": (
        "def closure():\n    raise SystemExit(4)\noptimizer.step(closure)\n",
        4,
    ),
}


@pytest.mark.parametrize(("ending", "status"), ENDINGS.values(), ids=ENDINGS)
def test_leaving_early_keeps_the_status_and_the_findings(tmp_path: Path, ending: str, status: int) -> None:
    done = run(tmp_path, STALE + ending)
    assert (done.status, done.stdout) == (status, "trained\n")
    assert done.codes() == [("GL101", line_of(STALE, "stale"))]
    assert "Traceback" not in done.stderr


def test_a_text_given_to_exit_is_shown(tmp_path: Path) -> None:
    assert "no more data\n" in run(tmp_path, STALE + "sys.exit('no more data')\n").stderr


# -- odd programs ----------------------------------------------------------------------------------------


def test_gradients_deleted(tmp_path: Path) -> None:
    source = """\
        import torch
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for i in range(6):
            model(torch.ones(1, 2)).square().sum().backward()
            optimizer.step()
            for p in model.parameters():
                del p.grad
        """
    done = run(tmp_path, source)
    assert (done.status, done.answer["findings"], done.answer["notes"]) == (0, [], [])
    assert done.answer["checked"]["steps"] == 6


def test_gradients_deleted_before_the_step(tmp_path: Path) -> None:
    source = """\
        import torch
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for i in range(6):
            model(torch.ones(1, 2)).square().sum().backward()
            for p in model.parameters():
                del p.grad  # expected
            optimizer.step()
        """
    done = run(tmp_path, source)
    assert done.codes() == [("GL102", line_of(source, "expected"))]
    assert done.answer["notes"] == []


REDEFINED = {
    "around torch's own": """\
original = torch.Tensor.backward
def backward(self, *args, **kwargs):
    calls.append(1)
    return original(self, *args, **kwargs)
torch.Tensor.backward = backward
""",
    "through autograd": """\
def backward(self, gradient=None, **kwargs):
    calls.append(1)
    torch.autograd.backward(self, gradient, **kwargs)
torch.Tensor.backward = backward
""",
    "without autograd's help": """\
def backward(self):
    calls.append(1)
    for p, grad in zip(model.parameters(), torch.autograd.grad(self, list(model.parameters()))):
        p.grad = grad if p.grad is None else p.grad + grad
torch.Tensor.backward = backward
""",
    "autograd.backward itself": """\
original = torch.autograd.backward
def backward(*args, **kwargs):
    calls.append(1)
    return original(*args, **kwargs)
torch.autograd.backward = backward
""",
}


@pytest.mark.parametrize("definition", REDEFINED.values(), ids=REDEFINED)
def test_backward_redefined(tmp_path: Path, definition: str) -> None:
    setting = "import torch\ncalls = []\nmodel = torch.nn.Linear(2, 1)\n"
    loop = """\
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for i in range(6):
    optimizer.zero_grad()
    model(torch.ones(1, 2)).square().sum().backward()
    optimizer.step()
print(len(calls))
"""
    done = run(tmp_path, setting + definition + loop)
    assert (done.status, done.stdout) == (0, "6\n"), done.stderr
    assert (done.answer["findings"], done.answer["notes"]) == ([], [])
    assert done.answer["checked"]["steps"] == 6


@pytest.mark.parametrize(
    "definition", [REDEFINED["around torch's own"], REDEFINED["autograd.backward itself"]]
)
def test_backward_redefined_hides_no_mistake(tmp_path: Path, definition: str) -> None:
    source = "import torch\ncalls = []\n" + definition + STALE
    assert [code for code, _ in run(tmp_path, source).codes()] == ["GL101"]


def test_a_hostile_optimizer(tmp_path: Path) -> None:
    """One whose groups are not what they seem: the audit may stop, the program must not."""
    source = """\
        import torch
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        class Groups(list):
            def __iter__(self):
                raise RuntimeError("do not look")
        groups = optimizer.param_groups
        for i in range(4):
            optimizer.param_groups = groups
            optimizer.zero_grad()
            model(torch.ones(1, 2)).square().sum().backward()
            optimizer.step()
            optimizer.param_groups = Groups(groups)
        print("done")
        """
    done = run(tmp_path, source)
    assert (done.status, done.stdout) == (0, "done\n"), done.stderr
    assert done.answer["findings"] == []


def test_no_training_at_all(tmp_path: Path) -> None:
    done = run(tmp_path, "import torch\nprint(torch.ones(2).sum().item())\n")
    assert (done.status, done.stdout) == (0, "2.0\n")
    assert (done.answer["findings"], done.answer["checked"]["steps"]) == ([], 0)
    assert "no training happened" in done.stderr


def test_no_torch_at_all(tmp_path: Path) -> None:
    done = run(tmp_path, "print('hello')\n")
    assert (done.status, done.stdout) == (0, "hello\n")
    assert "no training happened" in done.stderr


def test_backward_without_any_optimizer(tmp_path: Path) -> None:
    source = """\
        import torch
        x = torch.ones(3, requires_grad=True)
        x.square().sum().backward()
        print(x.grad.tolist())
        """
    done = run(tmp_path, source)
    assert (done.status, done.stdout, done.answer["findings"]) == (0, "[2.0, 2.0, 2.0]\n", [])


def test_a_forked_child_that_trains(tmp_path: Path) -> None:
    source = (
        STALE + "child = os.fork()\nif child:\n    print(os.waitpid(child, 0)[1])\nelse:\n    os._exit(0)\n"
    )
    done = run(tmp_path, source)
    assert done.status == 1
    assert done.stdout.splitlines()[0] == "trained"
    assert done.codes() == [("GL101", line_of(STALE, "stale"))]


# -- places that cannot be written -----------------------------------------------------------------------


@pytest.mark.parametrize("where", ["missing/report.json", ".", "/dev/full"])
def test_an_output_that_cannot_be_written(tmp_path: Path, where: str) -> None:
    done = run(
        tmp_path, STALE + "sys.exit(7)\n", "--output", where if where[0] == "/" else str(tmp_path / where)
    )
    assert (done.status, done.stdout) == (7, "trained\n")
    assert "cannot write the report to" in done.stderr
    assert '"GL101"' in done.stderr  # it is not lost


def test_an_output_that_cannot_be_written_by_a_clean_script(tmp_path: Path) -> None:
    done = run(tmp_path, "print('x')\n", "--output", str(tmp_path / "missing" / "report.json"))
    assert (done.status, done.stdout) == (2, "x\n")


@pytest.mark.parametrize("where", ["missing/recording", ".", "/dev/full"])
def test_a_recording_that_cannot_be_written(tmp_path: Path, where: str) -> None:
    done = run(tmp_path, STALE, "--save", where if where[0] == "/" else str(tmp_path / where))
    assert (done.status, done.stdout) == (1, "trained\n")
    assert done.codes() == [("GL101", line_of(STALE, "stale"))]
    (note,) = done.answer["notes"]
    assert "the recording" in note
    assert where.removeprefix(".") in note


# -- fail-fast -------------------------------------------------------------------------------------------


def test_fail_fast_raises_at_the_step_that_shows_it(tmp_path: Path) -> None:
    done = run(tmp_path, STALE, "--fail-fast")
    stale, step = line_of(STALE, "stale"), line_of(STALE, "stale") + 1
    assert (done.status, done.stdout) == (1, "")
    assert f'script.py", line {step}, in <module>\n    optimizer.step()' in done.stderr
    assert (
        f"AuditError: GL101 stale-gradient: {tmp_path / 'script.py'}:{stale}: adds to gradients"
        in done.stderr
    )
    assert "gradledger explain GL101" in done.stderr
    (finding,) = done.answer["findings"]
    assert (finding["code"], finding["line"], finding["count"]) == ("GL101", stale, 1)
    assert done.answer["checked"]["steps"] == 2
    assert finding["message"] in done.stderr


def test_fail_fast_can_be_caught_by_the_script(tmp_path: Path) -> None:
    source = """\
        import gradledger, torch
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        try:
            for i in range(5):
                model(torch.ones(1, 2)).square().sum().backward()
                optimizer.step()
        except gradledger.AuditError as error:
            print(i, str(error).splitlines()[0].split(":")[0])
        for i in range(5):
            optimizer.zero_grad()
            model(torch.ones(1, 2)).square().sum().backward()
            optimizer.step()
        print("went on")
        """
    done = run(tmp_path, source, "--fail-fast")
    assert (done.status, done.stdout) == (1, "1 GL101 stale-gradient\nwent on\n"), done.stderr
    assert [code for code, _ in done.codes()] == ["GL101"]


def test_fail_fast_lets_a_right_script_run(tmp_path: Path) -> None:
    right = STALE.replace("    loss.backward()", "    optimizer.zero_grad()\n    loss.backward()")
    done = run(tmp_path, right, "--fail-fast")
    assert (done.status, done.stdout, done.answer["findings"]) == (0, "trained\n", [])


# -- recordings ------------------------------------------------------------------------------------------

RECORDED = {
    "one mistake": STALE,
    "cut off by a crash": STALE + CRASHES["in a hook of backward"][0],
    "cut off by os._exit": STALE + "os._exit(0)\n",
    "a window": """\
import torch
from torch.utils.data import DataLoader
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 6)
accumulate = 4
for epoch in range(3):
    for i, x in enumerate(DataLoader(torch.randn(20, 2), batch_size=2)):
        scaler.scale(model(x).square().mean()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if (i + 1) % accumulate == 0:
            scaler.step(optimizer)
            scaler.update()
            schedule.step()
            optimizer.zero_grad()
""",
}


@pytest.mark.parametrize("source", RECORDED.values(), ids=RECORDED)
def test_a_recording_tells_the_same_again(tmp_path: Path, source: str) -> None:
    recording = tmp_path / "recording.jsonl"
    done = run(tmp_path, source, "--save", str(recording))
    auditor = Auditor()
    journal = Journal(auditor)
    journal.post_all(read(recording))
    again = [
        (f.code, f.site.line, f.certainty.value, f.count, f.first_step, f.message)
        for f in auditor.findings(journal.books)
    ]
    said = [
        (f["code"], f["line"], f["certainty"], f["count"], f["first_step"], f["message"])
        for f in done.answer["findings"]
    ]
    assert again == said
    assert said
    checked = done.answer["checked"]
    assert (journal.books.backwards, journal.books.steps) == (checked["backwards"], checked["steps"])
    assert journal.books.unbalanced() == []
