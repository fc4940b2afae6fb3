"""What is run for ida-coding-2018.

W. Choi, M. Jung, M. Kandemir, "Invalid Data-Aware Coding to Enhance the Read Performance of
High-Density Flash Memories", MICRO 2018.

Drive, workloads, loads, periods and run lengths were fixed before any result was seen; the README
says what they stand for, and which rows came later.
"""

import csv
import json
import math
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))
import vpass
from common import Asked, Recipe, Run, main
from figures import Summary, at, csv_of, digits, field_of, mean_of, text
from loads import Requests, Shape, Variant, Workload, rounded

BOTH = ["block", "ida"]
READ_MEAN = "latency_us.read.mean"
ERASES = "flash.erases.refresh flash.erases.gc flash.erases.wear"
US = "microseconds"

UNIFORM = Workload("uniform", {"distribution": "uniform"})
# Nine tenths of the writes to a tenth of the pages, and no read of those.
SKEWED = Workload(
    "skewed",
    {
        "distribution": "hot-cold:0.9/1",
        "write_distribution": "hot-cold:0.1/0.9",
        "hot_sets": "disjoint",
    },
)
# Programs and erases take (nearly) no time: what is left there of a gain is not theirs.
FREE = {"timing.program_us": 0.001, "timing.erase_us": 0.001}
TWIN = " programs free"
"""Suffix of the variant without the time of programs and erases."""


def after_periods(
    before: float,
    reads: int | None = None,
    *,
    counted: float = 0.0,
    updates: float = 0.25,
    load: float = 0.0,
    read_share: float | None = None,
    queue_depth: int | None = None,
) -> Requests:
    """Let refresh periods pass before the counted requests, so that the data is old.

    In each period, the host updates a share of the pages with data. Then this number of page reads
    is counted, with the updates beside them; or `counted` periods in which the host only updates
    pages. All requests are for single pages in the filled part of the drive.
    """

    def requests(workload: Workload, drive: vpass.Drive, shape: Shape) -> dict[str, Any]:
        config = drive.config
        fill, period = config["start"]["fill"], vpass.duration_ns(config["refresh"]["period"])
        of_period = updates * float(math.floor(shape.pages * fill))
        update_rate = of_period / (period / 1e9)
        # Writes have their own distribution, so the addresses of updates are independent of the
        # addresses of reads.
        writes = workload.keys.get("write_distribution", workload.keys["distribution"])
        keys = {"block_size": config["geometry"]["page_size"], "footprint": fill}
        keys |= {"write_distribution": writes}
        only = keys | {"read_share": 0.0, "rate": update_rate}
        first = workload.with_keys(**only, requests=max(rounded(before * of_period), 1))
        if reads is None:
            then = workload.with_keys(**only, requests=max(rounded(counted * of_period), 1))
            return {"before": first, "workload": then}
        die_read_s = (shape.read_us + shape.page / shape.channel_mb_s) / 1e6
        busy = load * shape.dies
        if read_share is None:
            read_rate = busy / die_read_s
            share, rate = read_rate / (read_rate + update_rate), read_rate + update_rate
        else:
            mixed = read_share * die_read_s + (1.0 - read_share) * (shape.program_us / 1e6)
            share, rate = read_share, busy / mixed
        pace = {"rate": rate} if queue_depth is None else {"queue_depth": queue_depth}
        keys |= {"read_share": share, "requests": math.ceil(reads / share)} | pace
        return {"before": first, "workload": workload.with_keys(**keys)}

    return requests


def of_blocks(result: vpass.Result, _: Run) -> Summary:
    """Return the number of blocks that hold anything at the end of a run."""
    rows = csv.DictReader(result.ran.table("blocks.csv").decode().splitlines())
    return {"blocks": {"in_use": sum(row["written_pages"] != "0" for row in rows)}}


STAGES = "reads share faster wait_us sense_us channel_wait_us transfer_us retry_us".split()


def stage_rows(run: Run) -> Iterable[str]:
    """Return the stages of reads by page kind, and by the valid lower pages of the wordline."""
    stages = run.summary["page_reads"]
    cases = [case for by in ("by_kind", "by_validity") for case in sorted(stages[by].items())]
    for case, of_case in cases:
        cells = (json.dumps(of_case[key]).replace("e-0", "e-") for key in STAGES)
        yield f"{run.seed},{field_of(case)},{','.join(cells)}"


