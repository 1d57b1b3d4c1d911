"""Runs the user's program as Python would, audited, and brings the answers of all its processes together."""

from __future__ import annotations

from gradledger.host.run import run_target
from gradledger.host.target import Options, Target

__all__ = ["Options", "Target", "run_target"]
