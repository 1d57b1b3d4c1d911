"""A real browser for tests: Debian's chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or "/usr/bin/chromium"
ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NEEDED = "GRADLEDGER_NEEDS_BROWSER"
"""Where this is set, as in CI, a missing browser is a failure."""


def _missing() -> str | None:
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "playwright is not installed"
    return None if os.path.exists(CHROMIUM) else "chromium is not installed"


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    missing = _missing()
    if missing is not None:
        if os.environ.get(NEEDED):
            pytest.fail(f"{missing}, and here the page must be tried in a browser", pytrace=False)
        pytest.skip(missing)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()
