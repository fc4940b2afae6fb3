"""Recipes of papers: small versions write what is recorded, and the long ones can run."""

from __future__ import annotations

import csv
import hashlib
import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import vpass

ROOT = Path(__file__).parents[2]
PAPERS = ROOT / "papers"
NAMES = sorted(program.parent.name for program in PAPERS.glob("*/reproduce.py"))
RECORD = Path(__file__).with_name("papers.txt")
"""Digests of the files of each small version. The first ones are of files that the former command in
Rust wrote; `python python/tests/test_papers.py` takes them again."""

sys.path.append(str(PAPERS))
import common  # noqa: E402
import figures  # noqa: E402
import loads  # noqa: E402


def reproduced(paper: str, out: Path, *words: str) -> str:
    """Run a recipe of a paper, and return what it prints."""
    program = PAPERS / paper / "reproduce.py"
    given = [sys.executable, str(program), *words, "--out", str(out)]
    done = subprocess.run(given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def digests(paper: str, out: Path) -> dict[str, str]:
    """Return a digest of each file with figures or settings."""
    reproduced(paper, out, "--small", "--fresh")
    files = sorted(out.glob("*.csv"))
    return {
        f"{paper}/{file.name}": hashlib.sha256(file.read_bytes()).hexdigest()[:16] for file in files
    }


@pytest.mark.parametrize("paper", NAMES)
def test_a_small_version_writes_what_is_recorded(paper: str, tmp_path: Path) -> None:
    lines = [line.split() for line in RECORD.read_text().splitlines()]
    recorded = {name: digest for digest, name in lines if name.startswith(f"{paper}/")}
    assert digests(paper, tmp_path) == recorded


@pytest.mark.parametrize("paper", NAMES)
def test_every_recipe_can_run_and_its_figures_are_those_expected(paper: str) -> None:
    module = runpy.run_path(str(PAPERS / paper / "reproduce.py"))
    folder = PAPERS / paper
    for name in {"run", "small", "full", "beyond", "life", "hc"} & set(module):
        recipe = module[name](common.Asked(folder))
        known = {figure.name for figure in recipe.figures}
        assert {entry.figure for entry in recipe.expected} <= known, name
        groups = {run.group for run in recipe.runs}
        assert {figure.group for figure in recipe.figures} <= groups, name
        firsts = {(run.group, run.variant): run for run in reversed(recipe.runs)}
        for run in firsts.values():
            vpass._vpass.effective(vpass.asked.asked(**run.options))


def test_one_drive_lives_through_the_stages_of_da_raid5(tmp_path: Path) -> None:
    reproduced("da-raid5-2013", tmp_path, "life")
    summary = json.loads((tmp_path / "runs.json").read_text())[0]["summary"]
    assert summary["data_lost_pages"] == 0 and summary["oracle"]["findings"] == []
    life = summary["parity"]["by_wear"]["life"]
    stages = life["stages"]
    assert [stage["stage"] for stage in stages] == [1, 2, 3]
    for key in ("read_requests", "write_requests", "write_pages"):
        assert sum(stage[key] for stage in stages) == summary["host"][key]
    for cause in ("host", "gc", "parity"):
        programs = summary["flash"]["programs"][cause]
        assert sum(stage["programs"][cause] for stage in stages) == programs
    parity = [stage["programs"]["parity"] for stage in stages]
    assert parity[0] == 0 < parity[1] < parity[2]
    assert [stage["from_s"] for stage in stages[1:]] == life["began_s"]
    # The second stage ends when more than 448 stripes have a page in a worn block.
    protected = [stage["protected_stripes"] for stage in stages]
    assert protected[0] == 0 and 400 < protected[1] < 500
    assert protected[2] == summary["parity"]["parity_pages"]
    # Each stripe needs 8 x 400 us of reads and 3.3 ms for its parity, and nine dies share the work.
    formed_s = life["all_seen_to_s"] - life["began_s"][1]
    assert formed_s > (protected[2] - protected[1]) * 6.5e-3 / 9
    assert stages[2]["to_s"] > life["all_seen_to_s"]

    def of_reads(part: Any) -> float:
        mean: float = part["latency_us"]["read"]["mean"]
        requests = part.get("host", part)["read_requests"]
        return mean * float(requests)

    assert sum(map(of_reads, stages)) == pytest.approx(of_reads(summary), rel=1e-3)


def entry(**more: Any) -> figures.Expected:
    given = {"source": "s", "what": "w", "figure": "f", "variant": "v", "reclaim": "r"}
    return figures.Expected.of(given | {"value": 0.5} | more)


def test_a_size_agrees_within_its_tolerance_and_a_direction_on_the_same_side() -> None:
    close, refused = entry(tolerance=0.1), figures.REFUSED
    assert [close.verdict(here, 0.0) for here in (0.54, 0.56)] == ["agrees", "differs"]
    assert entry(tolerance=0.1, calibrated=True).verdict(0.5, 0.0) == "agrees, by calibration"
    # The paper's gain is 6.1 %. Gains of 3.1 to 9.1 % agree with it, and larger ones have the right
    # direction. A loss, or no gain at all, disagrees. The tolerance alone would accept all these.
    small = entry(value=0.939, tolerance=0.1, change_within=0.5)
    verdicts = [small.verdict(here, 0.0) for here in (0.91, 0.969, 0.869, 0.98, 0.998, 1.02)]
    assert verdicts == ["agrees"] * 2 + ["direction only"] * 2 + ["disagrees"] * 2
    # A gain of 42.1 % in the paper: within half of it, and outside the tolerance.
    large = entry(value=0.579, tolerance=0.1, change_within=0.5)
    assert large.verdict(0.384, 0.0) == "direction only"
    side, below = entry(direction_only=True), entry(direction_only=True, below="x")
    above = entry(direction_only=True, above="x")
    sides = [side.verdict(here, 0.0) for here in (0.99, 1.0, 1.5)]
    assert sides == ["direction only", "disagrees", "disagrees"]
    assert [below.verdict(2.0, 3.0), below.verdict(3.0, 3.0)] == ["direction only", "disagrees"]
    assert [above.verdict(0.2, 0.1), above.verdict(0.1, 0.2)] == ["direction only", "disagrees"]
    assert [below.verdict(2.0, None), side.verdict(None, 0.0)] == ["no number"] * 2
    assert [close.verdict(refused, 0.0), below.verdict(2.0, refused)] == [refused] * 2
    for wrong in ({}, {"direction_only": True, "tolerance": 0.1}, {"value": None, "tolerance": 0.1}):
        with pytest.raises(ValueError, match="is expected"):
            entry(**wrong)


def test_numbers_are_written_with_all_digits() -> None:
    written = [figures.text(number) for number in (5.0, 1e-7, 1e21, 0.1, -0.0, None)]
    assert written == ["5", "0.0000001", "1" + "0" * 21, "0.1", "-0", ""]
    shown = [figures.digits(number) for number in (1234.5, 99.94, 9.99, 0.05, 1e-4, None)]
    assert shown == ["1,235", "99.9", "9.99", "0.050", "1.0e-4", "-"]


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(line for line in text.splitlines() if not line.startswith("#")))


