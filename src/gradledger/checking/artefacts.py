"""Folders that hold what was built or installed, not what somebody wrote."""

from __future__ import annotations

_ALWAYS = frozenset({"__pycache__", "__pypackages__", "node_modules", "site-packages", "_build", "buck-out"})


def skipped_by_name(name: str) -> bool:
    """Whether a folder of this name is passed over without a look."""
    return name.startswith(".") or name in _ALWAYS or name.endswith(".egg-info")


def skipped_by_content(name: str, inside: list[str]) -> bool:
    """Whether what stands in the folder shows that it is an environment or the product of a build."""
    if "pyvenv.cfg" in inside or "conda-meta" in inside:
        return True
    if name == "build":
        return any(entry == "lib" or entry.startswith(("lib.", "bdist.")) for entry in inside)
    return name == "dist" and any(entry.endswith((".whl", ".tar.gz")) for entry in inside)
