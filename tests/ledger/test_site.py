from __future__ import annotations

from gradledger.ledger.site import Site


def test_a_place_reads_as_file_and_line() -> None:
    assert str(Site("train.py", 3)) == "train.py:3"
    assert str(Site("notes.ipynb", 3, cell=2)) == "notes.ipynb:cell 2:3"


def test_places_come_in_the_order_of_the_source() -> None:
    assert sorted([Site("b.py", 1), Site("a.py", 9), Site("a.py", 2)]) == [
        Site("a.py", 2),
        Site("a.py", 9),
        Site("b.py", 1),
    ]
