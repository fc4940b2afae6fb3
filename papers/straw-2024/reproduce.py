"""What is run for straw-2024.

M. Chun, J. Lee, I. Choi, J. Park, M. Kim, J. Kim, "STRAW: A Stress-Aware WL-Based Read Reclaim
Technique for High-Density NAND Flash-Based SSDs", IEEE Computer Architecture Letters, 2024.

Drive, workloads, load and run lengths were fixed before the results of this form were seen. The
README says what they stand for, and what the first form of this recipe was.
"""

import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))
import vpass
from common import Asked, Recipe, main
from figures import csv_of, field_of, text
from loads import Requests, Shape, Variant, Workload, rounded

PLANE = {"geometry.channels": 1, "geometry.dies_per_channel": 1, "geometry.planes_per_die": 1}
COPIES = "reclaim.pages_copied flash.programs.gc"
READ = "host.read_pages"
# Largest random read count at the start, as a share of the technique's first threshold. Below 1, no
# block starts at the threshold: a block that gets only few reads during a run stays below it.
PHASES = 0.95


def workload(name: str, distribution: str, share: float, **more: str) -> Workload:
    """Return a workload with this share of reads."""
    keys = {"distribution": distribution, "read_share": share, "block_size": "16KiB"}
    return Workload(name, keys | more)


UNIFORM = workload("uniform", "uniform", 1.0)
SEQUENTIAL = workload("sequential", "sequential", 1.0, block_size="128KiB")
# The registered workloads are these six.
REGISTERED = [
    UNIFORM,
    SEQUENTIAL,
    workload("zipf-0.9-runs", "zipf:0.9", 0.99, run="1MiB"),
    workload("zipf-1.2-runs", "zipf:1.2", 0.95, run="1MiB"),
    workload("zipf-0.9-pages", "zipf:0.9", 0.99),
    workload("hot-cold", "hot-cold:0.1/0.9", 0.95),
]
# The same skews without writes: what of a result is the writes'.
ONLY_READS = [
    workload("zipf-0.9-runs-reads", "zipf:0.9", 1.0, run="1MiB"),
    workload("zipf-1.2-runs-reads", "zipf:1.2", 1.0, run="1MiB"),
    workload("zipf-0.9-pages-reads", "zipf:0.9", 1.0),
    workload("hot-cold-reads", "hot-cold:0.1/0.9", 1.0),
]
SIX = [one.name for one in REGISTERED]
SIX_READS = [one.name for one in [UNIFORM, SEQUENTIAL, *ONLY_READS]]


def on_blocks(
    reads: float,
    warm_up_reads: float,
    cycles: float | None = None,
    warm_up_cycles: float | None = None,
    load: float | None = None,
    blocks: int | None = None,
) -> Requests:
    """Read a set of blocks from the first address on: by default, all that the host's data fills.

    A run ends after this number of cycles, whose erases are the technique's own, and at the latest
    after this mean number of reads of a block.
    """

    def requests(workload: Workload, _: vpass.Drive, shape: Shape) -> dict[str, Any]:
        set_blocks = shape.pages / shape.pages_per_block if blocks is None else float(blocks)
        of_request = shape.pages_of_request(workload.keys)

        def count(reads_per_block: float) -> int:
            read_share = max(workload.keys["read_share"], 0.01)
            return rounded(reads_per_block * set_blocks / of_request / read_share)

        first = count(warm_up_reads)
        keys = {
            "requests": max(count(reads) + first, 1),
            "footprint": min(set_blocks * shape.pages_per_block / shape.pages, 1.0),
        }
        if load is not None:
            keys["rate"] = shape.rate(workload.keys, load)
        made = {"workload": workload.with_keys(**keys), "warm_up": first}
        if cycles is not None or warm_up_cycles is not None:
            made["cycles"] = vpass.Cycles(set_blocks, cycles, warm_up_cycles)
        return made

    return requests


def frozen(drive: vpass.Drive) -> vpass.Drive:
    """Return the drive with read limits that stay at their values for `start.pec`."""
    config = drive.config
    rows = [row for row in config["disturb"]["table"] if row["pec"] == config["start"]["pec"]]
    if not rows:
        raise vpass.UsageError(f"disturb.table has no row for start.pec={config['start']['pec']}")
    return drive.with_({"disturb.table": rows})


