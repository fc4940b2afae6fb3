"""A sweep runs each point once, survives a killed worker, and keeps refused points as rows."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
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


class Picks(vpass.VictimChooser):
    """Picks the emptiest block."""

    def __init__(self, most: int) -> None:
        self.candidates = most

    def pick(self, among: vpass.Candidates) -> int:
        return int(among.blocks[0])


class Counts(Policy):
    """Rewrites a block after a number of reads."""

    name = "counts"

    def __init__(self, limit: float) -> None:
        self.limit = limit

    def arm(self, view: View) -> float:
        return self.limit

    def on_alarm(self, view: View) -> Rewrite:
        return Rewrite()


class Waits(vpass.Refresh):
    """Asks for no block."""

    def __init__(self, number: int) -> None:
        self.number = number

    def first_look(self, since_ns: int) -> None:
        return None

    def done_by(self, since_ns: int) -> None:
        return None


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


def swept(tmp_path: Path, over: dict[str, list[Any]], **options: Any) -> vpass.Sweep:
    given = {"drive": "tiny", "workload": "zipf-read", "gear": "untimed"}
    given |= {"set": {"workload.requests": 20_000}, "reclaim": "block"} | options
    return vpass.sweep(vpass.grid(over=over, **given), tmp_path, executor=ThreadPoolExecutor(2))


def chosen(over: dict[str, list[Any]], of: Callable[[dict[str, Any]], float]) -> vpass.Sweep:
    """Return a sweep without runs, whose values follow from the swept keys."""
    points = vpass.grid(drive="tiny", workload="zipf-read", over=over)
    found = {point.key: {"refused": None, "summary": {"chosen": of(point.swept)}}
             for point in points}
    return vpass.Sweep(points, found)


def test_a_line_is_drawn_for_each_technique_and_is_a_mean_over_seeds() -> None:
    pytest.importorskip("matplotlib")
    over: dict[str, list[Any]] = {"reclaim": ["block", "straw-wl"], "start.pec": [1500, 0]}
    over["seed"] = [1, 2, 3]
    found = chosen(over, lambda at: at["start.pec"] + at["seed"] + 100 * len(at["reclaim"]))
    axes: Any = found.lines(x="start.pec", value="chosen").axes[0]
    drawn = {str(line.get_label()): (list(line.get_xdata()), list(line.get_ydata()))
             for line in axes.get_lines()}
    assert drawn == {"block": ([0, 1500], [502, 2002]), "straw-wl": ([0, 1500], [802, 2302])}
    assert axes.get_ylabel() == "chosen, mean of 3 seeds"
    assert axes.get_legend().get_title().get_text() == "reclaim"


def test_a_cell_is_a_mean_over_seeds_and_over_nothing_else() -> None:
    pytest.importorskip("matplotlib")
    over: dict[str, list[Any]] = {"start.pec": [0, 1500], "reclaim": ["straw-wl", "block"]}
    found = chosen(over | {"seed": [1, 2, 6]},
                   lambda at: at["start.pec"] + at["seed"] + 100 * len(at["reclaim"]))
    axes: Any
    axes, bar = found.heatmap(x="start.pec", y="reclaim", value="chosen").axes
    assert axes.images[0].get_array().tolist() == [[803, 2303], [503, 2003]]
    assert [one.get_text() for one in axes.get_yticklabels()] == ["straw-wl", "block"]
    assert bar.get_ylabel() == "chosen, mean of 3 seeds"
    with pytest.raises(ValueError, match="several values of gc"):
        chosen(over | {"gc": ["greedy", "cost-benefit"]}, lambda at: 0.0).heatmap(
            x="start.pec", y="reclaim", value="chosen")


def test_parameters_of_a_policy_of_ones_own_can_be_swept(tmp_path: Path) -> None:
    mine = Counts(0)
    found = swept(tmp_path, {"reclaim.limit": [300, 3_000]}, reclaim=mine)
    copies = [row["reclaim.pages_copied"] for row in found.rows("reclaim.pages_copied")]
    assert copies[0] > copies[1] and mine.limit == 0
    assert [row["reclaim.limit"] for row in found.rows("seed")] == [300, 3_000]
    by_object = swept(tmp_path, {"reclaim": [Counts(300), Counts(3_000)]})
    rows = by_object.rows("reclaim.pages_copied")
    assert [row["reclaim.pages_copied"] for row in rows] == copies
    assert [row["reclaim"] for row in rows] == ["counts(limit=300)", "counts(limit=3000)"]
    for file in [tmp_path / "sweep.csv", *(tmp_path / "points").iterdir()]:
        assert "object at 0x" not in file.read_text()
    # A key of the drive that the policy does not have stays a key of the drive.
    unknown = swept(tmp_path, {"reclaim.limits": [1]}, reclaim=mine)
    assert "reclaim.limits" in unknown.rows("seed")[0]["refused"]


def test_long_parameters_of_policies_are_told_apart() -> None:
    def label(last: float) -> str:
        policy = Counts(1)
        setattr(policy, "table", np.append(np.zeros(5_000), [last, 0.0]))
        return str(vpass.Sweep(vpass.grid(drive="tiny", workload="zipf-read",
                                          over={"reclaim": [policy]}), {})._places("reclaim")[0])

    assert label(1) == label(1) != label(2) and label(1).startswith("counts(limit=1, table=")


def test_points_that_are_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"points\[0\] is a dict; points of vpass.grid"):
        vpass.sweep([{"drive": "tiny"}], tmp_path / "never")  # type: ignore[list-item]
    assert not (tmp_path / "never").exists()


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
    assert key(gc=Picks(1)) == key(gc=Picks(1)) != key(gc=Picks(2))
    assert key(gc=Picks(1)) != key() and key(refresh=Waits(1)) != key(refresh=Waits(2))
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


FILE = """
import os, signal
import vpass

