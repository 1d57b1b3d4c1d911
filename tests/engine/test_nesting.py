"""Nested batches are cut and put together again without loss."""

from __future__ import annotations

import types
from collections import OrderedDict, UserDict, defaultdict, namedtuple
from dataclasses import dataclass

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gradledger.engine.nesting import concatenate, samples, split, tensors

Pair = namedtuple("Pair", "x y")


@dataclass(frozen=True)
class Sample:
    x: torch.Tensor
    name: str = "fixed"


def nests(n: int):
    x, y = torch.arange(n * 3.0).view(n, 3), torch.arange(n)
    texts = [f"t{i}" for i in range(n)]
    lazy = defaultdict(list)
    lazy["x"] = x
    return [
        x,
        (x, y),
        [x, {"y": y, "texts": texts}],
        Pair(x, y),
        Sample(x),
        OrderedDict(x=x, scale=torch.tensor(2.0)),
        UserDict(x=x, y=y, flag=True, nothing=None),
        lazy,
        texts,
    ]


def same(one, other) -> bool:
    return type(one) is type(other) and all(
        torch.equal(a, b) for a, b in zip(tensors(one), tensors(other), strict=True)
    )


@given(n=st.integers(1, 9), size=st.integers(1, 10), which=st.integers(0, 8))
def test_cut_and_put_together_is_the_batch(n, size, which):
    batch = nests(n)[which]
    parts = split(batch, size)
    assert samples(batch) == n == sum(map(samples, parts))
    assert len(parts) == -(-n // size)
    assert same(concatenate(parts), batch)
    if isinstance(batch, list) and isinstance(batch[0], str):
        assert concatenate(parts) == batch


def test_the_batch_of_a_tokenizer():
    transformers = pytest.importorskip("transformers")
    batch = transformers.BatchEncoding({"input_ids": torch.ones(4, 2), "attention_mask": torch.ones(4, 2)})
    parts = split(batch, 3)
    assert type(parts[0]) is transformers.BatchEncoding
    assert parts[1]["input_ids"].shape == (1, 2)
    assert batch["input_ids"].shape == (4, 2)
    assert same(concatenate(parts), batch)


def test_a_mapping_that_cannot_be_written_becomes_a_dict():
    batch = types.MappingProxyType({"x": torch.ones(2, 1)})
    assert [type(part) for part in split(batch, 1)] == [dict, dict]


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([torch.ones(2, 3), torch.ones(2, 4)], r"batch has the shapes \(2, 3\) and \(2, 4\)"),
        ([{"a": torch.ones(2, 3)}, {"a": torch.ones(2, 4)}], r"batch\['a'\] has the shapes"),
        ([{"a": 1}, {"a": 2}], r"batch\['a'\] differs"),
        ([{"a": 1}, {"b": 1}], "other entries"),
        ([[torch.ones(1)], (torch.ones(1),)], "list in one and tuple"),
        ([torch.tensor(1), torch.tensor(2)], "one number"),
    ],
)
def test_what_cannot_be_put_together_is_named(parts, text):
    with pytest.raises(ValueError, match=text + ".*: do this"):
        concatenate(parts, how=": do this")


def test_a_batch_without_samples_is_refused():
    with pytest.raises(ValueError, match="does not tell"):
        samples({"a": None})
