"""Several gloo processes: whatever each rank holds, the update is that of everything together."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
import torch._dynamo  # torch imports it at the first optimizer; here once for all forked ranks
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.nn.parallel import DistributedDataParallel

import gradledger
from tests.engine.models import adamw, cut, full_batch_step, mean_loss, samples, small_model
from tests.replicas import together

pytestmark = pytest.mark.distributed


def wrapped(kind: str) -> nn.Module:
    model = small_model()
    if kind == "ddp":
        return DistributedDataParallel(model)
    if kind == "fsdp2":
        mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
        for layer in model:
            fully_shard(layer, mesh=mesh)
        return fully_shard(model, mesh=mesh)
    return model


def weights(model: nn.Module) -> list[torch.Tensor]:
    parts = [p.full_tensor() if isinstance(p, DTensor) else p for p in model.parameters()]
    return [p.detach().clone() for p in parts]


def train(rank: int, kind: str, plan: list[list[int]], options: dict[str, Any], epochs: int) -> Any:
    """Train on this rank's samples; `plan` has the micro-batch sizes of every rank."""
    x, y = samples(sum(map(sum, plan)))
    start = sum(map(sum, plan[:rank]))
    mine = slice(start, start + sum(plan[rank]))
    model = wrapped(kind)
    optimizer = adamw(model)
    options = dict(options)
    sized = options.pop("sized")
    own_loop = options.pop("own_loop", False)
    if kind == "plain":
        options["group"] = dist.group.WORLD
    acc = gradledger.Accumulator(model, optimizer, **options)
    updates = []
    acc.on_applied(updates.append)
    for _ in range(epochs):
        batches = cut(x[mine], y[mine], plan[rank])
        if own_loop:
            for a, b in batches:
                acc.backward(mean_loss(model, a, b), count=len(a))
            acc.flush()
        else:
            for a, b in acc.batches(batches if sized else iter(batches)):
                acc.backward(mean_loss(model, a, b), count=len(a))
    assert acc.waiting == 0
    return weights(model), [(u.count, u.grad_norm, u.loss) for u in updates]


def expected(plan: list[list[int]], every: int, clip: float | None, epochs: int) -> list[torch.Tensor]:
    """Full batches: the k-th window holds the k-th windows of all ranks."""
    x, y = samples(sum(map(sum, plan)))
    reference = small_model()
    oracle = adamw(reference)
    numbers = list(range(len(x)))
    at, windows = 0, []
    for sizes in plan:
        own = []
        for first in range(0, len(sizes), every):
            inside = sum(sizes[first : first + every])
            own.append(numbers[at : at + inside])
            at += inside
        windows.append(own)
    for _ in range(epochs):
        for number in range(max(map(len, windows))):
            inside = [i for own in windows if number < len(own) for i in own[number]]
            full_batch_step(reference, oracle, x[inside], y[inside], clip)
    return [p.detach() for p in reference.parameters()]


def plans(seed: int, ranks: int) -> list[list[int]]:
    dice = random.Random(seed)
    return [[dice.randint(1, 6) for _ in range(dice.randint(1, 7))] for _ in range(ranks)]


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("kind", ["ddp", "fsdp2", "plain"])
@pytest.mark.parametrize("seed", range(4))
def test_any_split_over_ranks_equals_the_full_batch(kind: str, ranks: int, seed: int) -> None:
    """Unequal counts, unequal numbers of batches, short tails, with and without clipping."""
    plan = plans(seed * 10 + ranks, ranks)
    clip = [None, 0.1][seed % 2]
    every = 2 + seed % 2
    options = {"every": every, "clip_norm": clip, "sized": seed < 3}
    if kind == "fsdp2" and seed == 0:
        options["traffic"] = "window"
    answers = together(partial(train, kind=kind, plan=plan, options=options, epochs=2), ranks)
    wanted = expected(plan, every, clip, epochs=2)
    for parts, updates in answers:
        assert max(float((p - q).abs().max()) for p, q in zip(parts, wanted, strict=True)) <= 1e-10
        assert updates == answers[0][1]


@pytest.mark.parametrize("kind", ["ddp", "plain"])
def test_own_loops_of_different_length_wait_for_each_other(kind: str) -> None:
    plan = [[3, 1, 4, 1, 5], [2, 6]]
    options = {"every": 2, "clip_norm": None, "sized": True, "own_loop": True}
    answers = together(partial(train, kind=kind, plan=plan, options=options, epochs=2))
    wanted = expected(plan, 2, None, epochs=2)
    for parts, _ in answers:
        assert max(float((p - q).abs().max()) for p, q in zip(parts, wanted, strict=True)) <= 1e-10


def test_a_rank_without_any_batch_follows_the_others() -> None:
    plan = [[3, 1, 4], []]
    options = {"every": 2, "clip_norm": None, "sized": True}
    answers = together(partial(train, kind="ddp", plan=plan, options=options, epochs=2))
    wanted = expected(plan, 2, None, epochs=2)
    for parts, _ in answers:
        assert max(float((p - q).abs().max()) for p, q in zip(parts, wanted, strict=True)) <= 1e-10


