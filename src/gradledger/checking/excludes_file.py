"""The ignore file that holds for all repositories of a user: git's core.excludesFile."""

from __future__ import annotations

import os
import re

from gradledger.audit.reach import content

_SECTION = re.compile(r"\s*\[\s*([\w.-]+)\s*(?:\"[^\"]*\"\s*)?\]")
_KEY = re.compile(r"\s*excludesfile\s*=\s*(.*)", re.IGNORECASE)


def excludes_file(top: str) -> str | None:
    """Its path for the repository at this folder, whether or not it exists; git itself is not asked."""
    home = os.path.expanduser("~")
    own = os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git")
    shared = os.environ.get("GIT_CONFIG_GLOBAL")
    of_user = [os.path.join(own, "config"), os.path.join(home, ".gitconfig")] if shared is None else [shared]
    # The last that speaks decides, as in git.
    for config in reversed(["/etc/gitconfig", *of_user, os.path.join(top, ".git", "config")]):
        said = _said(config)
        if said is not None:
            return os.path.join(top, os.path.expanduser(said)) if said else None
    return os.path.join(own, "ignore")


def _said(config: str) -> str | None:
    """What a configuration file says about it; None if nothing."""
    raw = content(config)
    if raw is None:
        return None
    lines = raw.decode("utf-8", "surrogateescape").splitlines()
    section, found = "", None
    for line in lines:
        head = _SECTION.match(line)
        if head is not None:
            section, line = head[1].lower(), line[head.end() :]
        key = _KEY.match(line) if section == "core" else None
        if key is not None:
            found = _value(key[1])
    return found


def _value(text: str) -> str:
    """The value without quotes, escapes and comments."""
    parts = re.findall(r'"((?:\\.|[^"\\])*)"|(\\.)|([^"\\#;]+)|([#;].*)', text)
    value = "".join(quoted or escaped or plain for quoted, escaped, plain, _ in parts).strip()
    return re.sub(r"\\(.)", r"\1", value)
