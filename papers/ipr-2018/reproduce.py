"""What is run for ipr-2018.

T.-C. Wu, Y.-P. Ma, L.-P. Chang, "Flash Read Disturb Management Using Adaptive Cell Bit-Density with
In-Place Reprogramming", DATE 2018.

Workloads, schedule and the rule for run lengths were fixed before any result was seen; volumes,
groups and the form of the drive after pilots of 2 to 16 GiB. The README says what they stand for,
and what differs from the first run, which the recipe `full` still is.
"""

import csv
import sys
from collections.abc import Iterable
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
import vpass
from common import Asked, Recipe, Run, main
from figures import REFUSED, Summary, csv_of, field_of, text
from loads import GIB, Variant, Workload, passes, settings_csv, size

FIVE = ["block", "redftl", "read-leveling", "hotld", "ipr"]
BY_READS = "flash.erases.reclaim"
ERASES = "flash.erases.reclaim flash.erases.gc flash.erases.wear"
TITLE = "IPR (DATE 2018): erases by cause, response times, wear and controller RAM"
# One stream of blocks in the order of addresses, so that a hot run of 512 KiB lies in one block and
# not in sixteen: "they quickly accumulated many read counts on a few flash blocks" (IV-B). The
# group "planes" has the other form. The volume lies on the drive once; the workload itself ages it.
DRIVE = {"geometry.channels": 1, "geometry.dies_per_channel": 1, "start.overwrite": 0}
SIXTEEN_DIES = {"geometry.channels": 8, "geometry.dies_per_channel": 2}
# Nearly to the end, so that blocks which are hardly read reach their threshold as often as in the
# long run.
PHASES = 0.99

BIN_MS, BINS = 50, 20
"""Width and number of the bins of response times. The last bin has no upper end."""


# Requests of 8 KiB make up the read and write traffic of a pass, and with it the share of reads.
# Registered: 95 % of the reads to 1 % of the pages, 90 % of the writes to another 5 %, in runs of
# 512 KiB; Websearch 60 % read-hot.
def workload(
    name: str,
    gib: int,
    requests: int,
    share: float,
    warm_up: float,
    counted: float,
    traces: str = "",
    run: str = "512KiB",
) -> Workload:
    """Return a workload on a volume, with its passes in the warm-up and in the counted part."""
    keys = {"requests": requests, "read_share": share, "block_size": "8KiB"}
    if share < 1.0:
        keys |= {"distribution": "hot-cold:0.01/0.95", "write_distribution": "hot-cold:0.05/0.9"}
        keys |= {"hot_sets": "disjoint"}
    else:
        keys |= {"distribution": "hot-cold:0.6/0.95"}
    volume = {"drive.capacity": f"{gib}GiB"}
    return Workload(name, keys | {"run": run}, volume, counted, warm_up, traces.split())


# Table II, eight of its nine volumes at 24 GiB with their traffic in proportion: what decides is
# how often a block is read and what share of the blocks is hot, which stays.
#
# Passes of the warm-up: 95,000 reads of a hot run, or as many passes as hold three cycles of 10,000
# reads of a block (one before its first refresh, one as a regular and one as a monitor block) and
# two lives of what the read-hot data lies in then. The slowest such life is that of a shadow block
# under Read Leveling: six fillings of 10,000 reads, of 30 pages, which are 1.9 runs, make 32,000
# reads of a run. Counted passes: three such lives, 97,500 reads of a run, the same for every
# technique, since their erases are compared. Under Websearch shadow blocks are sent back long
# before they have served a life, as a pilot of 2 GiB showed; there the life of a low-density block
# decides, 100,000 reads of 128 hot pages: 51 passes.
TABLE_2 = [
    workload("STG", 24, 4439298, 0.814570, 14, 14),  # 24 / 107 of 123 GiB read, 28 GiB written
    workload("USR", 24, 4439402, 0.884184, 13, 13),  # 24 / 569 of 710 GiB read, 93 GiB written
    workload("HM", 24, 3075823, 0.946970, 17, 17.5),  # 24 / 27 of 25 GiB read, 1.4 GiB written
    workload("MDS", 24, 899221, 0.962199, 57, 58.5),  # 24 / 509 of 140 GiB read, 5.5 GiB written
    workload("ADS", 24, 2809353, 0.975610, 18, 18.5),  # 24 / 101 of 88 GiB read, 2.2 GiB written
    workload("PROJ", 24, 4774575, 0.988275, 10.5, 10.7),  # 24 / 236 of 354 GiB read, 4.2 written
    workload("SRC", 24, 978287, 0.989399, 51, 52.5),  # 24 / 182 of 56 GiB read, 0.6 GiB written
    workload("WEB", 24, 7885061, 0.995178, 6.5, 6.5),  # 24 / 182 of 454 GiB read, 2.2 GiB written
    workload("Websearch", 17, 5373952, 1.0, 112, 153),  # 41 GiB read; writes "about 0"
]
# SRC with its hot data in fewer and longer runs: sixteen runs of 512 KiB in each.
LONG_RUNS = workload("SRC, runs of 8 MiB", 24, 978287, 0.989399, 51, 52.5, run="8MiB")

