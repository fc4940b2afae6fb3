"""Sweeps: many runs whose results are kept in a folder.

``python -m vpass.sweep`` runs the points of a Python file, also on a cluster. The module is also a
function: ``vpass.sweep(points, folder)``.
"""

from __future__ import annotations

import sys
import types
from typing import Any

from .points import Point, draws, grid
from .sweeping import Sweep, main
from .sweeping import sweep as sweep

__all__ = ["Point", "Sweep", "draws", "grid", "main", "sweep"]


class _Callable(types.ModuleType):
    """Module that can be called like a function, because both are named ``vpass.sweep``."""

    def __call__(self, *args: Any, **options: Any) -> Sweep:
        return sweep(*args, **options)


sys.modules[__name__].__class__ = _Callable

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
