"""Notebooks to try things on."""

from __future__ import annotations

import json
from pathlib import Path


def notebook(*cells: str | list[str], language: str = "python", indent: int | None = 1) -> str:
    """A notebook with these code cells, as Jupyter saves it; a list is taken as the strings themselves."""
    made = [
        {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": cell if isinstance(cell, list) else cell.splitlines(keepends=True),
        }
        for cell in cells
    ]
    whole = {
        "cells": made,
        "metadata": {"language_info": {"name": language}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(whole, indent=indent, ensure_ascii=False) + "\n"


def save(path: Path, *cells: str | list[str]) -> Path:
    path.write_text(notebook(*cells), encoding="utf-8")
    return path
