"""Polars frames. The library polars is loaded only when a frame is needed."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl


def frame_of(rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """Return rows as a polars frame. Raises ImportError if polars is not installed."""
    frame: pl.DataFrame = _polars().DataFrame(rows, infer_schema_length=None)
    return frame


def table_of(csv: bytes) -> pl.DataFrame:
    """Return a table in CSV as a polars frame. Raises ImportError if polars is not installed."""
    frame: pl.DataFrame = _polars().read_csv(csv, infer_schema_length=None)
    return frame


def _polars() -> ModuleType:
    try:
        import polars
    except ImportError as error:
        raise ImportError("frames need polars: pip install 'vpass[frames]'") from error
    return polars
