"""Whoever installs the wheel gets its types: right uses pass mypy --strict, wrong ones do not."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.packaging.environments import Environment

HEAVY = bool(os.environ.get("GRADLEDGER_HEAVY"))

RIGHT = """\
from __future__ import annotations

import torch
from torch import nn

import gradledger

model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
acc = gradledger.Accumulator(model, optimizer, every=2, clip_norm=1.0)
for x in acc.batches([torch.randn(4, 3) for _ in range(4)]):
    with acc.precision():
        loss = model(x).square().mean()
    update: gradledger.Update | None = acc.backward(loss, count=len(x))
    if update:
        step: int = update.step
        mean: float = update.loss
        print(step, mean, update.outcome.upper(), update.micro_batches + 1)
found: gradledger.Verification = acc.verify([torch.randn(4, 3)], lambda x: model(x).mean())
print(found.message.upper(), found.ok)
acc.close()

with gradledger.watch(model, optimizer, fail_fast=False) as ledger:
    model(torch.randn(4, 3)).mean().backward()
findings: tuple[gradledger.Finding, ...] = tuple(ledger.findings)
print(ledger.balance(model.weight).fresh + 1, [finding.code.lower() for finding in findings])
try:
    optimizer.step()
except (gradledger.LedgerError, gradledger.AuditError) as error:
    print(error, gradledger.__version__.split("."))
"""
WRONG = """\
import gradledger
import torch

model = torch.nn.Linear(3, 1)
acc = gradledger.Accumulator(model, torch.optim.SGD(model.parameters()), every="four")  # arg-type
acc.backward()  # call-arg
acc.stepp  # attr-defined
acc.flush().step  # union-attr
gradledger.watch().findings[0].severity + 1  # operator
gradledger.nothing  # attr-defined
"""


def test_right_uses_pass_and_wrong_ones_do_not(with_torch: Environment, tmp_path: Path) -> None:
    # Reading torch takes longer than all the rest; its types are read by `make nightly`.
    quick = "" if HEAVY else "[mypy-torch.*]\nfollow_imports = skip\n"
    (tmp_path / "mypy.ini").write_text(f"[mypy]\n{quick}", encoding="utf-8")
    wanted = []
    for name, program in (("right.py", RIGHT), ("wrong.py", WRONG)):
        (tmp_path / name).write_text(program, encoding="utf-8")
        lines = enumerate(program.splitlines(), 1)
        wanted += [(name, str(at), line.rpartition("  # ")[2]) for at, line in lines if "  # " in line]
    call = [sys.executable, "-m", "mypy", "--strict", "--no-pretty", "--cache-dir", os.devnull]
    call += [
        "--config-file",
        "mypy.ini",
        "--python-executable",
        str(with_torch.python),
        "right.py",
        "wrong.py",
    ]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    told = re.findall(r"^(\w+\.py):(\d+): error: .*\[([\w-]+)\]$", done.stdout, re.MULTILINE)
    assert sorted(told) == sorted(wanted), done.stdout + done.stderr
