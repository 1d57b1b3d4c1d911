"""The state of the random numbers a training draws from."""

from __future__ import annotations

import random
import sys
from typing import Any

import torch


class Randomness:
    """A state to come back to."""

    def __init__(self, state: dict[str, Any]) -> None:
        self._state = state

    @classmethod
    def take(cls, loader: Any = None) -> Randomness:
        """The state now: torch's on every device in use, Python's, NumPy's, and a loader's own."""
        state: dict[str, Any] = {"torch": torch.get_rng_state(), "python": random.getstate()}
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            state["cuda"] = torch.cuda.get_rng_state_all()
        numpy = sys.modules.get("numpy")
        if numpy is not None:
            state["numpy"] = numpy.random.get_state()
        state["loader"] = [generator.get_state() for generator in _generators(loader)]
        return cls(state)

    def restore(self, loader: Any = None) -> None:
        """Come back."""
        state = self._state
        torch.set_rng_state(state["torch"])
        random.setstate(state["python"])
        if "cuda" in state:
            torch.cuda.set_rng_state_all(state["cuda"])
        numpy = sys.modules.get("numpy")
        if numpy is not None and "numpy" in state:
            numpy.random.set_state(state["numpy"])
        for generator, saved in zip(_generators(loader), state["loader"], strict=False):
            generator.set_state(saved)

    def state_dict(self) -> dict[str, Any]:
        """As data that torch.load(weights_only=True) reads."""
        state = dict(self._state)
        version, numbers, gauss = state["python"]
        state["python"] = [version, list(numbers), gauss]
        if "numpy" in state:
            name, keys, *rest = state["numpy"]
            # A state that was loaded and is saved again has its keys as a list already.
            state["numpy"] = [name, keys if isinstance(keys, list) else keys.tolist(), *rest]
        return state

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Randomness:
        """The reverse of `state_dict`."""
        state = dict(state)
        version, numbers, gauss = state["python"]
        state["python"] = (version, tuple(numbers), gauss)
        if "numpy" in state:
            state["numpy"] = tuple(state["numpy"])
        return cls(state)


def _generators(loader: Any) -> list[torch.Generator]:
    """The generators a DataLoader and its samplers draw from, each once."""
    sampler = getattr(loader, "sampler", None)
    owners = (loader, sampler, getattr(getattr(loader, "batch_sampler", None), "sampler", None))
    found = [getattr(owner, "generator", None) for owner in owners]
    return list({id(g): g for g in found if isinstance(g, torch.Generator)}.values())
