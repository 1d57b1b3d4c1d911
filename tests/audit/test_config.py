from __future__ import annotations

from pathlib import Path

import pytest

from gradledger.audit.config import Config, ConfigError, load_config


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "pyproject.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_everything_is_read(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
        [tool.gradledger]
        select = ["GL1"]
        ignore = ["repeated-step"]
        exclude = ["build"]
        baseline = "known.json"
        [tool.gradledger.per-file-ignores]
        "tests/*.py" = ["GL105"]
        """,
    )
    config = load_config(tmp_path)
    assert config is not None
    assert config.path == path
    assert config.root == tmp_path
    assert config.select is not None
    assert "GL105" in config.select
    assert config.ignore == {"GL105"}
    assert config.exclude == ("build",)
    assert config.baseline == tmp_path / "known.json"
    assert config.per_file_ignores == (("tests/*.py", frozenset({"GL105"})),)


def test_the_nearest_table_upwards_counts(tmp_path: Path) -> None:
    write(tmp_path, '[tool.gradledger]\nexclude = ["outer"]')
    write(tmp_path / "a", '[tool.gradledger]\nexclude = ["inner"]')
    write(tmp_path / "a" / "b", "[project]\nname = 'without-our-table'")
    (tmp_path / "a" / "b" / "c").mkdir()
    near, far = load_config(tmp_path / "a" / "b" / "c"), load_config(tmp_path)
    assert near is not None
    assert near.exclude == ("inner",)
    assert far is not None
    assert far.exclude == ("outer",)


def test_no_table_is_no_configuration(tmp_path: Path) -> None:
    write(tmp_path, "[tool.other]\nx = 1")
    assert load_config(tmp_path) is None


def test_an_empty_table_says_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, "[tool.gradledger]")
    assert load_config(tmp_path) == Config(path=path)


@pytest.mark.parametrize(
    ("text", "key", "problem"),
    [
        ('select = "GL101"', "select", "list of strings"),
        ("select = [1]", "select", "list of strings"),
        ('select = [""]', "select", "list of strings"),
        ('select = ["GL999"]', "select", 'unknown rule "GL999"'),
        ('ignore = ["repeted-step"]', "ignore", "nearest: repeated-step"),
        ("exclude = true", "exclude", "list of strings"),
        ("baseline = 3", "baseline", "name of a file"),
        ('baseline = ""', "baseline", "name of a file"),
        ("per-file-ignores = []", "per-file-ignores", "table"),
        ('per-file-ignores = {"a.py" = "GL101"}', 'per-file-ignores."a.py"', "list of strings"),
        ('per-file-ignores = {"a.py" = ["x"]}', 'per-file-ignores."a.py"', 'unknown rule "x"'),
        ('selct = ["GL101"]', "selct", "unknown key"),
    ],
)
def test_mistakes_name_file_and_key(tmp_path: Path, text: str, key: str, problem: str) -> None:
    path = write(tmp_path, f"[tool.gradledger]\n{text}")
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path)
    assert (caught.value.path, caught.value.key) == (path, key)
    assert problem in caught.value.problem
    assert str(caught.value) == f"{path}: tool.gradledger.{key}: {caught.value.problem}"
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["[tool", 'tool.gradledger = "x"', "[tool]\ngradledger = 1"])
def test_a_file_that_is_no_table(tmp_path: Path, text: str) -> None:
    write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path)
    assert caught.value.key is None
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="not valid TOML"):
        load_config(tmp_path)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no file here refuses to be read")
def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").symlink_to("/proc/self/mem")
    with pytest.raises(ConfigError, match="cannot be read: Input/output error"):
        load_config(tmp_path)


def test_nested_too_deeply(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("x = " + "[" * 100_000)
    with pytest.raises(ConfigError, match="nested too deeply"):
        load_config(tmp_path)
