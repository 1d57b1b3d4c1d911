"""Cached backward is the backward of the whole batch, whatever the loss does with its embeddings."""

from __future__ import annotations

import copy
import random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import gradledger
from gradledger.engine import rehearsal


def tower(width: int = 5, dropout: float = 0.0) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, 7), nn.Tanh(), nn.Dropout(dropout), nn.Linear(7, 4)).double()


class Twin(nn.Module):
    """Two towers and a learned temperature."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.query, self.document = tower(5, dropout), tower(6, dropout)
        self.temperature = nn.Parameter(torch.tensor(0.7, dtype=torch.float64))

    def forward(self, batch):
        return self.query(batch["q"]), self.document(batch["d"])

    def loss(self, embeddings):
        query, document = embeddings
        scores = query @ document.T / self.temperature.exp()
        return nn.functional.cross_entropy(scores, torch.arange(len(query)))


def pairs(number: int, seed: int = 0) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return {
        "q": torch.randn(number, 5, dtype=torch.float64, generator=generator),
        "d": torch.randn(number, 6, dtype=torch.float64, generator=generator),
    }


def gradients(model: nn.Module) -> torch.Tensor:
    return torch.cat(
        [torch.zeros_like(p).view(-1) if p.grad is None else p.grad.view(-1) for p in model.parameters()]
    )


def error(one: torch.Tensor, other: torch.Tensor) -> float:
    return float((one - other).norm() / other.norm())


@settings(max_examples=40, deadline=None)
@given(number=st.integers(2, 17), size=st.integers(1, 20), seed=st.integers(0, 1000))
def test_any_cut_gives_the_full_batchs_gradient(number, size, seed):
    torch.manual_seed(seed)
    model = Twin()
    whole = copy.deepcopy(model)
    batch = pairs(number, seed)
    expected = whole.loss(whole(batch))
    expected.backward()
    loss = gradledger.cached_backward(model, batch, model.loss, micro_batch=size)
    assert abs(float(loss) - expected.item()) <= 1e-12
    assert error(gradients(model), gradients(whole)) <= 1e-10
    assert float(model.temperature.grad) == pytest.approx(float(whole.temperature.grad), rel=1e-10)
    assert not loss.requires_grad


@settings(max_examples=30, deadline=None)
@given(
    sizes=st.lists(st.integers(2, 9), min_size=1, max_size=5),
    size=st.integers(1, 5),
    every=st.integers(1, 4),
    weights=st.lists(st.integers(1, 9), min_size=5, max_size=5),
)
def test_in_an_accumulator_it_is_one_micro_batch_of_its_count(sizes, size, every, weights):
    torch.manual_seed(1)
    model = Twin()
    hand = copy.deepcopy(model)
    mine, theirs = (torch.optim.SGD(m.parameters(), lr=0.3) for m in (model, hand))
    acc = gradledger.Accumulator(model, mine, every=every)
    for start in range(0, len(sizes), every):
        window = list(range(start, min(start + every, len(sizes))))
        total = sum(weights[i] for i in window)
        theirs.zero_grad()
        for i in window:
            batch = pairs(sizes[i], i)
            (hand.loss(hand(batch)) * weights[i] / total).backward()
        theirs.step()
    for i, number in enumerate(sizes):
        acc.cached_backward(model, pairs(number, i), model.loss, micro_batch=size, count=weights[i])
    acc.flush()
    acc.close()
    for p, q in zip(model.parameters(), hand.parameters(), strict=True):
        assert torch.allclose(p, q, rtol=1e-10, atol=1e-12)


def test_dropout_masks_are_the_same_bits_again():
    torch.manual_seed(3)
    model = Twin(dropout=0.4)
    seen: list[torch.Tensor] = []
    model.query[2].register_forward_hook(lambda _m, _i, out: seen.append(out.detach().clone()))
    gradledger.cached_backward(model, pairs(7), model.loss, micro_batch=3)
    assert len(seen) == 6
    assert all(torch.equal(a, b) for a, b in zip(seen[:3], seen[3:], strict=True))


def test_dropout_gradient_is_that_of_the_same_masks():
    torch.manual_seed(3)
    model = Twin(dropout=0.4)
    hand = copy.deepcopy(model)
    batch = pairs(7)
    torch.manual_seed(9)
    parts = [hand({k: v[i : i + 3] for k, v in batch.items()}) for i in (0, 3, 6)]
    hand.loss(tuple(torch.cat(each) for each in zip(*parts, strict=True))).backward()
    torch.manual_seed(9)
    gradledger.cached_backward(model, batch, model.loss, micro_batch=3)
    assert error(gradients(model), gradients(hand)) <= 1e-12


def test_random_numbers_go_on_as_after_one_forward_and_the_loss():
    model = Twin(dropout=0.4)

    def noisy(embeddings):
        query, document = embeddings
        return model.loss((query + torch.rand(()), document * random.random()))

    torch.manual_seed(5)
    random.seed(5)
    with torch.no_grad():
        parts = [model({k: v[i : i + 3] for k, v in pairs(7).items()}) for i in (0, 3, 6)]
        noisy(tuple(torch.cat(each) for each in zip(*parts, strict=True)))
    expected = torch.rand(()), random.random()
    torch.manual_seed(5)
    random.seed(5)
    gradledger.cached_backward(model, pairs(7), noisy, micro_batch=3)
    assert (torch.rand(()), random.random()) == expected


def test_labels_and_dicts_travel_with_the_embeddings():
    model = tower()
    hand = copy.deepcopy(model)
    x = torch.randn(9, 5, dtype=torch.float64)
    y = torch.tensor([0, 1, 2, 0, 1, 2, 0, 1, 2])

    def loss(found):
        alike = found["e"] @ found["e"].T
        return (alike * (found["y"][:, None] == found["y"][None])).logsumexp(1).mean()

    loss({"e": hand(x), "y": y}).backward()
    gradledger.cached_backward(lambda b: {"e": model(b[0]), "y": b[1]}, (x, y), loss, micro_batch=4)
    assert error(gradients(model), gradients(hand)) <= 1e-10


def test_a_list_of_micro_batches_may_hold_several_documents_per_query():
    torch.manual_seed(0)
    model = Twin()
    hand = copy.deepcopy(model)
    batch = {"q": pairs(4)["q"], "d": pairs(12)["d"]}
    parts = [{"q": batch["q"][i : i + 2], "d": batch["d"][3 * i : 3 * i + 6]} for i in (0, 2)]

    def of(m):
        def loss(found):
            return nn.functional.cross_entropy(found[0] @ found[1].T / m.temperature, torch.arange(4) * 3)

        return loss

    of(hand)(hand(batch)).backward()
    gradledger.cached_backward(model, parts, of(model), micro_batch=None)
    assert error(gradients(model), gradients(hand)) <= 1e-10


def test_texts_are_cut_as_lists():
    model = nn.Embedding(10, 3).double()

    def encode(texts):
        return model(torch.tensor([len(text) for text in texts]))

    gradledger.cached_backward(encode, ["a", "bb", "ccc"], lambda e: (e @ e.T).sum(), micro_batch=2)
    once = model.weight.grad.clone()
    model.weight.grad = None
    e = encode(["a", "bb", "ccc"])
    (e @ e.T).sum().backward()
    assert torch.allclose(once, model.weight.grad)


def test_memory_is_one_micro_batchs():
    model = tower()
    held: list[int] = []
    alive = 0

    def pack(tensor):
        nonlocal alive
        if tensor.dim() and tensor.shape[0] in (4, 32) and tensor.shape[-1] == 7:
            alive += tensor.shape[0]
            held.append(alive)
        return tensor

    def unpack(tensor):
        nonlocal alive
        if tensor.dim() and tensor.shape[0] in (4, 32) and tensor.shape[-1] == 7:
            alive -= tensor.shape[0]
        return tensor

    x = torch.randn(32, 5, dtype=torch.float64)
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        gradledger.cached_backward(model, x, lambda e: (e @ e.T).logsumexp(1).mean(), micro_batch=4)
    cached, held[:], alive = max(held), [], 0
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        e = model(x)
        (e @ e.T).logsumexp(1).mean().backward()
    assert cached * 8 == max(held)


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_autocast_and_scale(precision):
    torch.manual_seed(0)
    model = Twin().float()
    hand = copy.deepcopy(model)
    batch = {k: v.float() for k, v in pairs(8).items()}
    hand.loss(hand(batch)).backward()
    norm = float(gradients(hand).norm())
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    before = torch.cat([p.detach().clone().view(-1) for p in model.parameters()])
    acc = gradledger.Accumulator(
        model,
        optimizer,
        precision=precision,
        scaler=None if precision == "bf16" else torch.amp.GradScaler("cpu", 256.0),
    )
    with acc.precision():  # it may stand inside, and need not
        update = acc.cached_backward(model, batch, model.loss, micro_batch=3)
    assert not torch.is_autocast_enabled("cpu")
    assert update.outcome == "applied"
    assert update.grad_norm == pytest.approx(norm, rel=0.1)
    moved = before - torch.cat([p.detach().view(-1) for p in model.parameters()])
    assert error(moved, gradients(hand)) < 0.1
    acc.close()


def test_weights_cast_without_a_graph_are_not_reused():
    model = nn.Linear(5, 4)
    with torch.autocast("cpu", torch.bfloat16):
        gradledger.cached_backward(
            model, torch.randn(6, 5), lambda e: (e @ e.T).float().logsumexp(1).mean(), micro_batch=2
        )
        assert torch.is_autocast_enabled("cpu")
    assert model.weight.grad is not None
    assert float(model.weight.grad.abs().sum()) > 0


def test_another_models_parameters_are_left_alone():
    model, other = tower(), tower(4)
    x = torch.randn(6, 5, dtype=torch.float64)
    acc = gradledger.Accumulator(model, torch.optim.SGD(model.parameters(), lr=0.1), every=2)
    rival = gradledger.Accumulator(other, torch.optim.SGD(other.parameters(), lr=0.1), every=2)
    acc.cached_backward(model, x, lambda e: (other(e) @ e.T).logsumexp(1).mean(), micro_batch=2)
    assert all(p.grad is None for p in other.parameters())
    assert all(p.grad is not None for p in model.parameters())
    assert acc.waiting == 1
    assert rival.waiting == 0
    acc.discard()


def test_batchnorm_is_said_once_and_counts_once(monkeypatch):
    monkeypatch.setattr(rehearsal, "_spoken", False)
    model = nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4)).double()
    hand = copy.deepcopy(model)
    x = torch.randn(8, 5, dtype=torch.float64)
    with pytest.warns(RuntimeWarning, match="BatchNorm") as seen:
        gradledger.cached_backward(model, x, lambda e: (e @ e.T).logsumexp(1).mean(), micro_batch=4)
        gradledger.cached_backward(hand, x, lambda e: (e @ e.T).logsumexp(1).mean(), micro_batch=4)
    assert len(seen) == 1
    assert seen[0].filename == __file__
    assert int(model[1].num_batches_tracked) == 2
    plain = copy.deepcopy(hand)
    plain[1].reset_running_stats()
    plain(x[:4]), plain(x[4:])
    assert torch.equal(model[1].running_mean, plain[1].running_mean)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ({"micro_batch": 0}, "micro_batch must be"),
        ({"micro_batch": 2.5}, "micro_batch must be"),
        ({"micro_batch": None}, "list of micro-batches"),
        ({"micro_batch": 2, "loss_fn": lambda e: e}, "one number"),
        ({"micro_batch": 2, "loss_fn": lambda e: e.detach().sum()}, "needs no gradient"),
        ({"micro_batch": 2, "encode": lambda b: b}, "need no gradient"),
        ({"micro_batch": 2, "encode": lambda b: b.sum()}, "single number"),
        (
            {"micro_batch": 2, "batch": (torch.ones(4, 5), torch.ones(3, 5))},
            "holds 3 samples where others hold 4",
        ),
        ({"micro_batch": 2, "batch": torch.ones(0, 5)}, "empty"),
    ],
)
def test_bad_input_is_refused(call, text):
    model = nn.Linear(5, 4)
    given = {"encode": model, "batch": torch.randn(4, 5), "loss_fn": lambda e: e.sum()} | call
    with pytest.raises(ValueError, match=text):
        gradledger.cached_backward(given.pop("encode"), given.pop("batch"), given.pop("loss_fn"), **given)


def test_a_failed_replay_can_be_discarded():
    model = tower()
    calls = 0

    def encode(x):
        nonlocal calls
        calls += 1
        if calls == 5:
            raise RuntimeError("out of memory")
        return model(x)

    acc = gradledger.Accumulator(model, torch.optim.SGD(model.parameters(), lr=0.1), every=2)
    x = torch.randn(6, 5, dtype=torch.float64)
    loss = lambda e: (e @ e.T).logsumexp(1).mean()
    with pytest.raises(RuntimeError, match="memory"):
        acc.cached_backward(encode, x, loss, micro_batch=2)
    assert acc.waiting == 0
    assert all(p.grad is None for p in model.parameters())
    acc.cached_backward(encode, x, loss, micro_batch=2)
    assert acc.flush().applied
