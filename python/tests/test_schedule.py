"""Options that decide which part of a drive is run, for how long, and from which state on."""

from __future__ import annotations

from typing import Any

import pytest
import vpass
from said import command

READS = vpass.Workload.of("reads", requests=20_000, read_share=1.0, rate=1000.0, footprint=0.01)


def timeless(result: vpass.Result) -> dict[str, Any]:
    found = dict(result)
    assert found.pop("simulation")
    return found


STRIPES = {"drive.capacity": "256MiB", "drive.spare": 0.75, "parity.stripe": 3}
SMALL = {"workload.requests": 2_000}


@pytest.mark.parametrize(
    ("drive", "sets", "options", "words"),
    [
        ("tiny", SMALL, {"until": "stable", "gear": "untimed"}, "--until stable --gear untimed"),
        ("tiny", SMALL | STRIPES, {"fail": ["die:3@r500"], "parity": "hc"},
         "--fail die:3@r500 --parity hc"),
        ("rlr-rewriter-tlc", {"workload.rate": 10, "workload.queue_depth": None} | SMALL,
         {"sample": "1/8", "gear": "fluid"}, "--sample 1/8 --gear fluid"),
    ],
)  # fmt: skip
def test_an_option_has_the_effect_of_the_command(
    drive: str, sets: dict[str, Any], options: dict[str, Any], words: str
) -> None:
    shown = {key: "" if value is None else value for key, value in sets.items()}
    given = [word for key, value in shown.items() for word in ("--set", f"{key}={value}")]
    given += ["--drive", drive, "--workload", "uniform-read", *words.split()]
    said = command("run", *given)
    assert said.pop("simulation")
    assert timeless(vpass.run(drive, "uniform-read", set=sets, **options)) == said


def test_a_residue_selects_another_sample() -> None:
    whole: dict[str, Any] = {"gear": "fluid", "sample": "1/8", "set": {"workload.queue_depth": None}}
    whole["set"] |= {"workload.rate": 1000, "workload.requests": 1_000_000}
    first, other = (
        vpass.run("rlr-rewriter-tlc", "zipf-read", residue=residue, **whole) for residue in (0, 4)
    )
    assert first.sample == other.sample == "1/8" and timeless(first) != timeless(other)
    with pytest.raises(ValueError, match="a residue below N"):
        vpass.run("rlr-rewriter-tlc", "zipf-read", residue=8, **whole)
    with pytest.raises(ValueError, match="residue=1"):
        vpass.run("tiny", "uniform-read", residue=1)


def test_a_run_may_end_after_cycles_of_its_blocks() -> None:
    keys = {"workload.requests": 3_000_000, "start.pec": 3000}

    def run(cycles: vpass.Cycles, warm_up: int = 1_000_000) -> vpass.Result:
        options: dict[str, Any] = {"gear": "untimed", "oracle": "off", "warm_up": warm_up}
        return vpass.run("tiny", "uniform-read", set=keys, cycles=cycles, **options)

    done = run(vpass.Cycles(10.0, counted=2.0, warm_up=0.5))
    erases = done.flash.erases.reclaim + done.flash.erases.gc
    assert done.cycles.counted == erases / 10 and 20 <= erases < 30
    assert not done.cycles.counted_capped and done.cycles.warm_up >= 0.5
    capped = run(vpass.Cycles(1e6, counted=2.0))
    assert capped.cycles.counted_capped and capped.host.read_requests == 2_000_000
    with pytest.raises(vpass.UsageError, match="numbers above 0"):
        run(vpass.Cycles(0.0, counted=2.0))
    with pytest.raises(vpass.UsageError, match="a largest number of requests"):
        run(vpass.Cycles(10.0, warm_up=1.0), warm_up=0)


def test_an_earlier_workload_is_served_and_not_counted() -> None:
    empty = {"start.fill": 0, "start.overwrite": 0}
    writes = vpass.Workload.of(
        "writes", requests=3_000, read_share=0.0, rate=1e4, footprint=0.01, distribution="sequential"
    )
    alone = vpass.run("tiny", READS, set=empty, gear="untimed")
    after = vpass.run("tiny", READS, set=empty, gear="untimed", before=writes)
    assert alone.host.unmapped_read_pages > 0 == after.host.unmapped_read_pages
    assert after.host.write_requests == 0 and after.host.read_requests == 20_000
    with pytest.raises(vpass.UsageError, match="requests one by one"):
        vpass.run("tiny", READS, gear="fluid", before=writes)
    with pytest.raises(vpass.UsageError, match="cannot be served before another"):
        vpass.run("tiny", READS, before="llm-moe-744b")
    with pytest.raises(ValueError, match="before: 2 workloads"):
        vpass.run("tiny", READS, before=writes | vpass.Workload("uniform-read"))


def test_page_reads_are_split_into_stages() -> None:
    split = vpass.run("tiny", READS, stages=True, oracle="off")
    assert split.page_reads.reads == split.host.read_pages > 0 < split.page_reads.sense_us
    with pytest.raises(vpass.UsageError, match="no oracle"):
        vpass.run("tiny", READS, stages=True)


def test_blocks_begin_out_of_phase() -> None:
    ages = vpass.explain("tiny").ages
    first = min(of.reads for age in ages if age.pec == 0 for of in age.thresholds)
    options: dict[str, Any] = {"gear": "untimed", "oracle": "off"}
    half = vpass.run("tiny", READS, out_of_phase=0.5, **options)
    same = vpass.run("tiny", READS, set={"start.reads": first // 2}, **options)
    assert timeless(half) == timeless(same) != timeless(vpass.run("tiny", READS, **options))
    with pytest.raises(vpass.UsageError, match="from 0 to 1"):
        vpass.run("tiny", READS, out_of_phase=1.5)


def test_a_run_is_divided_into_parts_and_its_requests_are_shown() -> None:
    result = vpass.run("tiny", READS, gear="untimed", oracle="off")
    parts = result.parts(4)
    assert [part.read_pages for part in parts] == [5_000.0] * 4
    assert len(parts[0].programs) == len(vpass.Cause) - 1
    columns = vpass.requests("tiny", READS, count=1000)
    assert len(columns.offset) == 1000 and set(columns.op) == {0} and set(columns.bytes) == {4096}
    assert len(vpass.requests("tiny", READS, count=10**6).offset) == 20_000


def test_layers_have_limits_of_their_groups() -> None:
    drive = vpass.Drive("straw-2t-tlc", {"start.pec": 2000})
    groups = next(age.groups for age in vpass.explain(drive).ages if age.pec == 2000)
    limits = {group.name: group.limit for group in groups}
    geometry = drive.config["geometry"]
    layers = drive.layers
    assert len(layers) == geometry["wordlines_per_block"] // geometry["strings_per_layer"]
    assert all(limit >= limits[group] for group, limit in layers)
    assert {min(limit for of, limit in layers if of == group) for group in limits} == {
        *limits.values()
    }
