"""Tests of my-policy: no data is lost, and the policy rewrites blocks."""

from __future__ import annotations

import vpass
from my_policy import MyPolicy


def test_no_data_is_lost_and_the_policy_acts() -> None:
    result = vpass.run(
        "tiny", "zipf-read", reclaim=MyPolicy(), oracle="full", set={"workload.requests": "500k"}
    )
    result.check()
    assert result.data_lost_pages == 0
    assert result.reclaim.pages_copied > 0


def test_an_earlier_alarm_copies_more() -> None:
    def copied(share: float) -> int:
        sets = {"workload.requests": "500k"}
        policy = MyPolicy(share)
        found = vpass.run("tiny", "zipf-read", reclaim=policy, gear="untimed", set=sets)
        return int(found.reclaim.pages_copied)

    assert copied(0.5) > copied(0.9)
