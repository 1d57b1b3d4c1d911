"""`dataclass`, `field` and `replace` as in the standard library, for slotted classes, quick to load.

The standard library imports `inspect` and compiles half a dozen methods for each class, used or not. Here the
methods are shared, and what must be written for one class is written when it is first used. To a type checker
these are the standard library's own.
"""

from __future__ import annotations

from operator import attrgetter, ge, gt, le, lt
from reprlib import recursive_repr

TYPE_CHECKING = False  # the constant of `typing`, which is not worth importing for it
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

__all__ = ["dataclass", "field", "replace"]

_MISSING: Any = type("MISSING", (), {"__repr__": lambda _: "<factory>"})()


class _Factory:
    """Makes the default of a field, anew for each object."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], object]) -> None:
        self.make = make


class _Late:
    """An attribute of a class that is made when it is first looked at."""

    __slots__ = ("cls", "make", "name")

    def __init__(self, cls: type, name: str, make: Callable[[type], Any]) -> None:
        self.cls = cls
        self.name = name
        self.make = make

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        value = self.make(self.cls)
        setattr(self.cls, self.name, value)
        return value.__get__(instance, owner) if hasattr(value, "__get__") else value


def _field(*, default: Any = _MISSING, default_factory: Callable[[], object] | None = None) -> Any:
    """What stands behind a field's annotation, if it is more than a plain default."""
    return default if default_factory is None else _Factory(default_factory)


def _replace(instance: Any, /, **changes: Any) -> Any:
    """A new object with some fields changed."""
    cls = instance.__class__
    for name in cls.__record_fields__:
        if name not in changes:
            changes[name] = getattr(instance, name)
    return cls(**changes)


def _dataclass(
    *,
    slots: bool,
    frozen: bool = False,
    eq: bool = True,
    repr: bool = True,  # noqa: A002
    order: bool = False,
) -> Callable[[type], type]:
    """Make a class a record of its annotated fields."""
    if not slots:
        raise TypeError("a record has slots")

    def made(cls: type) -> type:
        return _record(cls, frozen=frozen, eq=eq, shown=repr, order=order)

    return made


def _record(cls: type, *, frozen: bool, eq: bool, shown: bool, order: bool) -> type:
    annotations = cls.__annotations__
    body = dict(cls.__dict__)
    defaults: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        defaults.update(base.__dict__.get("__record_fields__", ()))
    inherited = set(defaults)
    for name, annotation in annotations.items():
        if not str(annotation).startswith(("ClassVar", "typing.ClassVar")):
            defaults[name] = body.pop(name, _MISSING)
    names = tuple(defaults)
    for unwanted in ("__dict__", "__weakref__"):
        body.pop(unwanted, None)
    body["__slots__"] = tuple(name for name in names if name not in inherited)
    body["__record_fields__"] = defaults
    body.setdefault("__match_args__", names)
    values = _values(names)
    if shown:
        body.setdefault("__repr__", _shown)
    if eq:
        equal, hashed = _compared(values)
        body.setdefault("__eq__", equal)
        if not frozen:
            body.setdefault("__hash__", None)
        elif body.get("__hash__") is None:
            body["__hash__"] = hashed
    if order:
        body.update({f"__{how.__name__}__": _ordered(values, how) for how in (lt, le, gt, ge)})
    if frozen:
        body.update(__setattr__=_refuse, __delattr__=_refuse)
        body.setdefault("__getstate__", _state)
        body.setdefault("__setstate__", _restore)
    new = type(cls)(cls.__name__, cls.__bases__, body)
    new.__qualname__ = cls.__qualname__
    if "__init__" not in body:
        write = _frozen_init if frozen else _init
        new.__init__ = _Late(new, "__init__", write)  # type: ignore[misc]
    params: dict[str, Any] = {"frozen": frozen, "eq": eq, "repr": shown, "order": order}

    def fields(cls: type) -> Any:
        return _twin(cls, params).__dataclass_fields__

    def parameters(cls: type) -> Any:
        return _twin(cls, params).__dataclass_params__

    for name, make in (("__dataclass_fields__", fields), ("__dataclass_params__", parameters)):
        setattr(new, name, _Late(new, name, make))
    return new


def _values(names: tuple[str, ...]) -> Callable[[Any], Any]:
    """What an object is compared by, fetched without a line of Python where there are fields."""
    if not names:
        return lambda _: ()
    # of one name alone, attrgetter makes no tuple
    return attrgetter(*names) if len(names) > 1 else attrgetter(*names, *names)


def _compared(values: Callable[[Any], Any]) -> tuple[Any, Any]:
    def equal(self: Any, other: Any) -> Any:
        if other.__class__ is self.__class__:
            return values(self) == values(other)
        return NotImplemented

    def hashed(self: Any) -> int:
        return hash(values(self))

    return equal, hashed


def _ordered(values: Callable[[Any], Any], compare: Callable[[Any, Any], Any]) -> Any:
    def ordered(self: Any, other: Any) -> Any:
        if other.__class__ is self.__class__:
            return compare(values(self), values(other))
        return NotImplemented

    return ordered


@recursive_repr()
def _shown(self: Any) -> str:
    told = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__record_fields__)
    return f"{self.__class__.__qualname__}({told})"


def _refuse(_: object, name: str, *value: object) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot {'assign to' if value else 'delete'} field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__record_fields__]


def _restore(self: Any, state: Iterable[Any]) -> None:
    for name, value in zip(self.__record_fields__, state, strict=True):
        object.__setattr__(self, name, value)


def _init(cls: Any) -> Any:
    return _written(cls, "self.{0} = {1}")


def _frozen_init(cls: Any) -> Any:
    return _written(cls, "_set_{0}(self, {1})")


def _written(cls: Any, line: str) -> Any:
    """The constructor, as one would write it by hand."""
    scope: dict[str, Any] = {"_missing": _MISSING}
    parameters, lines = ["self"], []
    for name, default in cls.__record_fields__.items():
        scope[f"_set_{name}"] = getattr(cls, name).__set__
        value = name
        if isinstance(default, _Factory):
            scope[f"_make_{name}"] = default.make
            value = f"_make_{name}() if {name} is _missing else {name}"
            parameters.append(f"{name}=_missing")
        elif default is _MISSING:
            parameters.append(name)
        else:
            scope[f"_default_{name}"] = default
            parameters.append(f"{name}=_default_{name}")
        lines.append(line.format(name, value))
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    text = f"def __init__({', '.join(parameters)}):\n " + "\n ".join(lines or ["pass"])
    exec(text, scope)
    init = scope["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__module__ = cls.__module__
    return init


def _twin(cls: Any, params: dict[str, Any]) -> Any:
    """The standard library's own class with the same fields, for those who ask with its functions."""
    import dataclasses

    hints: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        hints.update(getattr(base, "__annotations__", ()))
    fields: list[tuple[str, Any, Any]] = []
    for name, default in cls.__record_fields__.items():
        if isinstance(default, _Factory):
            told = dataclasses.field(default_factory=default.make)
        else:
            told = dataclasses.field() if default is _MISSING else dataclasses.field(default=default)
        fields.append((name, hints[name], told))
    return dataclasses.make_dataclass(cls.__name__, fields, **params)


if TYPE_CHECKING:
    from dataclasses import dataclass, field, replace
else:
    dataclass, field, replace = _dataclass, _field, _replace