# Table II at its own volumes, which the paper's traces need. Passes of the warm-up: two and a half
# cycles of 10,000 reads of a block that holds one hot run, one life of 100,000 of a low-density
# block, and enough writes to use up the spare blocks. Counted passes: three such lives, the same
# for every technique, since their erases are compared.
SRC_TRACES = "src1_0 src1_1 src1_2 src2_0 src2_1 src2_2"
FULL = [
    workload("STG", 107, 19791872, 0.814570, 6, 5.5, "stg_0 stg_1"),
    workload("USR", 569, 105250816, 0.884184, 5, 5, "usr_0 usr_1 usr_2"),
    workload("HM", 27, 3460301, 0.946970, 7, 7, "hm_0 hm_1"),
    workload("MDS", 509, 19070976, 0.962199, 23, 22.5, "mds_0 mds_1"),
    workload("ADS", 101, 11822694, 0.975610, 8, 8, "ads_0 ads_1"),
    workload("PROJ", 236, 46949990, 0.988275, 5, 4.2, "proj_0 proj_1 proj_2 proj_3 proj_4"),
    workload("SRC", 182, 7418675, 0.989399, 23, 20, SRC_TRACES),
    workload("WEB", 182, 59795046, 0.995178, 6, 2.5, "web_0 web_1 web_2 web_3"),
    workload("Websearch", 17, 5373952, 1.0, 52, 114, "WebSearch1 WebSearch2 WebSearch3"),
]


def of_blocks(result: vpass.Result, _: Run) -> Summary:
    """Return the P/E counts of every block at the end of a run."""
    rows = list(csv.DictReader(result.ran.table("blocks.csv").decode().splitlines()))
    return {"blocks": [[row["pec_cycles"], row["effective_pec_cycles"]] for row in rows]}