def gain(recipe: Recipe, name: str, title: str, group: str) -> None:
    """Add what ida gains on the mean read over block, taken apart, as shares of block's mean.

    ```text
    all              mean latency of block, minus that of ida
    sensing          mean sensing time of block, minus that of ida
    fewer programs   all, minus the gain in twins, where programs and erases take no time
    queueing         all - sensing - fewer programs
    ```
    """

    def mean(variant: str, technique: str, path: str) -> float:
        of_variant = [run for run in recipe.runs if (run.group, run.variant) == (group, variant)]
        runs = [run for run in of_variant if run.technique == technique]
        if any(run.fell_behind for run in runs):
            return math.nan
        return mean_of([at(run.summary, path) for run in runs])

    def less(variant: str, path: str) -> float:
        return mean(variant, "block", path) - mean(variant, "ida", path)

    def rows() -> list[tuple[str, list[float | None]]]:
        variants = dict.fromkeys(run.variant for run in recipe.runs if run.group == group)
        found: list[tuple[str, list[float | None]]] = []
        for variant in (one for one in variants if not one.endswith(TWIN)):
            every, alone = less(variant, READ_MEAN), less(variant + TWIN, READ_MEAN)
            sensing = less(variant, "page_reads.sense_us")
            whole = mean(variant, "block", READ_MEAN)
            shares = [every / whole, sensing / whole, (alone - sensing) / whole]
            shares.append((every - alone) / whole)
            is_known = not any(math.isnan(share) for share in shares)
            found.append((variant, [share if is_known else None for share in shares]))
        return found

    def as_csv() -> str:
        lines = [f"{field_of(variant)},{','.join(map(text, of))}" for variant, of in rows()]
        head = "variant,all,sensing,queueing,fewer_programs"
        return csv_of([f"# {title}", head, *lines])

    def grid() -> list[list[str]]:
        head = ["", "all", "sensing", "queueing", "fewer programs"]
        return [head, *([variant, *map(digits, of)] for variant, of in rows())]

    recipe.files[name] = as_csv
    about = f"{title} ({name}; share of the mean read latency under block)"
    recipe.tables[about] = grid


def group(
    recipe: Recipe,
    name: str,
    variants: list[Variant],
    requests: Requests,
    workloads: list[Workload] | None = None,
    gear: str = "timed",
    **options: Any,
) -> None:
    """Add a group of refresh techniques. Nothing is rewritten because of reads."""
    of_all = [UNIFORM] if workloads is None else workloads
    more = {"slot": "refresh", "gear": gear, "reclaim": "none", "keep": of_blocks}
    recipe.group(name, BOTH, of_all, variants, requests, **(more | options))


def both(variants: list[Variant]) -> list[Variant]:
    """Return variants, and then their twins without the time of programs and erases."""
    twins = [Variant(one.name + TWIN, one.set | FREE, requests=one.requests) for one in variants]
    return variants + twins


