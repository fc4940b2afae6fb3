"""Drives by their configuration, frames of a result, and comparisons on several threads."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import vpass
from said import command



def test_a_drive_has_its_whole_configuration() -> None:
    drive = vpass.Drive("tiny", {"start.pec": 700, "workload.requests": 5})
    shown = command("show", "drive", "tiny", "--set", "start.pec=700")
    assert drive.config == shown and drive.config["start"]["pec"] == 700
    drive.config["start"]["pec"] = 1
    assert drive.config["start"]["pec"] == 700, "each call gives a new dict"
    with pytest.raises(vpass.UsageError, match="tinny"):
        vpass.Drive("tinny").config


def test_drives_are_equal_by_their_configuration() -> None:
    one = vpass.Drive("tiny", {"start.pec": 700})
    assert one == vpass.Drive("tiny").with_({"start.pec": "700"}) != vpass.Drive("tiny")
    assert len({one, vpass.Drive("tiny", {"start.pec": "700"}), vpass.Drive("tiny")}) == 2
    assert one != one.with_({"workload.requests": 5}) and one.with_({"start.pec": 1}).set == {
        "start.pec": 1
    }
    assert one != "tiny"


def test_frames_are_the_tables_of_the_folder(tmp_path: Path) -> None:
    sets = {"workload.requests": 300_000, "start.pec": 2000}
    result = vpass.run("tiny", "zipf-read", set=sets, record=True)
    result.save(tmp_path / "run")
    for name, frame in (("series", result.series()), ("blocks", result.blocks())):
        assert frame.equals(pl.read_csv(tmp_path / "run" / f"{name}.csv", infer_schema_length=None))
    assert result.blocks()["valid_pages"].sum() > 0
    told = pl.read_csv(tmp_path / "run" / "dose.csv", infer_schema_length=None)
    block = told["block"][0]
    doses = result.doses(block)
    assert doses.columns == ["wordline", "dose", "limit"]
    assert doses["wordline"].to_list() == list(range(len(doses)))
    assert doses.equals(told.filter(told["block"] == block).select(doses.columns))
    with pytest.raises(KeyError, match="block 99999"):
        result.doses(99_999)
    plain = vpass.run("tiny", "zipf-read", set={"workload.requests": 1_000})
    assert len(plain.blocks()) == len(result.blocks())
    with pytest.raises(vpass.Error, match="record=True"):
        plain.doses(block)


SETS: dict[str, Any] = {"workload.requests": 300_000, "start.pec": 2000}


def test_a_comparison_has_the_verdict_of_the_command() -> None:
    found = vpass.compare(
        "tiny", "zipf-read", reclaim=["none", "block", "straw-wl"], seeds=2, set=SETS, threads=2
    )
    given = [word for key, value in SETS.items() for word in ("--set", f"{key}={value}")]
    words = ["--drive", "tiny", "--workload", "zipf-read", "--seeds", "2", *given]
    said = command("compare", *words, "--reclaim", "none,block,straw-wl")
    assert found.verdict == said["verdict"] and len(found.verdict) > 1
    alone = vpass.compare(
        "tiny", "zipf-read", reclaim=["none", "block", "straw-wl"], seeds=2, set=SETS, threads=1
    )
    assert found.rows() == alone.rows()
    with pytest.raises(ValueError, match="threads=0: 1 or more is expected"):
        vpass.compare("tiny", "zipf-read", reclaim=["none"], threads=0)


class Fails(vpass.Policy):
    """Raises at its first alarm."""

    name = "fails"

    def arm(self, view: vpass.View) -> float:
        return 5

    def on_alarm(self, view: vpass.View) -> None:
        raise ZeroDivisionError("of this policy")


def test_the_first_exception_ends_all_runs_of_a_comparison() -> None:
    before = threading.active_count()
    with pytest.raises(ZeroDivisionError, match="of this policy"):
        many = {"workload.requests": 300_000_000}
        vpass.compare("tiny", "zipf-read", reclaim=["block", Fails()], set=many, threads=2)
    assert threading.active_count() == before


def test_a_life_ends_at_an_error_rate() -> None:
    with pytest.raises(vpass.UsageError, match="uber=2"):
        vpass.life("tiny", "zipf-read", uber=2.0)