def recipe_of_two(traces: Path | None) -> common.Recipe:
    """Return a recipe with two workloads: a trace can replace one, another runs beside the other."""
    recipe = common.Recipe(common.Asked(PAPERS / "test", 1, traces), "two", "tiny", {})
    src = loads.Workload("SRC", {"requests": 500}, traces=["src1_2"])
    mixed = loads.Workload('a, "b"', {"requests": 400, "read_share": 0.5})
    real = loads.Workload("hm, real", {}, traces=["hm_0"], beside=[mixed.name])
    recipe.traces([src, mixed, real])
    variants = [loads.Variant("v"), loads.Variant("w", {"start.pec": 1})]
    techniques, requests = ["none", "block"], loads.passes(2)
    recipe.group("g", techniques, [src, mixed], variants, requests, gear="untimed", seeds=2)
    over = {"over": "none", "sums": True, "without": ["SRC"], "by_workload": True}
    recipe.figure("f", "requests", "g", "host.read_requests host.write_requests", "n, all", **over)
    recipe.make_runs(2)
    return recipe


def test_real_traces_take_the_place_of_workloads_or_stand_beside_them(tmp_path: Path) -> None:
    row = "{},host,2,{},{},4096,100\n"
    reads = [row.format(128_166_372_000_000_000 + n, "Read", 8192 * n) for n in range(3)]
    without = recipe_of_two(None)
    figure = rows(figures.Numbers(without.figures[0], without.runs).csv())
    assert figure[0] == ["variant", "workload", "seed", "reclaim", "n, all", "over_none"]
    assert figure[1] == ["v", "SRC", "1", "none", "1000", "1"]
    assert figure[5] == ["v", 'a, "b"', "1", "none", "800", "1"]
    assert ["v", "mean without SRC", "mean", "block", "", "1"] in figure
    with pytest.raises(vpass.UsageError, match=r"names known: src1_2, hm_0"):
        recipe_of_two(tmp_path)
    (tmp_path / "SRC1_2.csv").write_text("".join(reads))
    (tmp_path / "hm_0.csv").write_text("".join(reads[:2]))
    found = recipe_of_two(tmp_path)
    figure = rows(figures.Numbers(found.figures[0], found.runs).csv())
    assert figure[1] == ["v", "SRC", "1", "none", "6", "1"], "two passes over three reads"
    assert figure[9] == ["v", "hm, real", "1", "none", "4", "1"]
    numbers = figures.Numbers(found.figures[0], found.runs)
    sums = [numbers.mean(kind, "v", "block") for kind in ("all", "without", "sums")]
    assert sums == [1.0, 1.0, 1.0] and len(numbers.rows) == 24


def test_a_run_that_cannot_keep_up_gives_no_number_and_the_others_go_on() -> None:
    recipe = common.Recipe(common.Asked(PAPERS / "test"), "load", "tiny", {})
    of_rate = {"slow": 1e3, "fast": 1e8}
    workloads = [
        loads.Workload(name, {"requests": 20_000, "rate": rate}) for name, rate in of_rate.items()
    ]
    variants = [loads.Variant("v")]
    recipe.group("g", ["block"], workloads, variants, loads.passes(), gear="timed")
    recipe.figure("f", "latency", "g", "latency_us.read.p50", "us", by_workload=True)
    recipe.make_runs(1)
    numbers = figures.Numbers(recipe.figures[0], recipe.runs)
    table = rows(numbers.csv())
    assert table[2] == ["v", "fast", "block", figures.REFUSED]
    assert table[3] == ["v", "mean", "block", figures.REFUSED] and float(table[1][3]) > 10
    assert "fast block: " in recipe.runs[1].said()[0]


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as room:
        every = [digests(paper, Path(room) / paper) for paper in NAMES]
    lines = [f"{digest} {name}\n" for of_paper in every for name, digest in of_paper.items()]
    RECORD.write_text("".join(lines))
