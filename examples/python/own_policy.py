"""Compares a policy of your own with STRAW. The oracle checks both."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import vpass
from vpass import Policy, Rewrite, View


class JustInTime(Policy):
    """Policy that checks a block when its next wordline may be near its limit, and rewrites only
    such wordlines."""

    name = "just-in-time"

    def __init__(self, together: int = 200) -> None:
        # All wordlines that bear fewer reads than this number are rewritten in one job.
        self.together = together

    def left(self, view: View) -> npt.NDArray[np.float64]:
        """Return the number of reads that each wordline bears before its rewrite must begin."""
        limit, alpha = view.wordline_limits()
        late = max(view.late_reads, 1)
        moves = view.pages_per_block + 2 * (alpha - 1) * view.pages_per_wordline
        fresh = (limit - moves) / alpha - late - 1
        unwritten = fresh if view.pages_to_come else np.full_like(fresh, np.inf)
        return np.where(view.valid_wordlines, fresh - view.doses / alpha, unwritten)

    def arm(self, view: View) -> int:
        return int(self.left(view).min())

    def on_alarm(self, view: View) -> int | Rewrite:
        left = self.left(view)
        if left.min() < 1:
            return Rewrite(wordlines=left < self.together)
        return view.reads + int(min(left.min(), 1e9))


if __name__ == "__main__":
    both = vpass.compare(
        "tiny",
        "zipf-read",
        reclaim=["straw-wl", JustInTime()],
        seeds=3,
        set={"workload.requests": "500k"},
    )
    for row in both.rows("reclaim.pages_copied", "data_lost_pages", "python_s"):
        print(row)
    both.check()