class Kills(vpass.Policy):
    name = "kills"

    def begin(self, drive, rng):
        if not os.path.exists({flag!r}):
            open({flag!r}, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)

    def arm(self, view):
        return 1_000

    def on_alarm(self, view):
        return vpass.Rewrite()

POINTS = vpass.grid(
    drive="tiny", workload="zipf-read", gear="untimed", set={{"workload.requests": {requests}}},
    over={{"seed": list(range({seeds})), "reclaim": ["block", Kills()]}},
)
"""
"""File of a sweep with a policy of its own, which kills one worker."""


def started(words: list[str], room: Path) -> subprocess.Popen[str]:
    """Start a Python program in a group of processes of its own."""
    return subprocess.Popen(
        [sys.executable, *words],
        cwd=room,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def waited_for(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds, at most 20 seconds."""
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "waited for 20 s"
        time.sleep(0.02)


def group_has_ended(group: int) -> bool:
    """Return whether no process of a group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_cluster_finishes_the_sweep_of_a_file_though_a_worker_is_killed(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    flag, place = tmp_path / "flag", tmp_path / "scheduler.json"
    (tmp_path / "mine.py").write_text(FILE.format(flag=str(flag), requests=20_000, seeds=6))
    dask = ["-m", "dask"]
    cluster = [started([*dask, "scheduler", "--port", "0", "--no-dashboard",
                        "--scheduler-file", str(place)], tmp_path)]
    try:
        waited_for(lambda: place.exists() and bool(place.read_text()))
        address = json.loads(place.read_text())["address"]
        worker = [*dask, "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        # The workers cannot import the file.
        (tmp_path / "elsewhere").mkdir()
        cluster += [started(worker, tmp_path / "elsewhere") for _ in range(2)]
        words = ["-m", "vpass.sweep", "mine.py", "found", "--scheduler", address]
        said, _ = started(words, tmp_path).communicate(timeout=60)
        assert "12 points, 0 refused" in said, said
        assert flag.exists() and sum(one.poll() is None for one in cluster) == 2, "one was killed"
    finally:
        for one in cluster:
            if one.poll() is None:
                os.killpg(one.pid, signal.SIGKILL)
            one.communicate()
    assert len(list((tmp_path / "found" / "points").iterdir())) == 12


def test_a_sweep_that_was_killed_goes_on_and_leaves_no_process(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    flag.touch()
    (tmp_path / "mine.py").write_text(FILE.format(flag=str(flag), requests=400_000, seeds=5))
    words = ["-m", "vpass.sweep", "mine.py", "found"]
    found = tmp_path / "found" / "points"
    first = started(words, tmp_path)
    waited_for(lambda: found.exists() and len(list(found.glob("*.json"))) >= 2)
    first.kill()
    first.wait()
    try:
        waited_for(lambda: group_has_ended(first.pid))
    finally:
        if not group_has_ended(first.pid):
            os.killpg(first.pid, signal.SIGKILL)
        first.communicate()
    times = {file: file.stat().st_mtime_ns for file in found.glob("*.json")}
    assert 2 <= len(times) < 10
    said, _ = started(words, tmp_path).communicate(timeout=60)
    assert "10 points, 0 refused" in said, said
    assert {file: file.stat().st_mtime_ns for file in times} == times
    left = 10 - len(times)
    assert f"{left} of {left} points" in said, "only the others ran"
