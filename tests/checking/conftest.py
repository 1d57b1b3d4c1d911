"""The checker that finds a word, wherever a test asks for it."""

from __future__ import annotations

import pytest

from tests.checking import programs


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the checker that finds the word MISTAKE for the real one."""
    programs.install(monkeypatch)
