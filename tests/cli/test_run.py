from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradledger.audit.answer import Checked
from gradledger.audit.transfer import answer_to_json
from gradledger.cli import run
from gradledger.cli.usage import UsageError
from tests.samples import TRAIN, answer, finding, steady

HOST = """
import json, os, pathlib, sys, types
from dataclasses import dataclass
from gradledger.audit.transfer import answer_from_json

@dataclass
class Target:
    kind: str
    name: str
    args: tuple

@dataclass
class Options:
    fail_fast: bool
    save: object

def run_target(target, options, conclude):
    print(json.dumps([vars(target), vars(options)]))
    os.chdir("/")
    sys.stderr = None
    answer = answer_from_json(pathlib.Path(os.environ["ANSWER"]).read_text())
    return conclude(answer, int(os.environ.get("SCRIPT_EXIT", "0")))

host = types.ModuleType("gradledger.host")
host.Target, host.Options, host.run_target = Target, Options, run_target
sys.modules["gradledger.host"] = host
from gradledger.cli.main import main
sys.exit(main(["run", *sys.argv[1:]]))
"""


@pytest.fixture
def audited(python, tmp_path: Path):
    """Run the command with a host that has this answer instead of running anything."""
    train = tmp_path / "train.py"
    train.write_text(TRAIN)
    (tmp_path / "host.py").write_text(HOST)

    def started(*args: str, found=None, checked: Checked | None = None, **environ: str):
        found = [finding(train, 6, code="GL105", name="repeated-step")] if found is None else found
        (tmp_path / "answer.json").write_text(answer_to_json(answer(*found, checked=checked)))
        return python(str(tmp_path / "host.py"), *args, ANSWER=str(tmp_path / "answer.json"), **environ)

    return started


def test_findings_come_on_stderr_with_exit_code_1(audited) -> None:
    done = audited("train.py")
    assert done.returncode == 1
    assert done.stderr.startswith("GL105 repeated-step  error")
    assert "train.py:6" in done.stderr.splitlines()[0]
    assert done.stderr.endswith("2 groups: 1 error\n")


def test_a_clean_run_is_one_line(audited) -> None:
    done = audited("train.py", found=[])
    assert (done.returncode, len(done.stderr.splitlines())) == (0, 1)
    assert "no findings" in done.stderr


def test_no_training_says_so(audited) -> None:
    done = audited("train.py", found=[], checked=Checked())
    assert done.returncode == 0
    assert done.stderr == "audited: no training happened (no backward pass, no optimizer step)\n"


@pytest.mark.parametrize(
    ("script", "flags", "code"), [("3", [], 3), ("0", ["--exit-zero"], 0), ("3", ["--exit-zero"], 3)]
)
def test_exit_codes(audited, script: str, flags: list[str], code: int) -> None:
    done = audited(*flags, "train.py", SCRIPT_EXIT=script)
    assert done.returncode == code
    assert "GL105" in done.stderr


def test_everything_after_the_script_is_the_scripts(audited) -> None:
    done = audited("--fail-fast", "train.py", "--format", "json", "-m", "--", "--save=x", found=[])
    target, options = json.loads(done.stdout)
    assert target == {
        "kind": "script",
        "name": "train.py",
        "args": ["--format", "json", "-m", "--", "--save=x"],
    }
    assert options == {"fail_fast": True, "save": None}
    assert "no findings" in done.stderr


def test_a_module_and_a_recording(audited, tmp_path: Path) -> None:
    done = audited("--save", "rec.jsonl", "-m", "pack.train", "--exit-zero")
    target, options = json.loads(done.stdout)
    assert target == {"kind": "module", "name": "pack.train", "args": ["--exit-zero"]}
    assert options == {"fail_fast": False, "save": str(tmp_path / "rec.jsonl")}
    assert done.returncode == 1


def test_json_on_stderr(audited) -> None:
    whole = json.loads(audited("--format", "json", "train.py").stderr)
    assert [(f["code"], f["path"], f["line"]) for f in whole["findings"]] == [("GL105", "train.py", 6)]


def test_output_to_a_file_although_the_script_changed_its_folder(audited, tmp_path: Path) -> None:
    done = audited("--format", "json", "--output", "out.json", "train.py")
    assert done.returncode == 1
    assert json.loads((tmp_path / "out.json").read_text())["findings"][0]["path"] == "train.py"
    assert done.stderr.splitlines()[0].endswith("1 error (report in out.json)")
    assert len(done.stderr.splitlines()) == 1


def test_text_in_a_file_has_no_colours(audited, tmp_path: Path) -> None:
    audited("--output", "out.txt", "train.py", FORCE_COLOR="1")
    text = (tmp_path / "out.txt").read_text(encoding="utf-8")
    assert "│" in text
    assert "\x1b" not in text