def reductions(rank: int) -> list[bool]:
    """Whether DDP itself reduced, micro-batch by micro-batch."""
    x, y = samples(20)
    model = wrapped("ddp")
    acc = gradledger.Accumulator(model, adamw(model), every=2)
    seen: list[bool] = []

    def hook(state, bucket):
        seen.append(True)
        return dist.all_reduce(bucket.buffer(), async_op=True).get_future().then(lambda f: f.value()[0] / 2)

    model.register_comm_hook(None, hook)
    answer = []
    for a, b in acc.batches(cut(x, y, [4] * 5)):
        before = len(seen)
        acc.backward(mean_loss(model, a, b), count=len(a))
        answer.append(len(seen) > before)
    return answer


def test_ddp_reduces_only_in_the_last_micro_batch_of_a_window() -> None:
    """The first window is summed at its end, where the ranks agree on a unit; the tail is DDP's again."""
    assert together(reductions) == [[False, False, False, True, True]] * 2


def carry(rank: int) -> str:
    x, y = samples(6)
    model = wrapped("ddp")
    acc = gradledger.Accumulator(model, adamw(model), every=2, tail="carry")
    try:
        for a, b in acc.batches(cut(x, y, [2] * (3 - rank) + [2] * rank)[: 3 - rank]):
            acc.backward(mean_loss(model, a, b), count=len(a))
    except gradledger.LedgerError as error:
        return str(error)
    return ""


def test_a_carried_tail_needs_equal_ranks() -> None:
    assert all("between 2 and 3 batches" in answer for answer in together(carry))


def terms(rank: int, kind: str) -> Any:
    x, y = samples(12)
    sizes = [[3, 1], [2, 6]][rank]
    start = [0, 4][rank]
    model = wrapped(kind)
    acc = gradledger.Accumulator(model, adamw(model), every=2)
    for a, b in acc.batches(cut(x[start : start + sum(sizes)], y[start : start + sum(sizes)], sizes)):
        out = model(a)
        acc.backward({"fit": ((out - b).square().mean(), len(a)), "small": (out.mean().square(), 1)})
    return weights(model)


@pytest.mark.parametrize("kind", ["ddp", "fsdp2"])
def test_terms_have_their_own_denominator_over_all_ranks(kind: str) -> None:
    x, y = samples(12)
    reference = small_model()
    oracle = adamw(reference)
    pieces = [x[:3], x[3:4], x[4:6], x[6:12]]
    loss = (reference(x) - y).square().mean() + sum(reference(a).mean().square() for a in pieces) / 4
    loss.backward()
    oracle.step()
    for parts in together(partial(terms, kind=kind)):
        pairs = zip(parts, reference.parameters(), strict=True)
        assert max(float((p - q.detach()).abs().max()) for p, q in pairs) <= 1e-10


def interrupted(rank: int, kind: str, folder: str, stop: int) -> tuple[bool, int]:
    """Train, save in mid-window, go on in a second model; compare with never having stopped, bit by bit."""
    x, y = samples(40)
    mine = cut(x[rank * 20 : rank * 20 + 20], y[rank * 20 : rank * 20 + 20], [4, 3, 5, 4, 4])

    def made() -> tuple[nn.Module, gradledger.Accumulator]:
        model = wrapped(kind)
        optimizer = adamw(model)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
        return model, gradledger.Accumulator(model, optimizer, every=2, clip_norm=0.1, scheduler=schedule)

    whole, acc = made()
    for _ in range(2):
        for a, b in acc.batches(mine):
            acc.backward(mean_loss(whole, a, b), count=len(a))
    first, acc = made()
    for number, (a, b) in enumerate(acc.batches(mine), 1):
        acc.backward(mean_loss(first, a, b), count=len(a))
        if number == stop:
            break
    acc.save(f"{folder}/run.ckpt", epoch=0)
    waiting = acc.waiting
    acc.discard()
    second, acc = made()
    assert acc.load(f"{folder}/run.ckpt") == {"epoch": 0}
    assert acc.waiting == waiting
    for _ in range(2):
        for a, b in acc.batches(mine):
            acc.backward(mean_loss(second, a, b), count=len(a))
    same = all(torch.equal(p, q) for p, q in zip(weights(whole), weights(second), strict=True))
    return same, waiting


@pytest.mark.parametrize("stop", [1, 2, 3])
@pytest.mark.parametrize("kind", ["ddp", "fsdp2"])
def test_ranks_resume_in_mid_window_bit_by_bit(kind: str, stop: int, tmp_path: Path) -> None:
    answers = together(partial(interrupted, kind=kind, folder=str(tmp_path), stop=stop))
    assert answers == [(True, stop % 2)] * 2


