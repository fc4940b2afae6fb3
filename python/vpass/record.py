"""Results and their parts, with the keys of the command's JSON as attributes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any


class Record(Mapping[str, Any]):
    """Result, or part of one. Keys of its JSON are attributes. ``dict(record)`` is the JSON."""

    def __init__(self, of: Mapping[str, Any]) -> None:
        self._of = dict(of)

    def __getattr__(self, key: str) -> Any:
        if key.startswith("__") or key == "_of":
            raise AttributeError(key)
        if key not in self._of:
            raise AttributeError(f"no result {key!r}; known are {', '.join(self._of)}")
        return _wrapped(self._of[key])

    def __getitem__(self, key: str) -> Any:
        return self._of[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._of)

    def __len__(self) -> int:
        return len(self._of)

    def __repr__(self) -> str:
        return self.json()

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._of]

    def json(self) -> str:
        """Return the record as JSON text, with one key in each line."""
        return json.dumps(self._of, indent=2)

    def at(self, path: str) -> Any:
        """Return the value at a path such as ``reclaim.pages_copied``.

        Raises KeyError if the record has no such key.
        """
        value: Any = self._of
        for key in path.split("."):
            value = value[key] if isinstance(value, dict) else None
            if value is None:
                break
        return value


def _wrapped(value: Any) -> Any:
    if isinstance(value, dict):
        return Record(value)
    return [_wrapped(one) for one in value] if isinstance(value, list) else value
