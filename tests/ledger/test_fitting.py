"""Values of a recording are held against what the event declares."""

from __future__ import annotations

import pytest

from gradledger.ledger import events as ev
from gradledger.ledger import fitting as fitted
from gradledger.ledger.fitting import fitting
from gradledger.ledger.site import Site


def test_right_values_come_back() -> None:
    values = {"site": Site("a.py", 3), "accounts": (1, 2), "reduction": "mean", "factor": 1, "count": None}
    assert fitting(ev.LossMeasured, values) is values


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("site", "a.py:3"),
        ("site", Site("a\0.py", 3)),
        ("accounts", [1, 2]),
        ("accounts", (1, "2")),
        ("accounts", (True,)),
        ("reduction", "median"),
        ("reduction", 5),
        ("factor", "1.0"),
        ("factor", 2**80),
        ("count", False),
    ],
)
def test_another_type_is_refused_by_its_name(name: str, value: object) -> None:
    with pytest.raises(TypeError, match=f"LossMeasured.{name}"):
        fitting(ev.LossMeasured, {name: value})


def test_a_site_is_looked_into() -> None:
    with pytest.raises(TypeError, match=r"Site\.line"):
        fitting(ev.LossMeasured, {"site": Site("a.py", "3")})  # type: ignore[arg-type]


def test_sites_are_remembered_up_to_a_number() -> None:
    many = [Site(f"{number}.py", 1) for number in range(fitted._KEPT + 1)]
    for site in many:
        assert fitting(ev.RunEnded, {"site": site})["site"] is site
    assert 0 < len(fitted._good) <= fitted._KEPT
    assert fitting(ev.RunEnded, {"site": many[-1]})["site"] is many[-1]
    with pytest.raises(TypeError):
        fitting(ev.RunEnded, {"site": Site("a\0b.py", 1)})
