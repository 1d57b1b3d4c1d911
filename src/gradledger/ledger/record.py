"""`dataclass`, `field` and `replace` as in the standard library, for slotted classes, quick to load.

The standard library imports `inspect` and compiles half a dozen methods for each class, used or not. Here the
methods are shared, and those that matter for speed are written out for a class that is used often. To a type
checker these are the standard library's own.
"""

from __future__ import annotations

from functools import partial
from operator import ge, gt, le, lt
from reprlib import recursive_repr

TYPE_CHECKING = False  # the constant of `typing`, which is not worth importing for it
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

__all__ = ["dataclass", "field", "field_names", "replace"]

_MISSING: Any = type("MISSING", (), {"__repr__": lambda _: "<factory>"})()

_set = object.__setattr__
_OFTEN = 40
"""So many calls of a shared method take as long as compiling one."""


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

    def made(self) -> Any:
        """Put the attribute in this one's place."""
        value = self.make(self.cls)
        setattr(self.cls, self.name, value)
        return value

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self.made()


class _Method(_Late):
    """A method that works for any record; its class gets one of its own once it is called often."""

    __slots__ = ("calls", "shared")

    def __init__(self, cls: type, name: str, make: Callable[[type], Any], shared: Callable[..., Any]) -> None:
        super().__init__(cls, name, make)
        self.calls = 0
        self.shared = shared

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None:
            return self.made()
        self.calls += 1
        if self.calls > _OFTEN or isinstance(instance, type):  # `inspect` asks for a class
            return self.made().__get__(instance, owner)
        return partial(self.shared, self.cls, instance)


def _field(*, default: Any = _MISSING, default_factory: Callable[[], object] | None = None) -> Any:
    """What stands behind a field's annotation, if it is more than a plain default."""
    return default if default_factory is None else _Factory(default_factory)


def field_names(kind: Any) -> tuple[str, ...]:
    """The names of a record's fields, in their order, of the class or of one of its objects."""
    return tuple(kind.__record_fields__)


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
    if shown:
        body.setdefault("__repr__", _shown)
    if order:
        body.update({f"__{how.__name__}__": _ordered(how) for how in (lt, le, gt, ge)})
    if eq and not frozen:
        body.setdefault("__hash__", None)
    if frozen:
        body.update(__setattr__=_refuse, __delattr__=_refuse)
        body.setdefault("__getstate__", _state)
        body.setdefault("__setstate__", _restore)
    new: Any = type(cls)(cls.__name__, cls.__bases__, body)
    new.__qualname__ = cls.__qualname__
    methods: list[tuple[str, Any, Any]] = [("__init__", _frozen_init if frozen else _init, _fill)]
    if eq:
        methods.append(("__eq__", _equal, _are_equal))
        if frozen and body.get("__hash__") is None:
            body.pop("__hash__", None)
            methods.append(("__hash__", _hashed, _hash_of))
    for name, write, shared in methods:
        if name not in body:
            setattr(new, name, _Method(new, name, write, shared))
    twin = partial(_twin, params={"frozen": frozen, "eq": eq, "repr": shown, "order": order})
    new.__dataclass_fields__ = _Late(new, "__dataclass_fields__", lambda cls: twin(cls).__dataclass_fields__)
    new.__dataclass_params__ = _Late(new, "__dataclass_params__", lambda cls: twin(cls).__dataclass_params__)
    return new  # type: ignore[no-any-return]


def _ordered(compare: Callable[[Any, Any], Any]) -> Any:
    def ordered(self: Any, other: Any) -> Any:
        if other.__class__ is self.__class__:
            return compare(_state(self), _state(other))
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
        _set(self, name, value)


def _fill(cls: Any, self: Any, /, *args: Any, **named: Any) -> None:
    fields = cls.__record_fields__
    given = dict(zip(fields, args, strict=False))
    values = {**fields, **given, **named}
    wrong = len(args) > len(fields) or len(values) > len(fields) or not given.keys().isdisjoint(named)
    for name, value in values.items():
        if wrong or value is _MISSING:
            cls.__init__(self, *args, **named)  # written out, it says what is wrong
        _set(self, name, value.make() if value.__class__ is _Factory else value)
    if hasattr(cls, "__post_init__"):
        self.__post_init__()


def _are_equal(_: type, self: Any, other: Any) -> Any:
    if other.__class__ is self.__class__:
        return _state(self) == _state(other)
    return NotImplemented


def _hash_of(_: type, self: Any) -> int:
    return hash(tuple(_state(self)))


def _equal(cls: Any) -> Any:
    mine, theirs = (_values(cls, of) for of in ("self", "other"))
    return _written(
        cls,
        "__eq__(self, other)",
        (f"return {mine} == {theirs} if other.__class__ is self.__class__ else NotImplemented",),
        {},
    )


def _hashed(cls: Any) -> Any:
    return _written(cls, "__hash__(self)", (f"return hash({_values(cls, 'self')})",), {})


def _values(cls: Any, of: str) -> str:
    return f"({''.join(f'{of}.{name},' for name in cls.__record_fields__)})"


def _init(cls: Any) -> Any:
    return _constructor(cls, "self.{0} = {1}")


def _frozen_init(cls: Any) -> Any:
    return _constructor(cls, "_set_{0}(self, {1})")


def _constructor(cls: Any, line: str) -> Any:
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
    return _written(cls, f"__init__({', '.join(parameters)})", lines or ["pass"], scope)


def _written(cls: Any, head: str, lines: Iterable[str], scope: dict[str, Any]) -> Any:
    """A method as one would write it by hand, which no shared one can match for speed."""
    exec("\n ".join((f"def {head}:", *lines)), scope)
    method = scope[head.partition("(")[0]]
    method.__qualname__ = f"{cls.__qualname__}.{method.__name__}"
    method.__module__ = cls.__module__
    return method


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
