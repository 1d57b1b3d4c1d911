from __future__ import annotations

import pytest

from gradledger.cli.rank_path import with_rank


@pytest.mark.parametrize(
    ("path", "rank", "result"),
    [
        ("out/a.json", 0, "out/a.json"),
        ("out/a.json", 1, "out/a.rank1.json"),
        ("a", 12, "a.rank12"),
        ("a.tar.gz", 1, "a.tar.rank1.gz"),
        (".hidden", 1, ".hidden.rank1"),
    ],
)
def test_other_ranks_have_their_number(path: str, rank: int, result: str) -> None:
    assert with_rank(path, rank) == result
    assert with_rank(result, rank) == result
