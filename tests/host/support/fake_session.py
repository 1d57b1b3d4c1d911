"""A session that counts backward calls and reports every one of them at the same line."""

import os

from gradledger.audit.answer import Answer, Checked
from gradledger.ledger.site import Site
from gradledger.rules.finding import Certainty, Finding, Severity


class FakeSession:
    def __init__(self, *, fail_fast=False, save=None, rank=None):
        self.save = save
        self.rank = rank
        self.backwards = 0
        self._answer = None
        self._callback = None

    @property
    def trained(self):
        return self.backwards > 0

    def start(self):
        import torch

        if os.environ.get("FAKE_START_FAILS"):
            raise ValueError("no probes today")
        if hasattr(torch, "watchers"):
            torch.watchers.append(self._saw)
            return
        backward = torch.Tensor.backward

        def counting(tensor, *args, **kwargs):
            self._saw()
            return backward(tensor, *args, **kwargs)

        torch.Tensor.backward = counting

    def finish(self, error=None):
        import torch

        if os.environ.get("FAKE_FINISH_FAILS"):
            raise ValueError("the books\nare gone")
        if hasattr(torch, "watchers") and self._saw in torch.watchers:
            torch.watchers.remove(self._saw)
        if self._answer is None:
            site = Site("train.py", 7)
            finding = Finding(
                "GL101",
                "stale-gradient",
                Severity.ERROR,
                Certainty.CERTAIN,
                site,
                "old",
                count=self.backwards,
            )
            notes = () if error is None else (f"ended by {type(error).__name__}",)
            if self.save is not None:
                notes += (f"saved as {self.save}",)
            found = (finding,) if self.backwards else ()
            self._answer = Answer("runtime", found, Checked(backwards=self.backwards), notes)
        return self._answer

    def abandon(self):
        pass

    def forked(self):
        self.backwards = 0
        self._answer = None

    def when_trained(self, callback):
        self._callback = callback

    def _saw(self):
        self.backwards += 1
        callback, self._callback = self._callback, None
        if callback is not None:
            callback()
