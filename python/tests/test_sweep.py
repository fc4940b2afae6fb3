"""A sweep runs each point once, survives a killed worker, and keeps refused points as rows."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import vpass
from vpass import Policy, Rewrite, View


class Kills(Policy):
    """Kills its process once."""

    name = "kills"

    def __init__(self, flag: str) -> None:
        self.flag = flag

    def begin(self, drive: dict[str, Any], rng: Any) -> None:
        if not os.path.exists(self.flag):
            Path(self.flag).touch()
            os.kill(os.getpid(), signal.SIGKILL)

    def arm(self, view: View) -> float:
        return 1_000

    def on_alarm(self, view: View) -> Rewrite:
        return Rewrite()


def points(
    requests: int = 20_000, more: dict[str, list[Any]] | None = None
) -> list[vpass.Point]:
    over: dict[str, list[Any]] = {"start.pec": [0, 1500], "reclaim": ["block", "straw-wl"]}
    return vpass.grid(
        drive="tiny",
        workload="zipf-read",
        gear="untimed",
        set={"workload.requests": requests},
        over=over | (more or {}),
    )


def test_finished_points_never_run_again(tmp_path: Path) -> None:
    executor = ThreadPoolExecutor(2)
    first = vpass.sweep(points(), tmp_path, executor=executor)
    times = {file: file.stat().st_mtime_ns for file in (tmp_path / "points").iterdir()}
    again = vpass.sweep(points(), tmp_path, executor=executor)
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "points").iterdir()} == times
    assert first.rows() == again.rows() and len(times) == 4
    vpass.sweep(points(requests=20_001), tmp_path, executor=executor)
    assert len(list((tmp_path / "points").iterdir())) == 8
    with (tmp_path / "sweep.csv").open() as table:
        rows = list(csv.DictReader(table))
    assert [row["start.pec"] for row in rows] == ["0", "0", "1500", "1500"]
    assert all(float(row["host.read_requests"]) == 20_001 for row in rows)


def test_a_refused_point_is_a_row_with_its_sentence(tmp_path: Path) -> None:
    found = vpass.sweep(
        points(more={"start.pec": [0, 10**9]}), tmp_path, executor=ThreadPoolExecutor(1)
    )
    refused = [row["refused"] for row in found.rows("seed")]
    assert refused[0] is None and "start.pec" in refused[2]
    assert found.rows("seed")[2]["seed"] is None


def test_a_killed_worker_is_replaced(tmp_path: Path) -> None:
    flag = str(tmp_path / "flag")
    found = vpass.sweep(points(more={"reclaim": ["block", Kills(flag)]}), tmp_path / "sweep")
    assert os.path.exists(flag)
    assert all(row["refused"] is None for row in found.rows("seed")) and len(found) == 4


def test_the_key_follows_from_policy_source_parameters_and_files(tmp_path: Path) -> None:
    def key(**options: Any) -> str:
        given = {"drive": "tiny", "workload": "zipf-read"} | options
        return vpass.grid(over={"seed": [1]}, **given)[0].key

    assert key() == key() and key() == key(gear="timed") != key(gear="untimed")
    assert key(reclaim=Kills("a")) == key(reclaim=Kills("a")) != key(reclaim=Kills("b"))
    file = tmp_path / "mine.toml"
    shown = [sys.executable, "-m", "vpass", "show", "workload", "zipf-read"]
    text = subprocess.run(shown, stdout=subprocess.PIPE, text=True, check=True).stdout
    file.write_text(text)
    before = key(workload=str(file))
    assert before == key(workload=str(file)) != key()
    file.write_text(text + "# another file\n")
    assert key(workload=str(file)) != before


def test_the_key_follows_from_all_values_of_a_policy_and_from_hints(tmp_path: Path) -> None:
    def key(**options: Any) -> str:
        given = {"drive": "tiny", "workload": "zipf-read"} | options
        return vpass.grid(over={"seed": [1]}, **given)[0].key

    def with_array(last: float) -> Kills:
        policy = Kills("a")
        setattr(policy, "budget", np.append(np.zeros(5_000), [last, 0.0]))
        return policy

    assert key(reclaim=with_array(1)) == key(reclaim=with_array(1)) != key(reclaim=with_array(2))
    hints = tmp_path / "hints.toml"
    hints.write_text("# one\n")
    before = key(hints=str(hints))
    hints.write_text("# other\n")
    assert key(hints=str(hints)) != before


class Wrong(Kills):
    """Raises an exception of its own."""

    def begin(self, drive: dict[str, Any], rng: Any) -> None:
        raise ValueError("of this policy")


def test_an_exception_of_a_policy_is_no_refusal(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="of this policy"):
        vpass.sweep(points(more={"reclaim": [Wrong("")]}), tmp_path,
                    executor=ThreadPoolExecutor(1))
    assert not list((tmp_path / "points").iterdir())


def test_random_draws_are_reproducible() -> None:
    def drawn() -> list[Any]:
        over = {"start.pec": lambda dice: dice.randrange(3000)}
        return [one.swept for one in
                vpass.draws(count=3, over=over, drive="tiny", workload="zipf-read")]

    assert drawn() == drawn() and len({one["start.pec"] for one in drawn()}) == 3


def test_a_sweep_survives_a_killed_worker_of_a_cluster(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    flag = str(tmp_path / "flag")
    with cluster, distributed.Client(cluster) as client:
        found = vpass.sweep(
            points(more={"reclaim": ["block", Kills(flag)], "seed": [1, 2, 3]}),
            tmp_path / "sweep",
            executor=client.get_executor(),
        )
    assert os.path.exists(flag) and len(found) == 12
    assert all(row["refused"] is None for row in found.rows("seed"))