@pytest.mark.parametrize(("script", "code"), [("0", 2), ("5", 5)])
def test_an_output_that_cannot_be_written(audited, tmp_path: Path, script: str, code: int) -> None:
    done = audited("--output", "missing/out.txt", "train.py", SCRIPT_EXIT=script)
    assert done.returncode == code
    first, second, *_ = done.stderr.splitlines()
    assert first.startswith("gradledger run: cannot write the report to ")
    assert second.startswith("GL105 repeated-step")


def test_other_ranks_write_other_files(audited, tmp_path: Path) -> None:
    audited("--output", "out.txt", "train.py", RANK="3")
    assert (tmp_path / "out.rank3.txt").exists()
    assert not (tmp_path / "out.txt").exists()


def test_select_and_ignore(audited) -> None:
    assert audited("--ignore", "repeated-step", "train.py").returncode == 0
    assert audited("--ignore", "GL105,GL1", "train.py").returncode == 0
    assert audited("--select", "GL105", "train.py").returncode == 1


def test_a_comment_allows(audited, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        TRAIN.replace(".step()", ".step()  # gradledger: allow[repeated-step]")
    )
    assert audited("train.py").returncode == 0


def test_baseline_is_written_and_applied(audited, tmp_path: Path) -> None:
    first = audited("--write-baseline", "known.json", "train.py")
    assert first.returncode == 0
    assert "wrote 1 finding to the baseline known.json" in first.stderr
    second = audited("--baseline", "known.json", "train.py")
    assert second.returncode == 0
    assert "1 finding is known from the baseline" in second.stderr
    (tmp_path / "pyproject.toml").write_text('[tool.gradledger]\nbaseline = "known.json"\n')
    assert audited("train.py").returncode == 0


def test_a_baseline_that_cannot_be_written(audited) -> None:
    done = audited("--write-baseline", "missing/known.json", "train.py")
    assert done.returncode == 2
    assert "cannot write the baseline" in done.stderr
    assert "GL105" in done.stderr


def test_configuration_of_the_folder_or_of_the_script(audited, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.gradledger]\nignore = ["GL105"]\n')
    assert audited("train.py").returncode == 0
    (tmp_path / "elsewhere").mkdir()
    assert audited(str(tmp_path / "train.py"), cwd=tmp_path / "elsewhere").returncode == 0
    (tmp_path / "pyproject.toml").write_text('[tool.gradledger.per-file-ignores]\n"tr*.py" = ["GL1"]\n')
    assert audited("train.py").returncode == 0


@pytest.mark.parametrize(
    "args",
    [
        ["--select", "GL999", "train.py"],
        ["--ignore", "\x1b[2J", "train.py"],
        ["--select", ",", "train.py"],
        ["--baseline", "gone.json", "train.py"],
        ["--exit-zero"],
        ["-m"],
        ["-m", ""],
        ["--"],
    ],
)
def test_mistakes_are_one_line_before_anything_runs(audited, args: list[str]) -> None:
    done = audited(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("gradledger run: ")
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize(
    "text", ["[tool", "[tool.gradledger]\nselect = 1", '[tool.gradledger]\nselekt = ["GL105"]']
)
def test_a_broken_configuration_is_one_line_before_anything_runs(audited, tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    done = audited("train.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert "pyproject.toml" in done.stderr


@pytest.mark.parametrize(
    "args", [["--format", "xml", "train.py"], ["--format"], ["--nonsense", "train.py"], ["--sel", "GL1", "x"]]
)
def test_mistakes_in_options(audited, args: list[str]) -> None:
    done = audited(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert "error:" in done.stderr


def test_options_with_values_are_those_of_the_parser() -> None:
    parser = argparse.ArgumentParser()
    run.add_arguments(parser)
    actions = [action for action in parser._actions if action.nargs != 0 and action.option_strings]
    assert {option for action in actions for option in action.option_strings} == run.WITH_VALUE


@pytest.mark.parametrize(
    ("rest", "target"),
    [
        (["a.py"], ("script", "a.py", [])),
        (["-"], ("script", "-", [])),
        (["-m", "a.b", "-m"], ("module", "a.b", ["-m"])),
        (["-ma.b", "x"], ("module", "a.b", ["x"])),
        (["--", "-m", "x"], ("script", "-m", ["x"])),
        (["--", "--", "x"], ("script", "--", ["x"])),
    ],
)
def test_targets(rest: list[str], target: tuple[str, str, list[str]]) -> None:
    assert run.ours(rest) == 0
    assert run.target(rest) == target


def test_no_target() -> None:
    with pytest.raises(UsageError):
        run.target([])


flags = st.sampled_from(
    [["--fail-fast"], ["--exit-zero"], ["--format", "json"], ["--format=json"], ["--save", "-m"]]
)


@steady
@given(
    st.lists(flags, max_size=4),
    st.text(min_size=1).filter(lambda s: not s.startswith("-")),
    st.lists(st.text()),
)
def test_the_first_word_that_is_no_option_ends_ours(
    ours: list[list[str]], script: str, args: list[str]
) -> None:
    mine = [word for flag in ours for word in flag]
    assert run.ours([*mine, script, *args]) == len(mine)
    assert run.target([script, *args]) == ("script", script, args)
