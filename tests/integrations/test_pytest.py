"""`pytest --gradledger`, run by pytest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# Loaded here, because a run inside this process forgets the modules that it was the first to load.
import torch._dynamo

import gradledger.integrations.pytest_audit
import gradledger.integrations.pytest_failure
import gradledger.integrations.pytest_summary
import gradledger.report.text_form
import gradledger.watching  # noqa: F401
from gradledger.rules.catalogue import catalogue

pytest_plugins = ["pytester"]

catalogue()

TRAIN = """\
import pytest
import torch
from torch import nn


def train(clear=True, steps=4, comment=None):
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        if clear:
            optimizer.zero_grad()
        loss = model(torch.randn(5, 3)).square().mean()
        loss.backward()
        optimizer.step()
"""
BACKWARD = 1 + TRAIN.splitlines().index("        loss.backward()")


def outcomes(pytester: pytest.Pytester, tests: str, *args: str, **counts: int) -> pytest.RunResult:
    pytester.makepyfile(test_it=f"{TRAIN}\n\n{tests}")
    done = pytester.runpytest_inprocess("-p", "no:cacheprovider", *args)
    done.assert_outcomes(**counts)
    return done


def test_a_finding_fails_the_test_as_an_assertion_would(pytester: pytest.Pytester) -> None:
    tests = "@pytest.mark.parametrize('clear', [True, False])\ndef test_fit(clear):\n    train(clear)\n"
    done = outcomes(pytester, tests, "--gradledger", passed=1, failed=1)
    assert done.ret == 1
    done.stdout.fnmatch_lines(
        [
            "*_ test_fit[[]False[]] _*",
            "    def train(clear=True, steps=4, comment=None):",
            ">           loss.backward()",
            f"E           GL101 stale-gradient: adds to gradients that the step at line {BACKWARD + 1} *",
            f"E             test_it.py:{BACKWARD + 1}: applies them, and nothing clears them afterwards",
            "E           3 of 4 steps; *",
            "E           fix: clear the gradients once per update*",
            f"test_it.py:{BACKWARD}: GL101 stale-gradient",
            "*= gradledger =*",
            "audited 2 tests that trained: 8 backward passes, 8 steps; 1 finding",
            "FAILED test_it.py::test_fit[[]False[]] - GL101 stale-gradient*",
        ]
    )
    assert "pytest_audit" not in done.stdout.str()


def test_short_tracebacks_are_short(pytester: pytest.Pytester) -> None:
    done = outcomes(pytester, "def test_fit():\n    train(False)\n", "--gradledger", "--tb=short", failed=1)
    done.stdout.fnmatch_lines(
        [f"test_it.py:{BACKWARD}: GL101 stale-gradient", "    loss.backward()", "E   GL101 stale-gradient: *"]
    )
    assert "def train" not in done.stdout.str()


def test_nothing_is_audited_unless_asked_for(pytester: pytest.Pytester) -> None:
    done = outcomes(pytester, "def test_fit():\n    train(False)\n", passed=1)
    assert "gradledger =" not in done.stdout.str()


def test_marker_comment_and_settings_allow(pytester: pytest.Pytester) -> None:
    tests = """
@pytest.mark.gradledger(allow=["stale-gradient"])
def test_by_name():
    train(False)

@pytest.mark.gradledger(allow="GL1")
class TestByPrefix:
    def test_it(self):
        train(False)

def test_by_comment():
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        model(torch.randn(5, 3)).square().mean().backward()  # gradledger: allow[stale-gradient]
        optimizer.step()

@pytest.mark.gradledger(allow=["repeated-step"])
def test_another_rule_is_allowed():
    train(False)
"""
    outcomes(pytester, tests, "--gradledger", passed=3, failed=1)
    pytester.makepyprojecttoml('[tool.gradledger]\nignore = ["GL101"]\n')
    outcomes(pytester, tests, "--gradledger", passed=4)


@pytest.mark.parametrize(
    ("marker", "said"),
    [
        ('allow=["stale-gradent"]', '*::test_it: *unknown rule "stale-gradent" (nearest: stale-gradient)*'),
        ('"GL101"', "*::test_it: write the marker as @pytest.mark.gradledger(allow=*"),
    ],
)
def test_a_misspelt_marker_is_refused(pytester: pytest.Pytester, marker: str, said: str) -> None:
    pytester.makepyfile(f"import pytest\n@pytest.mark.gradledger({marker})\ndef test_it():\n    pass\n")
    done = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([said])


def test_settings_that_cannot_be_used_are_told_before_the_first_test(pytester: pytest.Pytester) -> None:
    pytester.makepyprojecttoml('[tool.gradledger]\nignroe = ["GL101"]\n')
    pytester.makepyfile("def test_it():\n    pass\n")
    done = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--gradledger")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["ERROR: gradledger: *pyproject.toml: tool.gradledger.ignroe: unknown key*"])


def test_xfail_skip_and_failures_of_the_test_itself_come_first(pytester: pytest.Pytester) -> None:
    tests = """
