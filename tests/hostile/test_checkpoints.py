"""Checkpoints of somebody else: loaded whole or refused with words, and no code of theirs ever runs."""

from __future__ import annotations

import io
import os
import pickle
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.checkpoint.metadata import BytesStorageMetadata
from torch.distributed.fsdp import fully_shard

import gradledger
from gradledger.integrations.distributed_checkpoint import Stateful
from tests.engine.models import adamw, mean_loss, samples, small_model
from tests.hostile import damage
from tests.hostile.budget import chances
from tests.replicas import together


class Payload:
    """Writes a file when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch {self.mark}",)


def made(seed: int = 0) -> tuple[nn.Module, gradledger.Accumulator]:
    model = small_model(seed=seed)
    optimizer = adamw(model)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    return model, gradledger.Accumulator(model, optimizer, every=3, scheduler=schedule)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """In the middle of a window."""
    x, y = samples(8)
    model, acc = made()
    for number, batch in enumerate(acc.batches(list(zip(x.split(2), y.split(2), strict=True)))):
        acc.backward(mean_loss(model, *batch), count=2)
        if number == 1:
            break
    acc.save(tmp_path / "run.ckpt", epoch=1)
    acc.discard()
    return tmp_path / "run.ckpt"


def test_the_payload_would_run(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Payload(tmp_path / "mark")))
    assert (tmp_path / "mark").exists()


def as_pickle(path: Path, payload: Payload) -> None:
    path.write_bytes(pickle.dumps(payload))


def as_torch(path: Path, payload: Payload) -> None:
    torch.save({"format": "gradledger.accumulator", "version": 1, "extra": payload}, path)


def as_old_torch(path: Path, payload: Payload) -> None:
    torch.save([payload], path, _use_new_zipfile_serialization=False)


def inside(path: Path, payload: Payload) -> None:
    """A real checkpoint whose list of contents is followed by the payload."""
    content = torch.load(path, weights_only=True)
    content["extra"]["evil"] = payload
    torch.save(content, path)


def as_script(path: Path, payload: Payload) -> None:
    """An archive of TorchScript, which torch.load would compile."""
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("archive/constants.pkl", pickle.dumps(payload))


@pytest.mark.parametrize("wrapped", [as_pickle, as_torch, as_old_torch, inside, as_script])
def test_a_checkpoint_runs_no_code(
    wrapped: Callable[[Path, Payload], None], checkpoint: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    wrapped(checkpoint, Payload(mark))
    model, acc = made(seed=5)
    before = [p.clone() for p in model.parameters()]
    with pytest.raises(ValueError, match=r"cannot be read as a checkpoint|is not a checkpoint"):
        acc.load(checkpoint)
    assert not mark.exists()
    assert all(torch.equal(p, q) for p, q in zip(model.parameters(), before, strict=True))


def loaded(acc: gradledger.Accumulator, path: Path) -> str:
    """`loaded`, or why not; what torch says of a model or an optimizer itself is a RuntimeError."""
    try:
        acc.load(path)
    except (ValueError, RuntimeError) as error:
        return str(error)
    return "loaded"


def test_damaged_files_are_refused(checkpoint: Path) -> None:
    whole = checkpoint.read_bytes()
    _, acc = made(seed=5)
    ends: Counter[str] = Counter()
    for chance in chances(60):
        checkpoint.write_bytes(damage.data(whole, chance) if chance.random() < 0.8 else whole[:-1])
        ends[loaded(acc, checkpoint)[:7]] += 1
    assert sum(ends.values()) - ends["loaded"] > ends["loaded"], ends
    checkpoint.write_bytes(whole)
    assert acc.load(checkpoint) == {"epoch": 1}
    acc.discard()


def changed(old: Any, chance: Any, depth: int = 0) -> Any:
    """Like `damage.value`, into tensors too."""
    if isinstance(old, torch.Tensor):
        return chance.choice([None, old.new_zeros(0), old.reshape(-1), [1], "x", old.new_zeros(3, 3, 3), 7])
    if isinstance(old, dict) and old:
        new = dict(old)
        key = chance.choice(list(new))
        new[key] = changed(new[key], chance, depth + 1)
        if chance.random() < 0.2:
            del new[key]
        return new
    if isinstance(old, (list, tuple)) and old:
        items = list(old)
        at = chance.randrange(len(items))
        items[at] = changed(items[at], chance, depth + 1)
        return items
    return damage.value(old, chance)


def test_altered_states_are_refused_or_taken_over_and_training_goes_on(checkpoint: Path) -> None:
    whole = torch.load(checkpoint, weights_only=True)
    x, y = samples(8)
    batches = list(zip(x.split(2), y.split(2), strict=True))
    ends: Counter[str] = Counter()
    for chance in chances(150):
        content = dict(whole)
        mine = chance.random() < 0.7
        if mine:
            state = dict(whole["accumulator"])
            part = chance.choice([name for name in state if name != "schedules"])
            content["accumulator"] = state | {part: changed(state[part], chance)}
        else:
            content = changed(whole, chance)
        torch.save(content, checkpoint)
        model, acc = made(seed=5)
        before = [p.clone() for p in model.parameters()]
        told = loaded(acc, checkpoint)
        ends["loaded" if told == "loaded" else "refused"] += 1
        if told == "loaded" and mine:  # what a scheduler or an optimizer makes of its own values is its own
            for batch in acc.batches(batches):
                acc.backward(mean_loss(model, *batch), count=2)
        elif "cannot be loaded: its" in told and "models, optimizers" not in told:
            assert all(torch.equal(p, q) for p, q in zip(model.parameters(), before, strict=True))
        assert len(told) > 20 or told == "loaded", chance.name
        acc.discard()
    assert ends["refused"] > 20, ends
    assert ends["loaded"] > 10, ends


# -- folders of torch.distributed.checkpoint --------------------------------------------------------------


def sharded() -> tuple[nn.Module, gradledger.Accumulator]:
    class Remembering(nn.Linear):
        def get_extra_state(self) -> dict[str, int]:
            return {"seen": 3}

        def set_extra_state(self, state: dict[str, int]) -> None:
            assert state == {"seen": 3}

    torch.manual_seed(0)
    model = nn.Sequential(Remembering(3, 4), nn.Linear(4, 1))
    fully_shard(model)
    return model, gradledger.Accumulator(model, adamw(model), every=3)


def saved(folder: Path) -> None:
    model, acc = sharded()
    for _ in range(4):
        acc.backward(model(torch.ones(2, 3)).square().mean(), count=2)
    acc.save(folder, epoch=1)
    acc.discard()


def evil_list(folder: Path, mark: Path) -> None:
    (folder / ".metadata").write_bytes(pickle.dumps(Payload(mark)))


def evil_inside_list(folder: Path, mark: Path) -> None:
    found = pickle.loads((folder / ".metadata").read_bytes())
    found.planner_data = Payload(mark)
    (folder / ".metadata").write_bytes(pickle.dumps(found))


def evil_value(folder: Path, mark: Path) -> None:
    """In place of a module's extra state, which torch unpickles without `weights_only`."""
    found = pickle.loads((folder / ".metadata").read_bytes())
    data = io.BytesIO()
    torch.save(Payload(mark), data)
    (folder / "evil.distcp").write_bytes(data.getvalue())
    for index, info in found.storage_data.items():
        if index.fqn.endswith("_extra_state.seen"):
            info.relative_path, info.offset, info.length = "evil.distcp", 0, len(data.getvalue())
    (folder / ".metadata").write_bytes(pickle.dumps(found))


