from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradledger.checking.gitignore import IgnoreFile, is_ignored, read_rules


def ignored(rules: str, path: str) -> bool:
    files = (IgnoreFile("/r/", read_rules(rules)),)
    return is_ignored(f"/r/{path.rstrip('/')}", files, folder=path.endswith("/"))


@pytest.mark.parametrize(
    ("rules", "path", "expected"),
    [
        ("*.py", "a/b.py", True),
        ("*.py\n!b.py", "a/b.py", False),
        ("/a.py", "a.py", True),
        ("/a.py", "x/a.py", False),
        ("x/a.py", "y/x/a.py", False),
        ("build/", "build", False),
        ("build/", "src/build/", True),
        ("**/x/a.py", "a/b/x/a.py", True),
        ("a/**", "a/", False),
        ("a/**", "a/b/c.py", True),
        ("a/**/c.py", "a/c.py", True),
        ("a/**/c.py", "a/b/b/c.py", True),
        ("a/*/c.py", "a/b/b/c.py", False),
        ("# a.py\n\\#a.py", "#a.py", True),
        ("\\!a.py", "!a.py", True),
        ("a.py   ", "a.py", True),
        ("a.py\\ ", "a.py ", True),
        ("a.py\r\n", "a.py", True),
        ("[a-c]?.py", "b1.py", True),
        ("[!a-c]?.py", "b1.py", False),
        ("[[:digit:]].py", "7.py", True),
        ("[]x].py", "].py", True),
        ("[a.py", "[a.py", False),
        ("\ufeffa.py", "a.py", True),
        ("foo//", "foo/", False),
    ],
)
def test_patterns(rules: str, path: str, expected: bool) -> None:
    assert ignored(rules, path) is expected


def test_the_innermost_file_decides() -> None:
    outer, inner = IgnoreFile("/r/", read_rules("*.py")), IgnoreFile("/r/a/", read_rules("!keep.py"))
    assert not is_ignored("/r/a/keep.py", (outer, inner), folder=False)
    assert is_ignored("/r/a/other.py", (outer, inner), folder=False)


PARTS = ["a", "b", "ab", "a.py", "b.py", "a b", "[a]", "!a", "#a", "x-y"]
pattern_parts = st.lists(
    st.sampled_from(
        ["a", "b", "x", "*", "**", "***", "?", "[ab]", "[!a]", "[a-b]", "[]a]", "[^b", "-", ".py", " "]
    )
    | st.sampled_from(["\\*", "\\ ", "\\#", "\\", "[[:alpha:]]", "[\\]a]", "[a-]", "[b-a]", "y"]),
    min_size=1,
    max_size=3,
).map("".join)
patterns = st.builds(
    lambda mark, slash, parts, end: mark + slash + "/".join(parts) + end,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "/"]),
    st.lists(pattern_parts, min_size=1, max_size=3),
    st.sampled_from(["", "", "/", " ", "\r"]),
)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with folders in folders, the same names everywhere."""
    root = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for top in PARTS:
        (root / "top" / top).mkdir(parents=True)
        for below in PARTS[:5]:
            (root / "top" / top / below).touch()
    for name in ("c.py", "a-c.py"):
        (root / name).touch()
    return root


def as_git_says(root: Path, paths: list[str]) -> set[str]:
    call = ["git", "-C", str(root), "-c", "core.excludesFile=", "check-ignore", "--no-index", "--stdin", "-z"]
    done = subprocess.run(call, input="\0".join(paths).encode(), capture_output=True, check=False)
    return set(filter(None, done.stdout.decode().split("\0")))


@settings(deadline=None, max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(outer=st.lists(patterns, max_size=4), inner=st.lists(patterns, max_size=3))
def test_as_git_says(tree: Path, outer: list[str], inner: list[str]) -> None:
    (tree / ".gitignore").write_text("\n".join(outer), encoding="utf-8", newline="")
    (tree / "top" / ".gitignore").write_text("\n".join(inner), encoding="utf-8", newline="")
    first = IgnoreFile(f"{tree}/", read_rules("\n".join(outer)))
    second = IgnoreFile(f"{tree}/top/", read_rules("\n".join(inner)))
    mine: set[str] = set()
    everything: list[str] = []
    for folder, folders, files in os.walk(tree):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in [*folders, *files]:
            path = os.path.join(folder, name)
            if name == ".gitignore":
                continue
            relative = os.path.relpath(path, tree)
            everything.append(relative)
            known = (first,) if folder == str(tree) else (first, second)
            above = os.path.dirname(relative) in mine
            if above or is_ignored(path, known, folder=name in folders):
                mine.add(relative)
    assert mine == as_git_says(tree, everything)
