"""A run from Python has the result of the command, byte for byte but for the time it took."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import vpass
from said import command

CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("tiny", "zipf-read", {"workload.requests": 100_000}),
    ("aged-tlc", "uniform-read", {"workload.requests": 30_000, "workload.read_share": 0.9}),
    ("modern-qlc", "zipf-read", {"workload.requests": 20_000, "drive.capacity": "16GB"}),
]


@pytest.mark.parametrize("gear", ["timed", "untimed"])
@pytest.mark.parametrize(("drive", "workload", "sets"), CASES)
def test_a_run_equals_the_command(
    drive: str, workload: str, sets: dict[str, Any], gear: str
) -> None:
    given = [word for key, value in sets.items() for word in ("--set", f"{key}={value}")]
    said = command("run", "--drive", drive, "--workload", workload, "--gear", gear, *given)
    found = dict(vpass.run(drive, workload, set=sets, gear=gear))
    assert said.pop("simulation") and found.pop("simulation")
    assert found == said


def test_values_of_drive_workload_and_run_all_count_and_the_run_wins() -> None:
    drive = vpass.Drive("tiny", {"start.pec": 700, "workload.requests": 5})
    workload = vpass.Workload("zipf-read", {"workload.requests": 3_000})
    result = vpass.run(drive, workload, gear="untimed")
    assert result.host.read_requests == 3_000 and result.wear.pec_min == 700
    result = vpass.run(drive, workload, gear="untimed", set={"workload.requests": 1_000})
    assert result.host.read_requests == 1_000


def test_a_refused_run_raises_the_sentence_of_the_command() -> None:
    with pytest.raises(vpass.UsageError, match="tinny"):
        vpass.run("tinny", "zipf-read")
    with pytest.raises(ValueError, match="timed, untimed or fluid is expected"):
        vpass.run("tiny", "zipf-read", gear="fast")


def failure(call: Callable[[], object]) -> vpass.Error:
    """Return the exception of a call. It has no words of the command line."""
    with pytest.raises(vpass.Error) as found:
        call()
    said = " ".join(str(getattr(found.value, name)) for name in ("args", "place", "remedy"))
    assert "--" not in said
    return found.value


def test_a_wrong_value_has_its_key_its_place_and_its_remedy() -> None:
    error = failure(lambda: vpass.run("tiny", "zipf-read", set={"geometry.channels": -1}))
    assert (error.kind, error.key, error.value) == ("usage", "geometry.channels", "-1")
    assert error.place == '`set={"geometry.channels": -1}`'
    assert error.remedy == "it must be a whole number, 1 to 256"
    assert str(error) == f'{error.place}: geometry.channels is -1; {error.remedy}'


def test_options_have_the_words_of_python() -> None:
    error = failure(lambda: vpass.run("tiny", "zipf-read", gear="fluid", oracle="full"))
    assert str(error) == (
        '`oracle="full"` follows every request, but the fluid gear does not simulate single reads; '
        'use `oracle="on"` or `gear="untimed"`'
    )
    assert (error.key, error.value, error.place) == ("oracle", "full", None)
    error = failure(lambda: vpass.run("tiny", "zipf-read", refresh="block", gear="untimed"))
    assert error.remedy is not None and '`set={"workload.rate": 1000}`' in error.remedy
    error = failure(lambda: vpass.run("tinny", "zipf-read"))
    assert (error.kind, error.key, error.value) == ("usage", "drive", "tinny")
    assert vpass.Bug("a").kind is None


def test_the_other_questions_have_failures_as_data() -> None:
    error = failure(lambda: vpass.life("tiny", "zipf-read", years=-1))
    assert (error.kind, error.key, error.value) == ("usage", "years", "-1")
    assert str(error) == "`years=-1`: a number of years above 0 and up to 100 is expected"


def test_assumptions_have_the_words_of_python(tmp_path: Path) -> None:
    sets = {"workload.requests": 1_000}
    vpass.run("tiny", "zipf-read", set=sets, gear="untimed").save(tmp_path / "mine")
    said = json.loads((tmp_path / "mine" / "manifest.json").read_text())["assumptions"]
    assert "Requests are served one after another, without latencies (`gear`)." in said
    assert not any("--" in one for one in said)


def test_latencies_agree_with_the_summary() -> None:
    result = vpass.run("tiny", "zipf-read", set={"workload.requests": 50_000})
    latency = result.latency("read")
    assert latency.quantile(0.999) == pytest.approx(result.latency_us.read.p99_9, rel=2e-3)
    assert int(latency.count.sum()) == result.host.read_requests
    us, over = latency.tail()
    assert len(us) == len(over) and all(over[:-1] >= over[1:])
    untimed = vpass.run("tiny", "zipf-read", set={"workload.requests": 1_000}, gear="untimed")
    with pytest.raises(vpass.Error, match="only the timed gear"):
        untimed.latency()


def test_save_writes_the_folder_of_the_command(tmp_path: Path) -> None:
    sets = {"workload.requests": 20_000}
    vpass.run("tiny", "zipf-read", set=sets, record=True).save(tmp_path / "mine")
    given = ["--drive", "tiny", "--workload", "zipf-read", "--set", "workload.requests=20000"]
    command("run", *given, "--out", str(tmp_path / "its"))
    mine, its = (sorted(one.name for one in (tmp_path / of).iterdir()) for of in ("mine", "its"))
    assert mine == its
    for name in mine:
        if not name.endswith(".json"):
            assert (tmp_path / "mine" / name).read_bytes() == (tmp_path / "its" / name).read_bytes()


def test_a_save_that_is_killed_is_no_obstacle(tmp_path: Path) -> None:
    """A limit on the size of files kills the program while it saves."""
    run = "vpass.run('tiny', 'zipf-read', set={'workload.requests': 1_000}, record=True)"
    program = (
        f"import resource, signal, vpass; result = {run}; "
        "signal.signal(signal.SIGXFSZ, signal.SIG_DFL); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); result.save('mine')"
    )
    killed = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=False)
    assert killed.returncode == -signal.SIGXFSZ
    (left,) = tmp_path.iterdir()
    assert left.name != "mine"
    sets = {"workload.requests": 1_000}
    vpass.run("tiny", "zipf-read", set=sets, record=True).save(tmp_path / "mine")
    assert [one.name for one in tmp_path.iterdir()] == ["mine"]


def test_progress_is_told_and_its_exception_ends_the_run() -> None:
    heard: list[int] = []
    vpass.run("tiny", "zipf-read", set={"workload.requests": 500_000},
              progress=lambda done, total: heard.append(done))
    assert heard == sorted(heard) and heard

    def stop(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vpass.run("tiny", "zipf-read", set={"workload.requests": 5_000_000}, progress=stop)


def test_ctrl_c_ends_a_run_at_once_also_while_the_drive_is_prepared() -> None:
    text = """
import signal, time, vpass
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
signal.setitimer(signal.ITIMER_REAL, 0.3)
began = time.monotonic()
try:
    vpass.run("modern-qlc", "zipf-read", set={"workload.requests": 50_000_000})
except KeyboardInterrupt:
    print(time.monotonic() - began)
"""
    done = subprocess.run(
        [sys.executable, "-c", text], stdout=subprocess.PIPE, text=True, check=True, timeout=60
    )
    assert 0.3 <= float(done.stdout) < 1.0


def test_the_other_questions_have_the_json_of_the_command() -> None:
    assert dict(vpass.explain("tiny")) == command("explain", "--drive", "tiny")
    life = vpass.life("tiny", "zipf-read", set={"workload.rate": "10k", "workload.queue_depth": None,
                                                "workload.requests": 100_000})
    assert life.techniques[0].reclaim == "block"
    with pytest.raises(vpass.UsageError, match="tinny"):
        vpass.explain("tinny")
    given: list[dict[str, Any]] = [{"gear": "nonsense"}, {"oracle": "bogus"}, {"hints": "/absent"}]
    for wrong in given:
        with pytest.raises(vpass.UsageError, match=next(iter(wrong.values()))):
            vpass.life("tiny", "zipf-read", **wrong)