def evil_rank(folder: Path, mark: Path) -> None:
    """This rank's part as a value instead of a tensor."""
    found = pickle.loads((folder / ".metadata").read_bytes())
    found.state_dict_metadata["rank0"] = BytesStorageMetadata()
    (folder / ".metadata").write_bytes(pickle.dumps(found))


def outside(folder: Path, mark: Path) -> None:
    found = pickle.loads((folder / ".metadata").read_bytes())
    for info in found.storage_data.values():
        info.relative_path = "../other/__0_0.distcp"
    (folder / ".metadata").write_bytes(pickle.dumps(found))


def too_large(folder: Path, mark: Path) -> None:
    found = pickle.loads((folder / ".metadata").read_bytes())
    found.state_dict_metadata["rank0"].size = torch.Size([10**15])
    (folder / ".metadata").write_bytes(pickle.dumps(found))


def cut(folder: Path, mark: Path) -> None:
    path = folder / "__0_0.distcp"
    path.write_bytes(path.read_bytes()[:-2000])


def attacked(folder: Path) -> dict[str, str]:
    told = {}
    for attack in (evil_list, evil_inside_list, evil_value, evil_rank, outside, too_large, cut):
        place, mark = folder / attack.__name__, folder / f"{attack.__name__}.mark"
        saved(place)
        attack(place, mark)
        _, acc = sharded()
        with pytest.raises(ValueError, match="cannot be read as a checkpoint") as refused:
            acc.load(place)
        told[attack.__name__] = str(refused.value)
        assert not mark.exists(), attack.__name__
    saved(folder / "whole")
    _, acc = sharded()
    assert acc.load(folder / "whole") == {"epoch": 1}
    assert acc.waiting == 1
    acc.discard()
    return told


@pytest.mark.distributed
def test_a_sharded_checkpoint_runs_no_code_and_reads_its_own_files(tmp_path: Path) -> None:
    (told,) = together(lambda rank: attacked(tmp_path), 1)
    assert "does not need posix.system" in told["evil_list"]
    assert "does not need posix.system" in told["evil_inside_list"]
    assert "is no file of this folder" in told["outside"]
    assert "more of rank 0 than it holds" in told["too_large"]


def one_damaged(rank: int, folder: Path) -> str:
    saved(folder / "ck")
    if rank == 0:
        path = folder / "ck" / "__1_0.distcp"
        path.write_bytes(b"\0" * len(path.read_bytes()))
    dist.barrier()
    _, acc = sharded()
    with pytest.raises(ValueError, match="cannot be read") as refused:
        acc.load(folder / "ck")
    return str(refused.value)


@pytest.mark.distributed
def test_a_damaged_part_is_told_on_all_ranks(tmp_path: Path) -> None:
    first, second = together(lambda rank: one_damaged(rank, tmp_path))
    assert first == second


def test_a_window_in_a_checkpoint_of_torch_is_plain_data(tmp_path: Path, checkpoint: Path) -> None:
    _, acc = made()
    data = io.BytesIO()
    torch.save(Payload(tmp_path / "mark"), data)
    with pytest.raises(Exception, match=r"[Ww]eights.only"):
        Stateful(acc).load_state_dict({"rank0": data.getvalue()})
    assert not (tmp_path / "mark").exists()
    _, other = made(seed=5)
    other.load(checkpoint)
    Stateful(acc).load_state_dict(Stateful(other).state_dict())
    assert acc.waiting == other.waiting == 2
    acc.discard()
    other.discard()
