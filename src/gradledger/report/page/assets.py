"""The files a page is put together from."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

_SLOT = re.compile(r"\{\{(\w+)\}\}")


@cache
def asset(name: str) -> str:
    """The text of a file beside this one."""
    return (files("gradledger.report.page") / name).read_text(encoding="utf-8").replace("\r\n", "\n")


def filled(template: str, slots: Mapping[str, str]) -> str:
    """A template with something in every slot; what is put in is not looked at again."""
    return _SLOT.sub(lambda slot: slots[slot[1]], asset(template))


def digest(content: str) -> str:
    """How a Content-Security-Policy names a script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
