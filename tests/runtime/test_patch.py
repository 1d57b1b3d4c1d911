"""Wrappers of several audits on the same functions, taken away in any order."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from gradledger.runtime import patch
from gradledger.runtime.patch import Patches


class Base:
    def greet(self, name: str = "you") -> str:
        """Say hello."""
        return f"hello {name}"


class Child(Base):
    pass


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    known = dict(vars(Base)), dict(vars(Child))
    yield
    assert (dict(vars(Base)), dict(vars(Child))) == known
    assert patch._PLACES == {}


def marking(mark: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def greet(*args: Any, **kwargs: Any) -> str:
            return f"{mark}({original(*args, **kwargs)})"

        return greet

    return make


@pytest.mark.parametrize("owner", [Base, Child], ids=["own attribute", "inherited attribute"])
@pytest.mark.parametrize("order", list(itertools.permutations("abc")), ids="".join)
def test_three_go_in_any_order(owner: type[Base], order: tuple[str, ...]) -> None:
    audits = {mark: Patches() for mark in "abc"}
    for mark, patches in audits.items():
        patches.wrap(owner, "greet", marking(mark))
    assert owner().greet() == "c(b(a(hello you)))"
    there = ["c", "b", "a"]
    for mark in order:
        audits[mark].restore()
        there.remove(mark)
        assert owner().greet("me") == "(".join([*there, "hello me"]) + ")" * len(there)


def test_one_that_goes_and_comes_again_stands_on_top() -> None:
    first, second = Patches(), Patches()
    first.wrap(Base, "greet", marking("a"))
    second.wrap(Base, "greet", marking("b"))
    first.restore()
    first.wrap(Base, "greet", marking("a"))
    assert Base().greet() == "a(b(hello you))"
    second.restore()
    assert Base().greet() == "a(hello you)"
    first.restore()


def test_a_second_name_of_the_same_function() -> None:
    def function() -> str:
        return "done"

    home, other = SimpleNamespace(function=function), SimpleNamespace(function=function)
    first, second = Patches(), Patches()
    first.place(other, "function", first.wrap(home, "function", marking("a")))
    second.place(other, "function", second.wrap(home, "function", marking("b")))
    first.restore()
    assert home.function() == other.function() == "b(done)"
    second.restore()
    assert home.function is other.function is function


def test_a_single_wrapper_calls_the_original_itself() -> None:
    given = []
    patches = Patches()
    original = Base.greet
    patches.wrap(Base, "greet", lambda function: given.append(function) or marking("a")(function))
    assert given == [original]
    patches.restore()


def test_the_signature_is_the_original_one_before_and_after_one_has_gone() -> None:
    expected = inspect.signature(Base.greet)
    first, second = Patches(), Patches()
    first.wrap(Base, "greet", marking("a"))
    second.wrap(Base, "greet", marking("b"))
    assert inspect.signature(Base.greet) == expected
    first.restore()
    assert inspect.signature(Base.greet) == expected
    assert Base.greet.__doc__ == "Say hello."
    second.restore()


def test_a_name_taken_in_between_still_works() -> None:
    first, second = Patches(), Patches()
    first.wrap(Base, "greet", marking("a"))
    second.wrap(Base, "greet", marking("b"))
    taken = Base().greet
    first.restore()
    second.restore()
    assert taken() == "b(hello you)"


def test_what_somebody_else_put_between_is_kept() -> None:
    original = Base.greet
    first, second = Patches(), Patches()
    first.wrap(Base, "greet", marking("a"))
    ours = Base.greet

    def mine(self: Base, name: str = "you") -> str:
        return f"mine({ours(self, name)})"

    Base.greet = mine  # type: ignore[method-assign]
    try:
        second.wrap(Base, "greet", marking("b"))
        first.restore()
        assert Base().greet() == "b(mine(a(hello you)))"
        second.restore()
        assert Base.greet is mine
    finally:
        Base.greet = original  # type: ignore[method-assign]


def test_each_audit_knows_what_it_covers() -> None:
    first, second = Patches(), Patches()
    first.wrap(Base, "greet", marking("a"))
    assert (first.covers(Base, "greet"), second.covers(Base, "greet")) == (True, False)
    assert not first.covers(Child, "greet")
    first.restore()
    assert not first.covers(Base, "greet")


def test_other_things_are_undone_in_reverse_order() -> None:
    done = []
    patches = Patches()
    patches.later(lambda: done.append("first"))
    patches.later(lambda: done.append("second"))
    patches.restore()
    patches.restore()
    assert done == ["second", "first"]
