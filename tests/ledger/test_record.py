"""Records are as the frozen, slotted dataclasses of the standard library, seldom or often used."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from typing import Any, ClassVar

import pytest

from gradledger.ledger import record
from gradledger.ledger.record import dataclass, field, field_names, replace


@dataclass(frozen=True, slots=True)
class Point:
    """A place."""

    x: int
    y: int = 0


@dataclass(frozen=True, slots=True)
class Named(Point):
    name: str = "here"
    tags: tuple[str, ...] = field(default_factory=tuple)
    kinds: ClassVar[int] = 3

    def shifted(self) -> Named:
        return replace(self, x=self.x + 1)


@dataclass(slots=True)
class Basket:
    items: list[Any] = field(default_factory=list)
    label: str = ""


@dataclass(slots=True, eq=False, repr=False)
class Plain:
    value: int = 0


@dataclass(frozen=True, slots=True, order=True)
class Version:
    major: int
    minor: int = 0


@dataclass(frozen=True, slots=True)
class Nothing:
    pass


@dataclass(slots=True)
class Checked:
    value: int

    def __post_init__(self) -> None:
        if self.value < 0:
            raise ValueError("negative")


def theirs(**options: bool) -> Any:
    """The same class as `Point` by the standard library."""

    @dataclasses.dataclass(frozen=True, slots=True, **options)
    class Point:
        x: int
        y: int = 0

    return Point


METHODS = ("__init__", "__eq__", "__hash__")
SHARED = [
    (kind, method, vars(kind)[method])
    for kind in (Point, Named, Basket, Plain, Version, Nothing, Checked)
    for method in METHODS
    if method in vars(kind)
]
"""As they are before anybody uses the classes."""


@pytest.fixture(params=["seldom used", "often used"], autouse=True)
def use(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test with the shared methods and with those that are written for the class."""
    for kind, method, shared in SHARED:
        setattr(kind, method, shared)
    if request.param == "seldom used":
        monkeypatch.setattr(record, "_OFTEN", 10**9)
    else:
        for kind, method, _ in SHARED:
            getattr(kind, method)


def test_equality_is_that_of_the_fields() -> None:
    assert Point(1, 2) == Point(1, y=2)
    assert Point(1) != Point(2)
    assert Point(1) != Named(1)
    assert Point(1) != (1, 0)
    assert Nothing() == Nothing()
    assert Basket([1]) == Basket([1])
    assert Plain(1) != Plain(1)


def test_hash_is_that_of_the_fields_and_never_changes() -> None:
    point = Point(1, 2)
    hashes = {hash(point) for _ in range(100)}
    assert hashes == {hash(theirs()(1, 2))}
    assert len({Point(1), Point(1), Point(2)}) == 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(Basket())


def test_repr() -> None:
    assert repr(Named(1, tags=("a",))) == "Named(x=1, y=0, name='here', tags=('a',))"
    assert repr(Nothing()) == "Nothing()"
    assert repr(Plain()).startswith("<")
    basket = Basket()
    basket.items.append(basket)
    assert repr(basket) == "Basket(items=[...], label='')"


def test_frozen_and_slotted() -> None:
    point = Point(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError, match="cannot delete field 'x'"):
        del point.x
    with pytest.raises(AttributeError):
        Basket().other = 1  # type: ignore[attr-defined]
    assert not hasattr(point, "__dict__")
    assert Named.__slots__ == ("name", "tags")


@pytest.mark.parametrize("made", [Point(1, 2), Named(1, tags=("a",)), Basket([1]), Nothing(), Version(3)])
def test_pickling_and_copying(made: Any) -> None:
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(made, protocol)) == made
    assert copy.copy(made) == made
    assert copy.deepcopy(made) == made


def test_a_copy_is_a_deep_one_where_that_was_asked_for() -> None:
    basket = Basket([[]])
    assert copy.copy(basket).items is basket.items
    assert copy.deepcopy(basket).items[0] is not basket.items[0]


def test_methods_that_a_class_has_of_its_own_stay() -> None:
    @dataclass(frozen=True, slots=True)
    class Caseless:
        word: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Caseless) and self.word.lower() == other.word.lower()

        def __hash__(self) -> int:
            return hash(self.word.lower())

    assert Caseless("Loss") == Caseless("loss") != Caseless("lot")
    assert len({Caseless("Loss"), Caseless("loss")}) == 1


def test_replace() -> None:
    assert Named(1).shifted() == Named(2)
    assert replace(Point(1, 2), y=3) == Point(1, 3)
    assert dataclasses.replace(Point(1, 2), y=3) == Point(1, 3)
    with pytest.raises(TypeError, match="Point"):
        replace(Point(1), z=1)  # type: ignore[call-arg]


def test_pattern_matching() -> None:
    match Named(1, 2):
        case Point(x, y):
            assert (x, y) == (1, 2)
    match Named(1, name="there"):
        case Named(_, _, name):
            assert name == "there"


def test_inheritance_keeps_the_order_of_the_fields() -> None:
    assert field_names(Named) == field_names(Named(1)) == ("x", "y", "name", "tags")
    assert Named.kinds == 3
    assert isinstance(Named(1), Point)


def test_defaults_are_made_anew() -> None:
    assert Basket().items is not Basket().items
    assert (Point(1).y, Named(1).tags, Version(1).minor) == (0, (), 0)


def test_after_the_fields_are_set() -> None:
    assert Checked(1).value == 1
    with pytest.raises(ValueError, match="negative"):
        Checked(-1)


def test_order() -> None:
    assert sorted([Version(2), Version(1, 5), Version(1)]) == [Version(1), Version(1, 5), Version(2)]
    assert Version(1) <= Version(1) < Version(2) > Version(1) >= Version(1)
    with pytest.raises(TypeError):
        Version(1) < (1, 0)


@pytest.mark.parametrize(
    ("args", "named"),
    [((), {}), ((1, 2, 3), {}), ((1,), {"x": 1}), ((1,), {"z": 1})],
    ids=["missing", "too many", "twice", "unknown"],
)
def test_wrong_arguments_name_the_class(args: tuple[int, ...], named: dict[str, int]) -> None:
    with pytest.raises(TypeError, match=r"Point\.__init__\(\)") as ours:
        Point(*args, **named)
    with pytest.raises(TypeError) as others:
        theirs()(*args, **named)
    assert str(ours.value) == str(others.value).rpartition(".<locals>.")[2]


def test_the_standard_library_takes_them_for_its_own() -> None:
    assert dataclasses.is_dataclass(Named)
    assert [f.name for f in dataclasses.fields(Named(1))] == ["x", "y", "name", "tags"]
    assert [f.default for f in dataclasses.fields(Point)] == [f.default for f in dataclasses.fields(theirs())]
    assert dataclasses.asdict(Basket([Point(1)])) == {"items": [{"x": 1, "y": 0}], "label": ""}
    assert Point.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert list(inspect.signature(Named).parameters) == ["x", "y", "name", "tags"]


def test_a_record_has_slots() -> None:
    with pytest.raises(TypeError, match="slots"):
        dataclass(frozen=True, slots=False)


def test_methods_are_written_out_for_a_class_that_is_used_often() -> None:
    @dataclass(frozen=True, slots=True)
    class Fresh:
        value: int

    assert not inspect.isfunction(vars(Fresh)["__init__"])
    made = [Fresh(n) for n in range(record._OFTEN + 1 if record._OFTEN < 1000 else 1)]
    assert made[0].value == 0
    assert inspect.isfunction(vars(Fresh)["__init__"]) == (len(made) > 1)
