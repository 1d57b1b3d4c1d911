"""Reads what an offline run of Weights & Biases has written: records in blocks, as LevelDB logs have them."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wandb.proto import wandb_internal_pb2

BLOCK = 32_768
HEAD = 7
WHOLE, LAST = 1, 4


def records(path: Path) -> Iterator[Any]:
    """Every record of the file."""
    raw = path.read_bytes()
    assert raw[:4] == b":W&B"
    at, pieces = HEAD, b""
    while at + HEAD <= len(raw):
        if BLOCK - at % BLOCK < HEAD:  # no record begins this near to the end of a block
            at += BLOCK - at % BLOCK
            continue
        _, length, kind = struct.unpack("<IHB", raw[at : at + HEAD])
        pieces += raw[at + HEAD : at + HEAD + length]
        at += HEAD + length
        if kind in (WHOLE, LAST):
            record = wandb_internal_pb2.Record()
            record.ParseFromString(pieces)
            pieces = b""
            yield record


def items(listed: Any) -> dict[str, Any]:
    """Keys and values of a history or a summary."""
    return {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in listed}
