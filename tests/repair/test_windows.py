"""Windows and schedules: the window's length, its tail, its count, and what belongs under its guard."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tests.repair.made import finding, repaired, top


def lines(text: str) -> str:
    return dedent(text).lstrip("\n")


WINDOWS = {
    "modulo": (
        "for i, x in enumerate(d):\n    {}\n    if (i + 1) % args.n == 0:\n        opt.step()\n",
        "args.n",
    ),
    "sum": ("for i, x in enumerate(d):\n    {}\n    if i % (a + b) == 0:\n        opt.step()\n", "(a + b)"),
    "flag": (
        "for i, x in enumerate(d):\n    {}\n    last = i % n == n - 1\n    if last:\n        opt.step()\n",
        "n",
    ),
    "early": ("for i, x in enumerate(d):\n    {}\n    if i % n:\n        continue\n    opt.step()\n", "n"),
    "counter": ("for x in d:\n    {}\n    k += 1\n    if k == W:\n        opt.step()\n        k = 0\n", "W"),
    "range": ("for b in d:\n    for m in range(n):\n        {}\n    opt.step()\n", "n"),
    "chunks": ("for b in d:\n    for x in b.chunk(n):\n        {}\n    opt.step()\n", "n"),
    "zip": (
        "for b, c in d:\n    for x, y in zip(b.chunk(n), c.chunk(n)):\n        {}\n    opt.step()\n",
        "n",
    ),
    "list": (
        "for b in d:\n    parts = b.split(8)\n    for x in parts:\n        {}\n    opt.step()\n",
        "len(parts)",
    ),
}


@pytest.mark.parametrize(("form", "length"), WINDOWS.values(), ids=WINDOWS)
def test_the_windows_length_is_taken_as_the_file_writes_it(form: str, length: str) -> None:
    after = top("GL201", form.format("f(x).backward()"), "f(x).backward()", "opt.step()")
    assert after == form.format(f"(f(x) / {length}).backward()")


def test_a_length_that_cannot_be_read_at_the_backward_is_not_used() -> None:
    text = lines("""
        def back(loss):
            loss.backward()
        def train():
            n = 4
            for i, x in enumerate(d):
                back(f(x))
                if (i + 1) % n == 0:
                    opt.step()
    """)
    assert repaired(finding("GL201", text, "loss.backward()", "opt.step()"), text) == []


TAILS = {
    "enumerate": ("for i, x in enumerate(loader):", "(i + 1) % n == 0", " or i + 1 == len(loader)"),
    "from one": ("for i, x in enumerate(loader, 1):", "i % n == 0", " or i == len(loader)"),
    "start": ("for i, x in enumerate(loader, start=1):", "i % n == 0", " or i == len(loader)"),
    "tqdm": ("for i, x in enumerate(tqdm(loader)):", "(i + 1) % n == 0", " or i + 1 == len(loader)"),
    "range": ("for i in range(steps):", "(i + 1) % n == 0", " or i + 1 == steps"),
    "and": ("for i, x in enumerate(loader):", "train and (i + 1) % n == 0", " or i + 1 == len(loader)"),
    "not": ("for i, x in enumerate(loader):", "not (i + 1) % n", " or i + 1 == len(loader)"),
}


@pytest.mark.parametrize(("head", "test", "more"), TAILS.values(), ids=TAILS)
def test_the_guard_is_true_at_the_last_batch_too(head: str, test: str, more: str) -> None:
    form = f"{head}\n    f(x).backward()\n    if {{}}:\n        opt.step()\n        opt.zero_grad()\n"
    assert top("GL202", form.format(test), "opt.step()", "f(x).backward()") == form.format(test + more)


def test_an_early_continue_is_left_out_at_the_last_batch() -> None:
    form = (
        "for i, x in enumerate(loader):\n    f(x).backward()\n    if {}:\n        continue\n    opt.step()\n"
    )
    test = "(i + 1) % n != 0"
    after = top("GL202", form.format(test), "opt.step()", "f(x).backward()")
    assert after == form.format(test + " and i + 1 != len(loader)")


def test_batches_that_cannot_be_counted_are_flushed_behind_the_loop() -> None:
    text = lines("""
        for i, x in enumerate(stream()):
            f(x).backward()
            if (i + 1) % n == 0:
                clip_grad_norm_(ps, 1.0)
                opt.step()
                opt.zero_grad()
                print(i)
        print("done")
    """)
    after = top("GL202", text, "opt.step()", "f(x).backward()")
    flush = "if (i + 1) % n != 0:\n    clip_grad_norm_(ps, 1.0)\n    opt.step()\n    opt.zero_grad()\n"
    assert after == text.replace('print("done")', flush + 'print("done")')


@pytest.mark.parametrize(
    ("test", "better"),
    [
        ("i % n == 0", "(i + 1) % n == 0"),
        ("not self.i % n", "not (self.i + 1) % n"),
        ("0 == i % n", "0 == (i + 1) % n"),
    ],
)
def test_a_guard_counts_from_one(test: str, better: str) -> None:
    form = "for i, x in enumerate(stream()):\n    f(x).backward()\n    if {}:\n        opt.step()\n"
    assert top("GL204", form.format(test), "opt.step()", "f(x).backward()") == form.format(better)


def test_a_schedule_goes_under_the_steps_guard() -> None:
    text = lines("""
        for i, x in enumerate(d):
            if (i + 1) % n == 0:
                scaler.step(opt)
                scaler.update()
                opt.zero_grad()
                log(i)
            # one epoch of warm-up
            sched.step()
    """)
    after = top("GL205", text, "sched.step()", "scaler.step(opt)")
    assert after == lines("""
        for i, x in enumerate(d):
            if (i + 1) % n == 0:
                scaler.step(opt)
                scaler.update()
                opt.zero_grad()
                # one epoch of warm-up
                sched.step()
                log(i)
    """)


def test_a_schedule_at_the_epochs_start_goes_behind_its_batches() -> None:
    text = "for e in es:\n    sched.step()\n    for x in d:\n        opt.step()\n    validate()\n"
    after = top("GL206", text, "sched.step()", "opt.step()")
    assert after == "for e in es:\n    for x in d:\n        opt.step()\n    sched.step()\n    validate()\n"
