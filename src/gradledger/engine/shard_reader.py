"""Reading a folder of torch.distributed.checkpoint without running what it says.

torch reads the list of what is inside with plain pickle, and what is no tensor without `weights_only`: either
may call anything. Here the list may name only what a list needs, and files of the folder itself.
"""

from __future__ import annotations

import io
import os
import pickle
from pathlib import Path
from typing import Any

import torch
from torch.distributed.checkpoint import metadata as listing
from torch.distributed.checkpoint.default_planner import DefaultLoadPlanner
from torch.distributed.checkpoint.filesystem import FileSystemReader

_PLAIN = {
    "torch.distributed.checkpoint.metadata": {
        *("BytesStorageMetadata", "ChunkStorageMetadata", "Metadata", "MetadataIndex", "StorageMeta"),
        *("TensorProperties", "TensorStorageMetadata", "_MEM_FORMAT_ENCODING"),
    },
    "torch.distributed.checkpoint.filesystem": {"_StorageInfo"},
    "torch.serialization": {"_get_layout"},
    "pathlib": {"Path", "PosixPath", "PurePosixPath", "PureWindowsPath", "WindowsPath"},
    "pathlib._local": {"Path", "PosixPath", "PurePosixPath", "PureWindowsPath", "WindowsPath"},
    "collections": {"OrderedDict"},
}
"""All that a list of contents is made of, beside torch's types of numbers."""


class ShardReader(FileSystemReader):
    """Reads the folder's own files, and of their list only plain data."""

    def read_metadata(self, *args: Any, **kwargs: Any) -> listing.Metadata:
        """What the folder holds; anything else than that is an error, and does not happen."""
        rank = kwargs.get("rank")
        place = Path(self.path) / (".metadata" if rank is None else f"__{rank}.metadata")
        with open(place, "rb") as file:
            found = _Unpickler(file).load()
        if not isinstance(found, listing.Metadata) or not isinstance(found.state_dict_metadata, dict):
            raise pickle.UnpicklingError("this is no list of a checkpoint's contents")
        for stored in (found.storage_data or {}).values():
            if not _is_own_file(stored.relative_path):
                raise pickle.UnpicklingError(f"{stored.relative_path!r} is no file of this folder")
        if found.storage_meta is None:
            found.storage_meta = listing.StorageMeta()
        found.storage_meta.load_id = self.load_id
        return found


class PlainPlanner(DefaultLoadPlanner):
    """Takes over tensors and plain values."""

    def load_bytes(self, read_item: Any, value: io.BytesIO) -> None:
        """A value that is no tensor, such as the extra state of a module."""
        plain = torch.load(value, weights_only=True)
        again = io.BytesIO()
        torch.save(plain, again)
        again.seek(0)
        super().load_bytes(read_item, again)


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        allowed = name in _PLAIN.get(module, ()) or (
            module == "torch" and (name == "Size" or isinstance(getattr(torch, name, None), torch.dtype))
        )
        if not allowed:
            raise pickle.UnpicklingError(f"a list of contents does not need {module}.{name}")
        return super().find_class(module, name)


def _is_own_file(name: object) -> bool:
    """Whether this is the name of a file that can only lie in the folder itself."""
    return isinstance(name, str) and name not in ("", ".", "..") and os.path.basename(name) == name