def model(recipe: Recipe) -> None:
    """Add the files of the drive's error model."""
    drive = recipe.drive
    pecs = [row["pec"] for row in drive.config["disturb"]["table"]]
    ages = [age for age in vpass.explain(drive).ages if age.pec in pecs]
    groups = [(age.pec, group) for age in ages for group in age.groups]

    def parameters() -> str:
        lines = [
            f"{pec},{field_of(group.name)},{text(group.limit)},{text(group.alpha)}"
            for pec, group in groups
        ]
        return csv_of(["pec_cycles,group,limit_reads,alpha", *lines])

    def layers() -> str:
        lines = [
            f"{layer},{field_of(group)},{text(limit)}"
            for layer, (group, limit) in enumerate(drive.layers)
        ]
        return csv_of(["layer,group,limit_reads", *lines])

    def mixes() -> str:
        """Return the reads that the weakest wordline of each group endures, by share of reads."""
        lines = []
        for pec, group in groups:
            for share in [step / 10.0 for step in range(11)]:
                reads = group.limit / (1.0 + (group.alpha - 1.0) * share) // 1
                lines.append(f"{pec},{field_of(group.name)},{text(share)},{text(reads)}")
        return csv_of(["pec_cycles,group,share_on_neighbours,reads", *lines])

    recipe.files["fig5-parameters"] = parameters
    recipe.files["fig1b-layers"] = layers
    recipe.files["fig4-mixes"] = mixes


def run(asked: Asked) -> Recipe:
    """Return the recipe of the figures."""
    # Written once, in order; a group's warm-up then makes each technique's own state.
    recipe = Recipe(
        asked,
        "STRAW (IEEE CAL 2024): read-reclaim copies, tail latencies and controller RAM",
        "straw-2t-tlc",
        {"start.overwrite": 0},
        expected="expected.toml",
    )
    model(recipe)
    four = ["block", "page-type", "straw-ss", "straw-wl"]
    full = PLANE | {"start.fill": 1}
    at_7_4 = {"drive.spare": 0.074, "geometry.blocks_per_plane": 163}
    at_20 = {"drive.spare": 0.2, "geometry.blocks_per_plane": 141}
    untimed = {"gear": "untimed", "out_of_phase": PHASES}
    # One plane of the drive's blocks, all of it in use; 163 of them where 7.4 % are spare, for open
    # blocks and GC's reserve take 12. A run ends when the technique's own erases have gone three
    # times round the blocks that hold the host's data; a technique that copies a fifteenth of the
    # pages reads fifteen times as long.
    recipe.group(
        "counts",
        ["block", "page-type", "straw-ss-published", "straw-ss", "straw-ss-sound", "straw-wl"],
        [*REGISTERED, *ONLY_READS],
        [
            Variant("1000 spare 7.4 %", {"start.pec": 1000} | at_7_4, four),
            Variant("2000 spare 7.4 %", {"start.pec": 2000} | at_7_4),
            Variant("2000 spare 20 %", {"start.pec": 2000} | at_20, four),
        ],
        on_blocks(2_100_000, 1_200_000, cycles=3.0, warm_up_cycles=1.0),
        set=full,
        prepare=frozen,
        **untimed,
    )
    # Fig. 3 follows from the calibration where the wordlines of a block are read alike.
    recipe.group(
        "ideal",
        ["ideal", "block"],
        [UNIFORM, SEQUENTIAL],
        [Variant(str(pec), {"start.pec": pec}) for pec in (1000, 2000)],
        on_blocks(3_000_000, 1_200_000, cycles=3.0, warm_up_cycles=1.0),
        set=full | at_20,
        prepare=frozen,
        **untimed,
    )
    # The same plane on a die of its own, which the host keeps busy for a quarter of the time; about
    # ten minutes of it. A wordline programmed in 253 us writes the 194 MB/s of the die that the
    # paper refers to; a page in 380 us is Table I to the letter.
    table_1 = {"timing.program_unit": "page", "timing.program_us": 380}
    forms = [(1000, "batch:24", "wordline 253", {})]
    for form, keys in (("wordline 253", {}), ("page 380", table_1)):
        forms += [(2000, one, form, keys) for one in ("batch:24", "foreground", "deadline")]
    recipe.group(
        "tails",
        ["block", "straw-ss", "straw-wl"],
        REGISTERED,
        [
            Variant(
                f"{pec} {schedule} {form}", {"start.pec": pec, "reclaim.schedule": schedule} | keys
            )
            for pec, schedule, form, keys in forms
        ],
        on_blocks(30_000, 1_200_000, warm_up_cycles=0.5, load=0.25),
        set=full | at_7_4,
        prepare=frozen,
        gear="timed",
        out_of_phase=PHASES,
    )
    # The first form of this recipe, so far as it takes to get its numbers again: 48 blocks of the
    # whole drive, thousands of others free.
    recipe.group(
        "first-form",
        ["block", "straw-ss", "straw-wl"],
        [UNIFORM],
        [Variant("2000", {"start.pec": 2000})],
        on_blocks(2_100_000, 600_000, blocks=48),
        set={"start.fill": 0.8},
        **untimed,
    )
    recipe.figure(
        "fig3-copies-over-ideal",
        "Fig. 3: pages copied by reclaim and GC for each page read, over ideal",
        "ideal",
        COPIES,
        "copies",
        share_of=READ,
        over="ideal",
        by_workload=True,
    )
    alone = "reclaim.pages_copied"
    for name, title, metric, workloads in [
        ("-with-gc", "Fig. 8, with what GC copies: pages copied for each page read", COPIES, SIX),
        ("-with-gc-reads", "The same where nothing is written", COPIES, SIX_READS),
        ("", "Fig. 8, by reclaim alone: pages copied for each page read", alone, SIX),
        ("-reads", "The same where nothing is written", alone, SIX_READS),
    ]:
        recipe.figure(
            f"fig8-copies{name}",
            title if "same" in title else f"{title}, over block",
            "counts",
            metric,
            "copies",
            share_of=READ,
            over="block",
            by_workload=True,
            workloads=workloads,
        )
    recipe.figure(
        "erases",
        "Erases for each page read, whatever their cause, over block",
        "counts",
        "flash.erases.reclaim flash.erases.gc flash.erases.wear",
        "erases",
        share_of=READ,
        over="block",
    )
    cycles(recipe)
    p99_9 = "latency_us.read.p99_9"
    tail(recipe, "fig9-p99_9", FIG_9, p99_9, over="block", by_workload=True)
    caption = "Fig. 9, as its caption says: 99th percentile"
    tail(recipe, "fig9-p99", caption, "latency_us.read.p99", over="block")
    tail(recipe, "mean-read", "Mean read latency, over block", "latency_us.read.mean", over="block")
    tail(recipe, "p99_9-us", "99.9th percentile of read latency", p99_9, by_workload=True)
    recipe.figure(
        "first-form-copies",
        "The first form of Fig. 8: pages copied by reclaim, over block",
        "first-form",
        "reclaim.pages_copied",
        "pages",
        over="block",
        by_workload=True,
    )
    ram = "Controller RAM for the technique, on the whole drive"
    recipe.figure("ram", ram, "first-form", "controller_ram_bytes", "bytes")
    return recipe