def run(asked: Asked) -> Recipe:
    """Return the recipe of the figures."""
    # Written once, in order, and as old as data may be; the updates of four periods then make the
    # state that lasts. A block waits for idle gaps in the last thousandth of its period only: the
    # period is what was fixed, and 22.4 hours of it last 80 s.
    recipe = Recipe(
        asked,
        "IDA coding (MICRO 2018): response time of reads, refresh overhead, blocks in use",
        "ida-512g-tlc",
        {"start.overwrite": 0, "start.fill": 0.5, "start.age": "22.4h", "refresh.period": "22.4h"}
        | {"refresh.block.lead": 0.001, "refresh.ida.lead": 0.001},
        expected="expected.toml",
    )
    # 100 blocks a plane, and a period of 30 days shortened as the drive is: a refresh takes the
    # same share of a die's time as on 3,213.
    small_planes = {"geometry.blocks_per_plane": 100}
    reads = 2_010_000
    staged = {"set": small_planes, "seeds": 3, "stages": True}
    plain = {"set": small_planes, "seeds": 3}
    two = [UNIFORM, SKEWED]
    rate = "refresh.ida.error_rate"
    only_invalid = {rate: 0.2, "refresh.ida.only_invalid": 1}
    variants = [Variant(f"E{share}", {rate: share / 100}) for share in (0, 20, 40, 80)]
    variants.append(Variant("E20 only invalid", only_invalid))
    group(recipe, "error-rates", variants, after_periods(4, reads, load=0.3), two, **staged)

    # Loads and fills. Nothing is cleaned in idle gaps: the periods before pass at once and leave GC
    # at its reserve, and a full drive would clean for all of the window. And the same where
    # programs and erases take (nearly) no time.
    def at_load(name: str, load: float, before: float = 4, **keys: Any) -> Variant:
        named = {key.replace("__", "."): value for key, value in keys.items()}
        requests = after_periods(before, reads, load=load)
        return Variant(f"{name}load {load}", named, requests=requests)

    day = "44.8min"
    fills = [(fill, load) for fill in (0.5, 0.9, 1.0) for load in (0.3, 0.6, 0.8)]
    variants = [at_load(f"fill {fill} ", load, start__fill=fill) for fill, load in fills]
    variants.append(at_load("period 1 d ", 0.3, start__age=day, refresh__period=day))
    no_background = {"set": small_planes | {"gc.background": 0}}
    group(recipe, "loads", both(variants), after_periods(4), **(staged | no_background))
    # All that the drive began with was refreshed at once, a fiftieth of a period ago.
    fresh = {"set": small_planes | {"start.age": "0s"}}
    variants = both([at_load("", load, before=1.02) for load in (0.3, 0.6, 0.7, 0.8)])
    group(recipe, "just-refreshed", variants, after_periods(1.02), **(staged | fresh))
    # Other devices: the step between page kinds (LSB as it was), and MLC.
    variants = [
        Variant("step 30 us", {"timing.sense_us": [50, 80, 110]}),
        Variant("step 50 us"),
        Variant("step 70 us", {"timing.sense_us": [50, 120, 190]}),
        Variant("MLC", {"geometry.cell": "mlc", "timing.sense_us": [65, 115]}),
    ]
    group(recipe, "devices", variants, after_periods(4, reads, load=0.3), **staged)
    # Error rates and retries of 72-layer TLC (as modern-tlc), data up to 30 days old; reads hardly
    # disturb anything.
    limits = [{"pec": pec, "limit": [2e7]} for pec in (0, 300, 2800, 3000)]
    tired = small_planes | {"refresh.period": "30d", "start.age": "30d", "disturb.model": "count"}
    tired |= {"disturb.table": limits, "error.model": "powerlaw", "error.e": 1.48e-3}
    tired |= {"error.a": 3.9e-10, "error.k": 2.05, "error.b": 6.28e-5, "error.m": 0.14}
    tired |= {"error.n": 0.54, "ecc.codeword": "4KiB", "ecc.retry_decode_us": [20, 20, 20, 20]}
    tired |= {"ecc.cap": [0.0085, 0.010625, 0.01328125, 0.0166015625, 0.020751953125]}
    lives = [Variant("early life", {"start.pec": 300}), Variant("late life", {"start.pec": 2800})]
    requests = after_periods(4, reads, load=0.3)
    group(recipe, "retries", lives, requests, **(staged | {"set": tired}))
    # As many reads at a time as data sheets name.
    requests = after_periods(4, reads, read_share=1.0, queue_depth=64)
    group(recipe, "throughput", [Variant("queue depth 64")], requests, two, **plain)
    # What refresh does in a period.
    variants = [
        Variant("fill 0.5 E0", {rate: 0}),
        Variant("fill 0.5 E20"),
        Variant("fill 0.5 E80", {rate: 0.8}),
        Variant("fill 0.9 E20", {"start.fill": 0.9}),
        Variant("fill 1.0 E20", {"start.fill": 1}),
    ]
    group(recipe, "overhead", variants, after_periods(4, counted=1), two, "untimed", **plain)
    # A write-intensive workload on a full drive, after four periods of few or many updates.
    full = plain | {"set": small_planes | {"start.fill": 1}}
    for name, share, words in [("", 0.25, "25 %"), ("-after-few", 0.05, "5 %")]:
        requests = after_periods(4, 180_000, updates=share, load=0.08, read_share=0.3)
        group(recipe, f"writes{name}", [Variant(f"updates {words}")], requests, **full)
    # The whole drive and the whole period, once.
    whole = {"start.age": "30d", "refresh.period": "30d"}
    requests, variants = after_periods(4, reads, load=0.3), [Variant("512 GiB 30 d")]
    group(recipe, "whole-drive", variants, requests, set=whole, stages=True)
    figures(recipe)
    return recipe


