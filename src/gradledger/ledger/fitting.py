"""Whether the values that a file gives for an event can be those of one: a recording may say anything."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from gradledger.ledger.site import Site

Fits = Callable[[Any], bool]

_MOST = 2**63
"""No number that counts or names something is larger."""

_known: dict[type, dict[str, Fits]] = {}

_KEPT = 4096
_good: dict[int, Site] = {}
"""Sites that were looked at: a program has few lines and comes by them often."""


def fitting(kind: type, values: dict[str, Any]) -> dict[str, Any]:
    """The same values; a TypeError if one is of another type than the kind declares."""
    fits = _known.get(kind)
    if fits is None:
        fits = _known[kind] = {name: _fits(hint) for name, hint in get_type_hints(kind).items()}
    for name, value in values.items():
        if not fits[name](value):
            raise TypeError(f"{kind.__name__}.{name}")
    return values


def _fits(hint: Any) -> Fits:
    inside = get_args(hint)
    if get_origin(hint) in (Union, types.UnionType):
        choices = [_fits(each) for each in inside]
        return lambda value: any(fits(value) for fits in choices)
    if get_origin(hint) is Literal:
        return lambda value: isinstance(value, str) and value in inside
    if get_origin(hint) is tuple:
        each = _fits(inside[0])
        return lambda value: isinstance(value, tuple) and all(map(each, value))
    if hint is int:
        return lambda value: type(value) is int and -_MOST < value < _MOST
    if hint is float:
        return lambda value: type(value) is float or (type(value) is int and -_MOST < value < _MOST)
    if hint is Site:
        return lambda value: isinstance(value, Site) and _is_place(value)
    return lambda value: type(value) is hint


def _is_place(site: Site) -> bool:
    """Whether its values are those of a site; a place has no null byte in its path."""
    if _good.get(id(site)) is site:
        return True
    fitting(Site, {name: getattr(site, name) for name in Site.__slots__})
    if "\0" in site.path:
        return False
    if len(_good) >= _KEPT:
        _good.clear()
    _good[id(site)] = site
    return True