FIG_9 = "Fig. 9: 99.9th percentile of read latency, over block"


def tail(recipe: Recipe, name: str, title: str, metric: str, **more: Any) -> None:
    """Add a figure of latencies."""
    recipe.figure(name, title, "tails", metric, "microseconds", **more)


def cycles(recipe: Recipe) -> None:
    """Add the figure of the length of the runs."""
    title = "Cycles of the blocks that are read, by the technique's own erases, in what counts"
    recipe.figure("cycles", title, "counts", "cycles.counted", "cycles")


def small(asked: Asked) -> Recipe:
    """Return the recipe on few of the same blocks, with the oracle watching.

    Full blocks and true limits, so that every technique has something to do, in the time that a
    test may take. Its figures are rough.
    """
    few = {"geometry.blocks_per_plane": 24, "drive.spare": 0.5}
    state = {"start.overwrite": 0, "start.fill": 1, "start.pec": 2000}
    title = "STRAW (IEEE CAL 2024), a small version"
    recipe = Recipe(asked, title, "straw-2t-tlc", PLANE | few | state)
    model(recipe)
    watched = {"prepare": frozen, "out_of_phase": PHASES, "oracle": "on"}
    recipe.group(
        "counts",
        ["block", "page-type", "straw-ss-published", "straw-ss", "straw-ss-sound", "straw-wl"],
        [UNIFORM],
        [Variant("2000")],
        on_blocks(2_000_000, 2_000_000, cycles=1.0, warm_up_cycles=0.5),
        gear="untimed",
        **watched,
    )
    recipe.group(
        "tails",
        ["block", "straw-ss", "straw-wl"],
        [REGISTERED[2]],
        [Variant("2000")],
        on_blocks(50_000, 200_000, warm_up_cycles=0.5, load=0.25),
        gear="timed",
        **watched,
    )
    recipe.figure(
        "fig8-copies-with-gc",
        "Fig. 8, with what GC copies: pages copied for each page read, over block",
        "counts",
        COPIES,
        "copies",
        share_of=READ,
        over="block",
    )
    cycles(recipe)
    tail(recipe, "fig9-p99_9", FIG_9, "latency_us.read.p99_9", over="block")
    return recipe


if __name__ == "__main__":
    main(__file__, {"run": run, "small": small})