def figures(recipe: Recipe) -> None:
    """Add the figures of the recipe."""
    by_error_rate = "Mean response time of reads by the share of corrupted pages"
    over, by = {"over": "block"}, {"by_workload": True}
    for name, title, group, metric, unit, more in [
        ("response-by-error-rate", f"{by_error_rate}, over block", "error-rates", READ_MEAN, US,
         over | by),
        ("response-p99_9", "99.9th percentile of the response time of reads, over block",
         "error-rates", "latency_us.read.p99_9", US, over | by),
        ("sensing", SENSING, "error-rates", "page_reads.sense_us", US, over | by),
        ("faster-reads", FASTER, "error-rates", "page_reads.faster", "share",
         {"share_of": "page_reads.reads"} | by),
        ("response-by-load", "Mean response time of reads by fill, load and period, over block",
         "loads", READ_MEAN, US, over),
        ("response-just-refreshed", "The same just after a refresh", "just-refreshed", READ_MEAN,
         US, over),
        ("response-by-device", "Mean response time of reads by the step between page kinds, and of "
         "MLC, over block", "devices", READ_MEAN, US, over),
        ("response-by-life", "Mean response time of reads early and late in life, over block",
         "retries", READ_MEAN, US, over),
        ("retries", "Retries a page read", "retries", "retries.mean", "retries", {}),
        ("throughput", "Page reads a second, over block", "throughput", "throughput.read_iops",
         "reads_per_second", over | by),
        ("response-whole-drive", "Mean response time of reads on the whole drive, over block",
         "whole-drive", READ_MEAN, US, over),
    ]:  # fmt: skip
        recipe.figure(name, title, group, metric, unit, **more)
    stages(recipe, "error-rates")
    gain(recipe, "gain", "What ida gains on the mean read, taken apart", "loads")
    title = "What ida gains just after a refresh, taken apart"
    gain(recipe, "gain-just-refreshed", title, "just-refreshed")
    jobs, ida = {"share_of": "refresh.invocations"}, {"techniques": ["ida"]}
    programs = "flash.programs.host flash.programs.refresh flash.programs.gc"
    for name, title, metric, unit, more in [
        ("refresh-jobs", "Blocks refreshed in a period", "refresh.invocations", "blocks", {}),
        ("refresh-reads", "Pages read by refresh for each block refreshed", "flash.reads.refresh",
         "pages", jobs),
        ("refresh-programs", PROGRAMS, "flash.programs.refresh", "pages", jobs),
        ("refresh-merges", MERGES, "flash.reprograms.refresh", "wordlines", jobs),
        ("refresh-corrupted", "Pages that merging corrupted, for each block refreshed",
         "refresh.corrupted_pages", "pages", jobs | ida),
        ("merged-blocks", "Blocks with merged wordlines, at the end", "refresh.merged_blocks",
         "blocks", ida),
        ("extra-blocks", "Of those, blocks that the same data would do without",
         "refresh.extra_blocks", "blocks", ida),
        ("programs-a-period", "Pages programmed in a period, whatever their cause, over block",
         programs, "pages", over),
        ("erases-a-period", "Blocks erased in a period, over block", ERASES, "blocks", over),
        ("blocks-in-use", IN_USE, "blocks.in_use", "blocks", over),
    ]:  # fmt: skip
        recipe.figure(name, title, "overhead", metric, unit, **by, **more)
    full, few = "Write-intensive on a full drive", "The same after four periods with few updates"
    for name, title, metric, unit, words in [
        ("gc-erases", "blocks that GC cleaned", "flash.erases.gc", "blocks", (full, few)),
        ("erases", "blocks erased", ERASES, "blocks", (full, few)),
        ("response", "mean response time of reads", READ_MEAN, US, (full, few)),
        ("latency", "mean latency of writes", "latency_us.write.mean", US, (full,)),
    ]:  # fmt: skip
        for group, of in zip(("writes", "writes-after-few"), words, strict=False):
            of_title = f"{of}: {title}, over block"
            recipe.figure(f"{group}-{name}", of_title, group, metric, unit, over="block")


SENSING = "Mean sensing time of a read, over block"
FASTER = "Share of the reads that take less sensing than their page kind in full density"
PROGRAMS = "Pages programmed by refresh for each block refreshed"
MERGES = "Wordlines merged for each block refreshed"
IN_USE = "Blocks that hold anything, over block"


def stages(recipe: Recipe, group: str) -> None:
    """Add the file with the stages of page reads."""
    title = "Page reads by page kind and by which lower pages of the wordline are valid; means of "
    columns = f"seed,case,{','.join(STAGES)}"
    name = "reads-by-kind-and-validity"
    recipe.plot(name, f"{title}their stages", group, columns, stage_rows)


