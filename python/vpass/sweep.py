"""Many runs, whose results are kept. ``python -m vpass.sweep`` runs a file of points on a cluster.

The module can be called: ``vpass.sweep(points, folder)``.
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
    """Module that is also its function, because both have the name ``vpass.sweep``."""

    def __call__(self, *args: Any, **options: Any) -> Sweep:
        return sweep(*args, **options)


sys.modules[__name__].__class__ = _Callable

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
