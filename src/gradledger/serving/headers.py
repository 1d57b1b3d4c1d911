"""The headers that every answer carries."""

from __future__ import annotations

from typing import TypeAlias

Headers: TypeAlias = "list[tuple[bytes, bytes]]"

POLICY = b"content-security-policy"
_ALWAYS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_NOTHING = b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"


def secured(given: Headers) -> Headers:
    """The app's headers with ours; its Content-Security-Policy holds, and without one nothing is allowed."""
    ours = {name for name, _ in _ALWAYS}
    kept = [(name, value) for name, value in given if name.lower() not in ours]
    own_policy = any(name.lower() == POLICY for name, _ in kept)
    return [*kept, *_ALWAYS, *([] if own_policy else [(POLICY, _NOTHING)])]