def beyond(asked: Asked) -> Recipe:
    """Return a recipe that is not in the paper.

    Wordlines whose LSB page is gone are merged between refreshes, too, in blocks that GC passes
    over (refresh.ida.at_gc), beside the paper's form and beside merging such wordlines alone.
    Drive, load and periods are those of the recipe `run`.
    """
    recipe = Recipe(
        asked,
        "IDA coding beyond the paper: merging where GC passes over",
        "ida-512g-tlc",
        {"geometry.blocks_per_plane": 100, "start.overwrite": 0, "start.age": "22.4h"}
        | {"refresh.period": "22.4h", "refresh.block.lead": 0.001, "refresh.ida.lead": 0.001}
        | {"gc.background": 0},
    )
    at_gc, only = {"refresh.ida.at_gc": 1}, {"refresh.ida.only_invalid": 1}
    almost, full = {"start.fill": 0.9}, {"start.fill": 1}
    variants = [
        Variant("fill 0.9", almost),
        Variant("fill 0.9 at_gc", almost | at_gc),
        Variant("fill 0.9 only_invalid", almost | only),
        Variant("fill 0.9 only_invalid at_gc", almost | only | at_gc),
        Variant("fill 1.0", full),
        Variant("fill 1.0 at_gc", full | at_gc),
    ]
    requests = after_periods(4, 500_000, load=0.3)
    group(recipe, "between", variants, requests, seeds=3, stages=True)
    response = "Mean response time of reads, over block"
    recipe.figure("response", response, "between", READ_MEAN, US, over="block")
    recipe.figure("sensing", SENSING, "between", "page_reads.sense_us", US, over="block")
    share = {"share_of": "page_reads.reads"}
    recipe.figure("faster-reads", FASTER, "between", "page_reads.faster", "share", **share)
    return recipe


def small(asked: Asked) -> Recipe:
    """Return the recipe on 64 of the same blocks.

    The oracle watches where reads are not taken apart. Its figures are rough.
    """
    recipe = Recipe(
        asked,
        "IDA coding (MICRO 2018), a small version",
        "ida-512g-tlc",
        {"geometry.channels": 1, "geometry.dies_per_channel": 2, "geometry.planes_per_die": 1}
        | {"geometry.blocks_per_plane": 32, "drive.spare": 0.2, "start.overwrite": 0}
        | {"start.fill": 0.5, "start.age": "3.6h", "refresh.period": "3.6h"}
        | {"refresh.block.lead": 0.02, "refresh.ida.lead": 0.02},
    )
    reads, watched = 100_000, {"oracle": "on"}
    variants = [Variant("E20"), Variant("E80", {"refresh.ida.error_rate": 0.8})]
    requests = after_periods(4, reads, load=0.3)
    group(recipe, "error-rates", variants, requests, **watched)
    # So short a period that refresh is at work all the time, in the gear in which it takes some.
    short = {"start.age": "10min", "refresh.period": "10min"}
    group(recipe, "busy", [Variant("10 min")], requests, [SKEWED], set=short, **watched)
    requests = after_periods(1.05, reads, load=0.7)
    loads = both([Variant("load 0.7")])
    fresh = {"start.age": "0s"}
    group(recipe, "loads", loads, requests, set=fresh, seeds=2, stages=True)
    requests = after_periods(4, counted=4)
    group(recipe, "overhead", [Variant("E20")], requests, [UNIFORM, SKEWED], "untimed", **watched)
    by_error_rate = "Mean response time of reads by the share of corrupted pages, over block"
    name = "response-by-error-rate"
    recipe.figure(name, by_error_rate, "error-rates", READ_MEAN, US, over="block")
    busy = "Wordlines merged while reads are timed"
    recipe.figure("busy-merges", busy, "busy", "flash.reprograms.refresh", "wordlines")
    gain(recipe, "gain", "What ida gains just after a refresh, taken apart", "loads")
    stages(recipe, "loads")
    jobs = {"share_of": "refresh.invocations", "by_workload": True}
    programs = "flash.programs.refresh"
    over = {"over": "block"}
    recipe.figure("refresh-programs", PROGRAMS, "overhead", programs, "pages", **jobs, **over)
    merges = "flash.reprograms.refresh"
    recipe.figure("refresh-merges", MERGES, "overhead", merges, "wordlines", **jobs)
    by = {"by_workload": True, "over": "block"}
    recipe.figure("blocks-in-use", IN_USE, "overhead", "blocks.in_use", "blocks", **by)
    return recipe


if __name__ == "__main__":
    main(__file__, {"run": run, "beyond": beyond, "small": small})
