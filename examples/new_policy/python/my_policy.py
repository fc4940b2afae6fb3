"""my-policy: rewrites a block after a share of the reads that it can serve safely."""

from __future__ import annotations

import vpass
from vpass import Policy, Rewrite, View


class MyPolicy(Policy):
    """Policy that rewrites a block after a share of the reads that its weakest wordline bears."""

    name = "my-policy"
    protects = "sound"  # the oracle checks that no data is lost; "nothing" guarantees nothing

    def __init__(self, share: float = 0.9) -> None:
        self.share = share

    def bears(self, view: View) -> float:
        """Return the number of reads after which a rewrite must begin to end in time."""
        if view.limits is None:
            return float("inf")
        # A rewrite reads every page of the block once. A read of a neighbour weighs alpha.
        pages, own = view.pages_per_block, view.pages_per_wordline
        left = min(
            (limit - pages - 2 * (alpha - 1) * own) / alpha for limit, alpha in view.limits
        )
        return left - max(view.late_reads, 1)

    def arm(self, view: View) -> float:
        """Return the first alarm of a block after its erase, in reads of the block."""
        return max(int(self.share * min(self.bears(view), 1e9)), 1)

    def on_alarm(self, view: View) -> Rewrite:
        """Rewrite the whole block. It may serve ``late_reads`` more reads until the end."""
        return Rewrite()


if __name__ == "__main__":
    found = vpass.compare(
        "tiny",
        "zipf-read",
        reclaim=["block", MyPolicy()],
        set={"workload.requests": "500k"},
    )
    for row in found.rows("reclaim.pages_copied", "data_lost_pages", "python_s"):
        print(row)
    found.check()
