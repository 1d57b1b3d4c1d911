"""The two processes of lesson 10 answer, say what went wrong, and are gone when they are not needed."""

from __future__ import annotations

import pytest

from gradledger.lessons.course.l10_many_devices import processes

pytestmark = pytest.mark.distributed


def test_both_ranks_answer_and_end() -> None:
    def both(rank):
        total = torch.tensor([float(rank + 1)])  # noqa: F821
        dist.all_reduce(total)  # noqa: F821
        return total.item()

    assert processes.on_two_ranks(both) == [3.0, 3.0]
    ranks = processes._pair.ranks
    processes.end()
    assert [process.poll() for process in ranks] == [0, 0]
    assert processes._pair is None


def test_a_fault_in_a_rank_is_told_and_ends_both() -> None:
    def both(rank):
        raise ValueError(f"rank {rank} has a cold")

    with pytest.raises(RuntimeError, match="rank 0 has a cold"):
        processes.on_two_ranks(both)
    assert processes._pair is None
