from __future__ import annotations

from pathlib import Path

import pytest

from gradledger.audit.baseline import baseline_of
from gradledger.audit.config import Config
from gradledger.audit.select import final, selected, selection
from gradledger.audit.selector import UnknownRuleError
from tests.samples import TRAIN, answer, finding


def wants(
    path: str, config: Config, code: str = "GL105", select: tuple[str, ...] = (), ignore: tuple[str, ...] = ()
) -> bool:
    return selection(config, Path("/project"), select, ignore).wants(finding(path, code=code))


CONFIG = Path("/project/pyproject.toml")


def test_by_default_everything_is_wanted() -> None:
    assert wants("/project/a.py", Config())


def test_configuration_selects_and_ignores() -> None:
    assert not wants("/project/a.py", Config(select=frozenset()))
    assert wants("/project/a.py", Config(select=frozenset({"GL105"})))
    assert not wants("/project/a.py", Config(select=frozenset({"GL105"}), ignore=frozenset({"GL105"})))


def test_the_command_line_comes_first() -> None:
    assert wants("/project/a.py", Config(select=frozenset()), select=("GL1",))
    assert not wants("/project/a.py", Config(), ignore=("repeated-step",))
    assert wants("/project/a.py", Config(ignore=frozenset({"GL105"})), select=("GL105",))
    assert not wants("/project/a.py", Config(ignore=frozenset({"GL105"})), select=("GL1",))
    assert not wants("/project/a.py", Config(), select=("GL105",), ignore=("GL105",))


def test_files_are_excluded_and_ignored_by_pattern() -> None:
    config = Config(CONFIG, exclude=("build",), per_file_ignores=(("tests/*", frozenset({"GL105"})),))
    assert not wants("/project/build/a.py", config)
    assert not wants("/project/tests/a.py", config)
    assert wants("/project/src/a.py", config)
    assert wants("/project/src/tests/a.py", config)


def test_unknown_words_are_errors() -> None:
    with pytest.raises(UnknownRuleError):
        selection(Config(), Path("/project"), select=("GL999",))
    with pytest.raises(UnknownRuleError):
        selection(Config(), Path("/project"), ignore=("nonsense",))


def test_the_final_answer_passes_every_sieve(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(TRAIN + "opt.step()  # gradledger: allow[GL105]\nknown()\nnew()\n")
    whole = answer(*(finding(path, line, code="GL105") for line in (7, 8, 9)), notes=("kept",))
    wishes = selection(Config(), tmp_path)
    assert [f.site.line for f in selected(whole, wishes, str(tmp_path)).findings] == [8, 9]
    baseline = baseline_of(answer(finding(path, 8, code="GL105")), tmp_path / "b.json")
    result = final(whole, wishes, str(tmp_path), baseline)
    assert [f.site.line for f in result.findings] == [9]
    assert result.notes[0] == "kept"
    assert result.checked == whole.checked
    assert final(whole, selection(Config(), tmp_path, ignore=("GL105",)), str(tmp_path)).findings == ()
