"""All closer probes together."""

from __future__ import annotations

from gradledger.runtime.clipping import Clipping
from gradledger.runtime.detail.batches import BatchLook
from gradledger.runtime.detail.by_hand import ByHandLook
from gradledger.runtime.detail.criteria import CriterionLook
from gradledger.runtime.detail.forwards import ForwardLook
from gradledger.runtime.detail.losses import LossLook
from gradledger.runtime.detail.metric import MetricLook
from gradledger.runtime.detail.norms import NormLook
from gradledger.runtime.detail.parameters import ParameterLook
from gradledger.runtime.detail.rates import RateLook
from gradledger.runtime.detail.telling import Telling
from gradledger.runtime.detail.turns import TurnLook
from gradledger.runtime.loading import Batches
from gradledger.runtime.observer import Observer
from gradledger.runtime.patch import Patches


class Closer:
    """Looks closer for one recording."""

    def __init__(self, telling: Telling, observer: Observer, batches: Batches, clipping: Clipping) -> None:
        by_hand = ByHandLook(telling)
        loaders = BatchLook(telling, batches, by_hand)
        criteria = CriterionLook(telling, observer)
        forwards = ForwardLook(telling, observer)
        self._metric = MetricLook(telling, observer, loaders)
        turns = TurnLook(telling, observer, loaders, self._metric)
        self._parts = (
            loaders,
            criteria,
            forwards,
            by_hand,
            LossLook(telling, observer, loaders, criteria, forwards, turns, by_hand),
            NormLook(telling, observer, clipping),
            ParameterLook(telling, observer),
            RateLook(telling, observer),
            self._metric,
        )

    def install(self, patches: Patches) -> None:
        """Put the probes in place, around those of the audit."""
        for part in self._parts:
            part.install(patches)

    def end(self) -> None:
        """Look a last time."""
        self._metric.end()
