"""Frames of polars, which is loaded only when a frame is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl


def frame_of(rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """Return rows as a polars frame. Raises ImportError if polars is not installed."""
    try:
        import polars as pl
    except ImportError as error:
        raise ImportError("frames need polars: pip install 'vpass[frames]'") from error
    return pl.DataFrame(rows, infer_schema_length=None)
