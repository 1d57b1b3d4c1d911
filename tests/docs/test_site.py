"""The site's made pages: every command is there, and links still lead to what they led to."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from gradledger.cli.commands import commands

SITE = runpy.run_path(str(Path(__file__).resolve().parents[2] / "docs" / "site.py"))


def test_every_command_has_its_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "88")
    text = SITE["commands"]()
    for name in commands():
        assert f"## gradledger {name}\n" in text
        assert f"usage: gradledger {name}" in text


@pytest.mark.parametrize(
    ("page", "written", "led"),
    [
        ("how-to/ci.md", "[a](../checking.md#notebooks)", "[a](../checking.md#notebooks)"),
        ("engine.md", "[a](../examples/tokens.py)", "[a](examples/tokens.py)"),
        ("how-to/ci.md", "[a](../../README.md#cost)", "[a](../index.md#cost)"),
        ("engine.md", "[a](../ARCHITECTURE.md)", "[a](architecture.md)"),
        (
            "engine.md",
            "[a](#counts), [b](https://example.org/x.md)",
            "[a](#counts), [b](https://example.org/x.md)",
        ),
        ("engine.md", "```\n[a](../README.md)\n```", "```\n[a](../README.md)\n```"),
    ],
)
def test_links_lead_to_where_the_files_stand_on_the_site(page: str, written: str, led: str) -> None:
    place = SimpleNamespace(file=SimpleNamespace(src_uri=page))
    assert SITE["on_page_markdown"](written, page=place) == led


def test_links_of_the_readme_lead_from_its_new_place() -> None:
    assert (
        SITE["_moved"]("[a](docs/rules.md) [b](ARCHITECTURE.md)", "", "index.md")
        == "[a](rules.md) [b](architecture.md)"
    )