def nothing_to_count(rank: int) -> Any:
    """The last micro-batch of the second window has no token on rank 1, and its loss is NaN."""
    x, y = samples(16)
    mine = slice(rank * 8, rank * 8 + 8)
    model = wrapped("ddp")
    acc = gradledger.Accumulator(model, adamw(model), every=2)
    for number, (a, b) in enumerate(acc.batches(cut(x[mine], y[mine], [2, 2, 2, 2]))):
        empty = rank == 1 and number == 3
        loss = mean_loss(model, a, b) * (float("nan") if empty else 1.0)
        update = acc.backward(loss, count=0 if empty else len(a))
    assert update.count == 6
    return weights(model)


def test_a_rank_without_a_single_token_does_not_hold_up_the_others() -> None:
    x, y = samples(16)
    reference = small_model()
    oracle = adamw(reference)
    full_batch_step(reference, oracle, x[[0, 1, 2, 3, 8, 9, 10, 11]], y[[0, 1, 2, 3, 8, 9, 10, 11]])
    full_batch_step(reference, oracle, x[[4, 5, 6, 7, 12, 13]], y[[4, 5, 6, 7, 12, 13]])
    for parts in together(nothing_to_count):
        pairs = zip(parts, reference.parameters(), strict=True)
        assert max(float((p - q.detach()).abs().max()) for p, q in pairs) <= 1e-10


def whole_batches(rank: int, kind: str) -> Any:
    """Batches of 9 and 5 samples; memory for 3 on rank 0 and for 6 on rank 1."""
    x, y = samples(14)
    mine = slice(0, 9) if rank == 0 else slice(9, 14)
    model = wrapped(kind)
    acc = gradledger.Accumulator(model, adamw(model), clip_norm=0.1)
    sizes: list[int] = []

    def loss(batch: Any) -> torch.Tensor:
        sizes.append(len(batch[0]))
        if len(batch[0]) > (3, 6)[rank] and kind == "ddp":
            raise torch.OutOfMemoryError("out of memory")
        return mean_loss(model, *batch)

    for _ in range(2):
        sizes.clear()
        acc.step_on((x[mine], y[mine]), loss, micro_batch="auto" if kind == "ddp" else 3)
    return weights(model), sizes


@pytest.mark.parametrize("kind", ["ddp", "fsdp2"])
def test_all_ranks_agree_on_the_pieces_of_a_batch(kind: str) -> None:
    x, y = samples(14)
    reference = small_model()
    oracle = adamw(reference)
    for _ in range(2):
        full_batch_step(reference, oracle, x, y, 0.1)
    answers = together(partial(whole_batches, kind=kind))
    assert [sizes for _, sizes in answers] == [[3, 3, 3], [3, 2] if kind == "ddp" else [3, 2, 2]]
    for parts, _ in answers:
        pairs = zip(parts, reference.parameters(), strict=True)
        assert max(float((p - q.detach()).abs().max()) for p, q in pairs) <= 1e-10


def static_graph(rank: int) -> str:
    model = DistributedDataParallel(small_model(), static_graph=True)
    with pytest.raises(ValueError, match="static_graph") as caught:
        gradledger.Accumulator(model, adamw(model))
    return str(caught.value)


def test_a_static_graph_is_refused() -> None:
    assert all("build it without static_graph" in answer for answer in together(static_graph))


class Sometimes(nn.Module):
    """Uses a part of itself only when told to, and another part never."""

    def __init__(self) -> None:
        super().__init__()
        self.always, self.never = small_model(), small_model(1)
        self.sometimes = nn.Linear(3, 1).double()

    def forward(self, x: torch.Tensor, use: bool) -> torch.Tensor:
        return self.always(x) + (self.sometimes(x) if use else 0)


def unused(rank: int, view: bool) -> Any:
    x, y = samples(16)
    torch.manual_seed(0)
    model = Sometimes()
    wrapper = DistributedDataParallel(model, find_unused_parameters=True, gradient_as_bucket_view=view)
    acc = gradledger.Accumulator(wrapper, adamw(wrapper), every=2)
    mine = slice(rank * 8, rank * 8 + 8)
    for number, (a, b) in enumerate(acc.batches(cut(x[mine], y[mine], [2] * 4))):
        acc.backward((wrapper(a, number == 2) - b).square().mean(), count=2)
    return weights(model)


@pytest.mark.parametrize("view", [False, True])
def test_parameters_that_are_used_now_and_then_move_only_when_used(view: bool) -> None:
    """What no rank has used has no gradient: weight decay and momentum leave it alone."""
    x, y = samples(16)
    torch.manual_seed(0)
    reference = Sometimes()
    oracle = adamw(reference)
    for start, use in ((0, False), (4, True)):
        oracle.zero_grad()
        losses = []
        for at in (start, start + 2, start + 8, start + 10):
            told = use and at in (4, 12)
            losses.append((reference(x[at : at + 2], told) - y[at : at + 2]).square().mean())
        (sum(losses) / 4).backward()
        oracle.step()
    for parts in together(partial(unused, view=view)):
        pairs = zip(parts, reference.parameters(), strict=True)
        assert max(float((p - q.detach()).abs().max()) for p, q in pairs) <= 1e-10