import gradledger

@pytest.mark.xfail(raises=gradledger.AuditError, strict=True)
def test_known_to_be_wrong():
    train(False)

def test_wrong_and_failing():
    train(False)
    assert 1 == 2

def test_skips():
    train(False)
    pytest.skip("enough")
"""
    done = outcomes(pytester, tests, "--gradledger", xfailed=1, failed=1, skipped=1)
    done.stdout.fnmatch_lines(
        ["E       assert 1 == 2", "*- Captured gradledger call -*", "GL101 stale-gradient  error*"]
    )


def test_fixtures_that_train_are_part_of_the_test(pytester: pytest.Pytester) -> None:
    tests = """
class TestFitted:
    @pytest.fixture(scope="class")
    def fitted(self):
        train(False)

    def test_first(self, fitted):
        pass

    def test_second(self, fitted):
        pass

def test_breaks_down(fitted_not):
    pass

def test_after():
    assert not hasattr(torch.Tensor.backward, "__gradledger__") or "audited"
"""
    outcomes(pytester, tests, "--gradledger", passed=2, failed=1, errors=1)


def test_the_ledger_as_a_fixture(pytester: pytest.Pytester) -> None:
    tests = """
import gradledger

def test_balance(gradient_ledger):
    model = nn.Linear(3, 1)
    model(torch.randn(5, 3)).mean().backward()
    assert gradient_ledger.balance(model.weight).fresh == 1
    assert not gradient_ledger.findings

@pytest.mark.gradledger(allow=["stale-gradient"])
def test_looks_for_the_mistake(gradient_ledger):
    train(False)
    assert [finding.code for finding in gradient_ledger.findings] == ["GL101"]

def test_fails_without_the_option(gradient_ledger):
    train(False)

def test_watches_itself(gradient_ledger):
    with gradledger.watch() as ledger:
        train()
    assert "4 steps" in repr(ledger) and "4 steps" in repr(gradient_ledger)
"""
    outcomes(pytester, tests, passed=3, failed=1)
    assert not hasattr(torch.Tensor.backward, "__gradledger__")


def test_what_is_only_possible_fails_nothing_and_is_told(pytester: pytest.Pytester) -> None:
    tests = """
def test_window():
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for index in range(9):
        loss = model(torch.randn(5, 3)).square().mean()
        (loss / 2).backward()
        if (index + 1) % 2 == 0:
            optimizer.step()
            optimizer.zero_grad()
"""
    done = outcomes(pytester, tests, "--gradledger", passed=1)
    done.stdout.fnmatch_lines(["audited 1 test that trained: 9 backward passes, 4 steps; no finding that*"])


def test_runs_inside_a_test_are_their_own(pytester: pytest.Pytester) -> None:
    tests = """
pytest_plugins = ["pytester"]

def test_inner(pytester):
    pytester.makepyfile("def test_it(): pass")
    pytester.runpytest_inprocess("--gradledger").assert_outcomes(passed=1)
    train(False)
"""
    outcomes(pytester, tests, "--gradledger", failed=1)


def test_workers_of_xdist_report_the_same(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_it=f"{TRAIN}\n\ndef test_fit():\n    train(False)\n\ndef test_right():\n    train()\n"
    )
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--gradledger", "-n", "1")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(
        [
            ">           loss.backward()",
            "E           GL101 stale-gradient: *",
            f"test_it.py:{BACKWARD}: GL101 stale-gradient",
            "audited 2 tests that trained: 8 backward passes, 8 steps; 1 finding",
        ]
    )


@pytest.mark.parametrize("option", [[], ["--gradledger"]], ids=["unasked", "asked"])
def test_tests_that_do_not_train_load_no_torch(tmp_path: Path, option: list[str]) -> None:
    heavy = {"torch"} if option else {"torch", "gradledger.audit", "gradledger.host"}
    (tmp_path / "test_it.py").write_text(
        f"import sys\n\ndef test_it():\n    assert not {heavy} & set(sys.modules)\n"
    )
    call = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *option, "."]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "gradledger" not in done.stdout