def of_responses(result: vpass.Result, _: Run) -> Summary:
    """Return the numbers of reads that waited for a reclaim job, by response time."""
    bins = [0] * BINS
    latency = result.latency("read_during_reclaim")
    for us, count in zip(latency.us, latency.count, strict=True):
        bins[min(round(us * 1e3) // (BIN_MS * 10**6), BINS - 1)] += int(count)
    return {"responses_50_ms": bins}


def wear_rows(run: Run) -> Iterable[str]:
    """Return the P/E count and the effective P/E count of every block."""
    for block, (pec, effective) in enumerate(run.summary["blocks"]):
        yield f"{block},{pec},{effective}"


def response_rows(run: Run) -> Iterable[str]:
    """Return the reads that waited for a reclaim job, by response time."""
    if run.fell_behind:
        return [f",,{REFUSED}"]
    ends = [*(str(n * BIN_MS) for n in range(1, BINS)), ""]
    bins = run.summary["responses_50_ms"]
    return [f"{n * BIN_MS},{ends[n]},{count}" for n, count in enumerate(bins)]


def used_rows(run: Run) -> Iterable[str]:
    """Return the low-density blocks by the share of their limit that they had used."""
    bins = run.summary["reclaim"]["low_density_used"]
    every, done = float(max(sum(bins), 1)), 0
    for n, count in enumerate(bins, start=1):
        done += count
        yield f"{text(n / len(bins))},{count},{text(done / every)}"


def workloads_csv(recipe: Recipe, workloads: list[Workload]) -> str:
    """Return the size of the drive and the requests of a pass, for each generated workload."""
    lines = ["workload,volume_gib,read_share,read_gib_per_pass,write_gib_per_pass,distribution"]
    for one in workloads:
        keys, config = one.keys, recipe.drive.with_(one.set).config
        moved = float(keys["requests"]) * float(size(keys["block_size"]))
        share = keys["read_share"]
        volume = text(size(config["drive"]["capacity"]) / GIB)
        gib = [f"{moved * part / GIB:.2f}" for part in (share, 1.0 - share)]
        distribution = field_of(keys["distribution"])
        cells = [field_of(one.name), volume, text(share), *gib, distribution]
        lines.append(",".join(cells))
    return csv_of(lines)


def counted(recipe: Recipe, workloads: list[Workload]) -> None:
    """Add the groups and figures that the recipes `run` and `full` have in common."""
    by_name = {one.name: one for one in workloads}
    recipe.files["table1-settings"] = lambda: settings_csv(recipe.drive)
    untimed = {"gear": "untimed", "out_of_phase": PHASES}
    recipe.group(
        "counts", FIVE, workloads, [Variant("paper")], passes(), keep=of_blocks, **untimed
    )
    # "The workloads were replayed until wGC and rrGC contributed to stable fractions" (IV-A): do
    # the fixed lengths give the same? Under Websearch, which writes nothing, there is one share.
    recipe.group(
        "stable",
        ["block"],
        [by_name["HM"], by_name["SRC"]],
        [Variant("until stable")],
        passes(5, until_stable=True),
        **untimed,
    )
    # Fig. 10. The paper does not say how fast its requests come. Calibrated: 374 a second give the
    # Baseline the paper's mean of 261 us on sixteen dies (M/G/1 on each: 100 us of its own, 33 us
    # for every 10,000th that does a job of 331 ms, 128 us behind such a job).
    recipe.group(
        "responses",
        FIVE,
        [by_name["Websearch"]],
        [Variant("paper", SIXTEEN_DIES)],
        passes(10, rate=374),
        gear="timed",
        out_of_phase=PHASES,
        keep=of_responses,
    )
    # Controller RAM, which does not depend on what is served.
    recipe.group(
        "ram",
        FIVE,
        [by_name["HM"]],
        [Variant("128 GiB", {"drive.capacity": "128GiB"})],
        passes(0.001, 0),
        gear="untimed",
    )
    share = {"share_of": ERASES, "by_workload": True}
    fig_2(recipe)
    recipe.figure(
        "fig2-share-with-room",
        "Fig. 2 where blocks that GC erased on behalf of a reclaim job count for the reads",
        "counts",
        f"{BY_READS} reclaim.gc_erases",
        "share",
        **share,
    )
    until = "Fig. 2 where runs repeat until the shares are stable"
    recipe.figure("fig2-share-until-stable", until, "stable", BY_READS, "share", **share)
    by_all = {"over": "block", "over_metric": ERASES}
    for name, title, metric, unit, more in [
        ("fig9a-rr", "Fig. 9(a): erases because of reads, over all of Baseline's", BY_READS,
         "erases", by_all),
        ("fig9a-w", "Fig. 9(a): erases by GC and wear levelling, over all of Baseline's",
         "flash.erases.gc flash.erases.wear", "erases", by_all),
        ("rr-over-baseline", RR_OVER_BASELINE, BY_READS, "erases", {"over": "block"}),
        ("all-over-baseline", "All erases, over Baseline's", ERASES, "erases", {"over": "block"}),
        ("copies-over-baseline", "Pages programmed by reclaim and GC, over Baseline's",
         "flash.programs.reclaim flash.programs.gc", "pages", {"over": "block"}),
    ]:  # fmt: skip
        recipe.figure(name, title, "counts", metric, unit, by_workload=True, **more)
    outside = "reclaim.outside_pool"
    for name, title, technique, metric, unit, whole in [
        ("reprograms", "Blocks reprogrammed in place", "ipr", "reclaim.reprograms", "blocks", ""),
        ("ipr-rate", IPR_RATE, "ipr", "wear.ipr_rate", "share", ""),
        ("outside-pool", "Read-hot blocks at their limit that were not reprogrammed because they "
         "did not lie in the pool", "ipr", outside, "share", f"{outside} reclaim.reprograms"),
        ("pool-misses", "Read-hot blocks opened outside of the pool", "ipr",
         "reclaim.pool_misses", "share", "reclaim.pool_openings"),
        ("shadow-reuses", "Times that a shadow block's pages moved on within it before it was "
         "erased", "read-leveling", "reclaim.shadow_reuses", "times", "reclaim.shadow_erases"),
    ]:  # fmt: skip
        more = {"techniques": [technique], "share_of": whole, "by_workload": True}
        recipe.figure(name, title, "counts", metric, unit, **more)
    recipe.figure(
        "hotld-over-ipr",
        "Erases because of reads, HotLD over IPR",
        "counts",
        BY_READS,
        "erases",
        techniques=["hotld", "ipr"],
        over="ipr",
        by_workload=True,
    )
    mean_response(recipe)
    recipe.figure(
        "fig10-hump",
        "Fig. 10: reads that took 250 to 350 ms, over Baseline's",
        "responses",
        "responses_50_ms.5 responses_50_ms.6",
        "reads",
        over="block",
    )
    ram = "Controller RAM for the technique"
    recipe.figure("ram", ram, "ram", "controller_ram_bytes", "bytes")
    plots(recipe, "Websearch", ", Websearch")


RR_OVER_BASELINE = "Erases because of reads, over Baseline's"
IPR_RATE = "Share of the P/E cycles with a reprogramming, over the blocks that had any"


def fig_2(recipe: Recipe) -> None:
    """Add Fig. 2."""
    title = "Fig. 2: share of erases because of reads"
    more = {"share_of": ERASES, "by_workload": True}
    recipe.figure("fig2-share", title, "counts", BY_READS, "share", **more)


def mean_response(recipe: Recipe) -> None:
    """Add the mean response time."""
    title = "Mean response time of all reads"
    recipe.figure("fig10-mean", title, "responses", "latency_us.read.mean", "microseconds")


def plots(recipe: Recipe, of_wear: str, words: str) -> None:
    """Add the files with many points for each run."""
    responses = "Fig. 10: response times of reads that met a reclaim job"
    recipe.plot("fig10-responses", responses, "responses", "from_ms,to_ms,reads", response_rows)
    recipe.plot(
        "fig11-wear",
        f"Fig. 11: real and effective P/E counts over block addresses{words}",
        "counts",
        "block,pec_cycles,effective_pec_cycles",
        wear_rows,
        workload=of_wear,
    )
    recipe.plot(
        "fig9b-used",
        "Fig. 9(b): low-density blocks by the share of their limit that they had used when they "
        "were erased",
        "counts",
        "up_to_share,count,cumulative_share",
        used_rows,
        techniques=["hotld", "ipr"],
    )


def run(asked: Asked) -> Recipe:
    """Return the recipe of the figures, on volumes of 24 GiB."""
    more = {"expected": "expected.toml", "gc": "stable-greedy"}
    recipe = Recipe(asked, TITLE, "ipr-128g-tlc", DRIVE, **more)
    recipe.files["table2-workloads"] = lambda: workloads_csv(recipe, [*TABLE_2, LONG_RUNS])
    counted(recipe, TABLE_2)
    src = next(one for one in TABLE_2 if one.name == "SRC")
    untimed = {"gear": "untimed", "out_of_phase": PHASES}
    # The form of the first run: the pool's free blocks are anyone's, and blocks that lost no page
    # stay in it.
    shared = [Variant("shared pool", {"density.keep_pool": False})]
    recipe.group("shared-pool", ["ipr"], TABLE_2, shared, passes(), **untimed)
    # One plane or the preset's sixteen dies, and each reading of B_avg. On sixteen dies a stream
    # writes to sixteen blocks in turn, a page each, so that a run of 512 KiB lies in sixteen
    # blocks.
    forms = [("one plane", {}), ("sixteen dies", SIXTEEN_DIES)]
    plain = [Variant(f"{name}, blocks", keys) for name, keys in forms]
    averages = [
        Variant(f"{name}, {average}", keys | {"density.interval_average": average})
        for name, keys in forms
        for average in ("refreshes", "recent:64")
    ]
    two = ["block", "ipr"]
    every = [plain[0], *averages[:2], plain[1], *averages[2:]]
    recipe.group("planes", two, [src], every, passes(), **untimed)
    # The same after ten times the warm-up. On sixteen dies all blocks hold hot pages, two each, and
    # come to their limit once in 42 passes; only a tenth of them are monitored at a time.
    recipe.group("planes-late", two, [src], plain, passes(warm_up=510), **untimed)
    # What sixteen dies make of runs that leave sixteen pages in each of their blocks, as those of
    # 512 KiB do on one plane.
    recipe.group("long-runs", two, [LONG_RUNS], plain, passes(), **untimed)
    by_reads = "Erases because of reads"
    recipe.figure(
        "shared-rr",
        f"{by_reads}, IPR where the pool is shared",
        "shared-pool",
        BY_READS,
        "erases",
        by_workload=True,
    )
    recipe.figure(
        "shared-outside-pool",
        "Read-hot blocks not reprogrammed because they did not lie in the pool, where it is shared",
        "shared-pool",
        "reclaim.outside_pool",
        "share",
        share_of="reclaim.outside_pool reclaim.reprograms",
        by_workload=True,
    )
    recipe.figure(
        "shared-ipr-rate",
        "IPR rates where the pool is shared",
        "shared-pool",
        "wear.ipr_rate",
        "share",
        by_workload=True,
    )
    for group, words in [
        ("planes", "by planes and readings of B_avg"),
        ("planes-late", "by planes, after ten times the warm-up"),
        ("long-runs", "by planes, hot data in runs of 8 MiB"),
    ]:
        more_of = {"over": "block", "by_workload": True}
        title = f"{by_reads} over Baseline's, {words}"
        recipe.figure(f"{group}-rr", title, group, BY_READS, "erases", **more_of)
        title = f"All erases over Baseline's, {words}"
        recipe.figure(f"{group}-all", title, group, ERASES, "erases", **more_of)
    return recipe


def full(asked: Asked) -> Recipe:
    """Return the recipe of the first run.

    It has drives as large as the paper's volumes, and run lengths that leave Read Leveling's shadow
    blocks no three lives. It is for whoever has the paper's traces, which need the volumes:
    `--traces DIR`. Workloads, schedule and run lengths were fixed before any result was seen; the
    README says what they stand for.
    """
    more = {"expected": "expected.toml", "gc": "stable-greedy"}
    recipe = Recipe(asked, TITLE, "ipr-128g-tlc", DRIVE, **more)
    recipe.traces(FULL)
    recipe.files["table2-workloads"] = lambda: workloads_csv(recipe, FULL)
    counted(recipe, FULL)
    return recipe


def small(asked: Asked) -> Recipe:
    """Return the recipe on small drives, with the oracle watching.

    Full blocks and true limits, so that every technique has something to do, in the time that a
    test may take. More of the data is hot than in the full version, so that it fills whole blocks.
    Its figures are rough.
    """
    title = "IPR (DATE 2018), a small version"
    recipe = Recipe(asked, title, "ipr-128g-tlc", DRIVE | {"drive.capacity": "2GiB"})
    of_both = {"requests": 2_000_000, "block_size": "8KiB", "run": "512KiB"}
    of_99 = {"read_share": 0.99, "distribution": "hot-cold:0.05/0.95", "hot_sets": "disjoint"}
    of_99 |= {"write_distribution": "hot-cold:0.1/0.9"}
    only = {"read_share": 1.0, "distribution": "hot-cold:0.6/0.95"}
    workloads = [
        # A twentieth of the data, 17 blocks, takes nine tenths of the reads: 2 million are ten
        # thousand for each of the 205 hot runs.
        Workload("reads-99", of_both | of_99, passes=3, warm_up_passes=3),
        Workload("reads-only", of_both | only, passes=3, warm_up_passes=3),
    ]
    recipe.files["table1-settings"] = lambda: settings_csv(recipe.drive)
    recipe.files["table2-workloads"] = lambda: workloads_csv(recipe, workloads)
    watched = {"out_of_phase": 0.95, "oracle": "on"}
    untimed = watched | {"gear": "untimed", "keep": of_blocks}
    recipe.group("counts", FIVE, workloads, [Variant("paper")], passes(), **untimed)
    recipe.group(
        "responses",
        FIVE,
        workloads[1:],
        [Variant("paper", {"geometry.channels": 2, "geometry.dies_per_channel": 2})],
        passes(0.5, 1, rate=94),
        gear="timed",
        keep=of_responses,
        **watched,
    )
    fig_2(recipe)
    more = {"over": "block", "by_workload": True}
    recipe.figure("rr-over-baseline", RR_OVER_BASELINE, "counts", BY_READS, "erases", **more)
    more = {"techniques": ["ipr"], "by_workload": True}
    recipe.figure("ipr-rate", IPR_RATE, "counts", "wear.ipr_rate", "share", **more)
    mean_response(recipe)
    plots(recipe, "reads-only", "")
    return recipe


if __name__ == "__main__":
    main(__file__, {"run": run, "full": full, "small": small})
