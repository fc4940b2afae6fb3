"""Reference of results: every field of summary.json, and the files beside it.

The fields and their meanings come from the comments of the structs.
"""

from __future__ import annotations

import pathlib
import re
import sys

from page_text import filled, header, linked, markdown, note, table

ROOT = pathlib.Path(__file__).resolve().parent.parent


# Where the structs of summary.json are declared.
DECLARED = [
    *("lab/src/results.rs", "lab/src/results", "lab/src/counts.rs", "model/src/base/metrics.rs"),
    *("model/src/base", "model/src/hints", "drive/src/hint_counts.rs"),
    *("drive/src/drive", "drive/src/ftl", "drive/src/flash"),
    *("oracle/src/report.rs", "oracle/src"),
    *("lab/src/manifest.rs", "lab/src/life", "lab/src/compare", "workload/src/fio/record.rs"),
]
# Sources of the files beside summary.json: their headers have a title, sentences and a table.
FILES = ROOT / "crates/lab/src/files"
COMPARISON = ROOT / "crates/lab/src/compare.rs"
LIVES = ROOT / "crates/lab/src/life/record.rs"
NUMBER, TEXT = "number", "text"
PLAIN = {"bool": "true or false", "f64": NUMBER, "f32": NUMBER}
PLAIN |= dict.fromkeys(("String", "Word", "Warning", "&'static str"), TEXT) | {"Value": "object"}
PLAIN |= dict.fromkeys(("End", "LifeUnit", "Bytes", "AccessLatency"), TEXT)
PLAIN |= {"MeanCi95": "object of `mean` and `ci95`", "ByCause": "object: integer by name"}
PLAIN["UsedShares"] = "list of integer"


class Struct:
    """A struct that is serialised: what it is, and its fields."""

    def __init__(self, path: pathlib.Path, about: str, body: str):
        self.path, self.about, self.fields = path, about, []
        doc, attributes = [], []
        for line in map(str.strip, body.splitlines()):
            field = re.match(r"(?:pub(?:\([^)]*\))? )?(\w+): (.+),$", line)
            if line.startswith("///"):
                doc.append(line[3:].strip())
            elif line.startswith("#["):
                attributes.append(line)
            elif field:
                joined = " ".join(attributes)
                if "skip)" not in joined and "skip," not in joined:
                    renamed = re.search(r'rename = "(\w+)"', joined)
                    name = renamed.group(1) if renamed else field.group(1)
                    self.fields.append((name, field.group(2), " ".join(doc), "flatten" in joined))
                doc, attributes = [], []


def sources() -> list[pathlib.Path]:
    """The files in which types of summary.json are declared, each once."""
    places = [ROOT / "crates" / place for place in DECLARED]
    paths = (sorted(at.rglob("*.rs")) if at.is_dir() else [at] for at in places)
    return list(dict.fromkeys(path for among in paths for path in among))


def structs() -> dict[str, list[Struct]]:
    """All serialised structs by name."""
    found: dict[str, list[Struct]] = {}
    form = r"((?:[ \t]*///[^\n]*\n)*)((?:[ \t]*#\[[^\n]*\n)+)[ \t]*pub(?:\([^)]*\))? "
    form += r"struct (\w+)(?:<[^>]*>)? \{\n(.*?)\n[ \t]*\}"
    for path in sources():
        for doc, attributes, name, body in re.findall(form, path.read_text(), re.S):
            if "Serialize" in attributes:
                about = " ".join(line.strip()[3:].strip() for line in doc.splitlines())
                found.setdefault(name, []).append(Struct(path, about, body))
    return found


def in_words(form: str) -> tuple[str, str]:
    """A type as a reader of JSON sees it, and the struct that it is of, if any."""
    optional = re.fullmatch(r"Option<(.+)>", form)
    if optional:
        words, inner = in_words(optional.group(1))
        return words + " or null", inner
    many = re.fullmatch(r"(?:Vec|Box)<(.+)>|\[(.+); .+\]", form)
    if many:
        words, inner = in_words(many.group(1) or many.group(2))
        return ("list of " + words if not form.startswith("Box") else words), inner
    by_name = re.fullmatch(r"BTreeMap<[^,]+, (.+)>", form)
    if by_name:
        words, inner = in_words(by_name.group(1))
        return f"object: {words} by name", inner
    last = form.split("::")[-1]
    if last in PLAIN:
        return PLAIN[last], ""
    if re.fullmatch(r"[ui]\d+|usize|NonZeroU\d+", last) or last in ("Ns", "Seq"):
        return "integer", ""
    return "object", last


def known(types: dict[str, list[Struct]], form: str, by: Struct) -> tuple[str, Struct | None]:
    """A type as a reader of JSON sees it, and its struct: of the same file, or else the nearest."""
    words, name = in_words(form)
    if not name:
        return words, None
    candidates = types.get(name, [])
    own = [s for s in candidates if s.path == by.path]
    near = [s for s in candidates if by.path.parent in s.path.parents]
    if not candidates:
        sys.exit(f"{by.path}: the type `{form}` of a result is unknown; name its file in DECLARED")
    return words, next(iter([*own, *near, *candidates]))


def fields(types: dict[str, list[Struct]], of: Struct, path: str) -> list[tuple]:
    """Fields of a struct with their paths, each followed by the fields of its own."""
    rows = []
    for name, form, doc, is_flat in of.fields:
        words, struct = known(types, form, of)
        place = path if is_flat else f"{path}.{name}" if path else name
        below = ".NAME" if "object: " in words else "[]" if "list of object" in words else ""
        if not is_flat:
            rows.append((place, words, doc))
        elif not struct:
            one = words.removeprefix("object: ").removesuffix(" by name")
            rows.append((f"{path}.NAME" if path else "NAME", one, doc))
        if struct:
            rows += fields(types, struct, place + ("" if is_flat else below))
    return rows


def about_file(source: pathlib.Path) -> str:
    """Section of a result file, from its source's header: from the paragraph that begins with the
    file's name on."""
    blocks = header(source)
    first = next(n for n, b in enumerate(blocks) if re.match(r"`[\w.]+\.(csv|json|hlog)`", b))
    title, text = blocks[first].split(": ", 1)
    rest = [text[0].upper() + text[1:], *blocks[first + 1 :]]
    return f"### {title.replace('`', '')}\n\n" + markdown(rest) + "\n"


def members(types: dict[str, list[Struct]], of: Struct, path: str) -> str:
    """Table of the fields of a struct."""
    rows = [[f"`{p}`", words, linked(doc)] for p, words, doc in fields(types, of, path)]
    return table(["key", "type", "meaning"], rows)


def other_files(types: dict[str, list[Struct]]) -> str:
    """Sections of the files beside summary.json."""
    text = "## Other files\n\n"
    others = ("tests.rs", "doses.rs")
    sources = [source for source in sorted(FILES.glob("*.rs")) if source.name not in others]
    text += "".join(map(about_file, sources))
    text += "### manifest.json\n\nEverything that is needed to repeat a run.\n\n"
    text += members(types, types["Manifest"][0], "") + about_file(COMPARISON)
    life = next(s for s in types["Life"] if s.path == LIVES.with_name("summary.rs"))
    return text + about_file(LIVES) + members(types, life, "techniques[]")


def results_page() -> str:
    """Every field of summary.json, and the files beside it."""
    types = structs()
    text = note("the comments in crates/lab/src/results") + "# Results\n\n"
    text += filled(
        "`vpass run --json` prints one JSON object, and `--out DIR` writes the same object as "
        "`summary.json`. This page has every field. A field is null if it does not apply. Fields "
        "that only some runs have are absent elsewhere; their meaning says when. A field may "
        "appear for each cause of an operation: `host`, `gc`, `reclaim`, `wear`, and `refresh`, "
        "`parity`, `retry` or `hint` where the run has them."
    )
    text += "\n\n"
    text += "Files of a result folder:\n\n"
    text += (
        "- `summary.json`: this page\n"
        "- `manifest.json`: the whole configuration, version and seed\n"
        "- `timing.json`: wall time, speed and memory\n"
        "- `series.csv`: counts over the run\n"
        "- `blocks.csv`: state of every block\n"
        "- `latency.csv`: latencies over the run\n"
        "- `quantiles.csv`: latencies by percentile\n"
        "- HdrHistogram logs\n\n"
    )
    text += filled("[Other files](#other-files) has their columns.")
    text += "\n\n"
    text += filled(
        "Folders of the same seed, build and configuration are byte-identical, except "
        "`timing.json` and the `command_line` of `manifest.json`. So the fields under "
        "`simulation` that measure time are null in the folder. "
        "[Doses and erases](#doses-and-erases) has the files of read disturbance."
    )
    summary = types["Summary"][0]
    text += "\n\n## The run\n\n"
    plain, groups = [], []
    for name, form, doc, _ in summary.fields:
        words, struct = known(types, form, summary)
        if struct:
            groups.append((name, words, doc, struct))
        else:
            plain.append([f"`{name}`", words, linked(doc)])
    text += table(["field", "type", "meaning"], plain)
    for name, words, doc, struct in groups:
        text += f"## {name}\n\n" + filled(linked(doc)) + "\n\n"
        below = "[]" if "list of" in words else ""
        rows = fields(types, struct, "")
        cells = [[f"`{name}{below}.{place}`", words, linked(d)] for place, words, d in rows]
        text += table(["field", "type", "meaning"], cells)
    return text + other_files(types).rstrip("\n") + "\n\n" + dose_files()


DOSE_FILES = {
    "dose.csv": (
        "Wordlines of the most disturbed blocks, each block at one moment: its worst. The worst "
        "block comes first. The file has at most 16,000 wordlines of whole blocks.",
        {
            "block`, `die`, `plane": "Numbers of the block, its die, and its plane in the die.",
            "at_s": "Simulated time of the moment, in seconds, to within 32 page reads.",
            "at_host_read_pages": "Pages that the host had read, including the page being read.",
            "pec_cycles": "P/E cycles of the block.",
            "wordline": "Number of the wordline in the block.",
            "group": "Wordline group, as `disturb.groups` names it.",
            "alpha": "Dose of a read of a neighbouring wordline, in dose units.",
            "guard_levels": "Page kinds given up for guard levels; 0 in full density.",
            "reads": "Dose read from the wordline since its block's erase, in dose units.",
            "dose": "Dose taken since the wordline's first page was programmed, in dose units.",
            "limit": "Lowest limit of its valid and lost pages, in dose units. Without such pages, "
            "the limit of the weakest page kind.",
            "valid_pages": "Pages with valid data.",
            "lost_pages": "Pages whose data is lost and was not written again.",
        },
    ),
    "dose_map.csv": (
        "The 500 most disturbed blocks, in at most 128 bins of neighbouring wordlines, each "
        "block at its worst moment.",
        {
            "rank": "1 for the most disturbed block.",
            "block": "Number of the block.",
            "bin": "Number of the bin in the block.",
            "first_wordline`, `wordlines": "Wordlines of the bin: the first, and how many.",
            "worst_ratio": "Highest dose over limit of a wordline with valid or lost pages; empty "
            "without such pages.",
            "state": "`data` with valid pages, `lost` with lost pages, `none` with neither.",
            "ratio_at_end": "Highest dose over limit at the end of the run; empty without valid or "
            "lost pages.",
        },
    ),
    "dose_blocks.csv": (
        "Every block of the drive.",
        {
            "block": "Number of the block.",
            "worst_ratio": "Highest dose over limit of a page with valid or lost data.",
            "worst_wordline`, `at_s": "Wordline and time of that; empty if it is 0.",
            "wordlines_past_limit": "Wordlines with data past their limit at the block's worst "
            "moment.",
            "erases": "Number of erases.",
            "share_used_at_erase": "Highest dose over limit between two erases, over all erases; "
            "empty without an erase.",
        },
    ),
    "erasures.csv": (
        "Erases, in order, at most 2,000. A run with more erases keeps one in every 2, 4, 8 and "
        "so on.",
        {
            "block`, `at_s`, `cause": "Number of the block, time in seconds, and cause.",
            "reads": "Dose read from the block since its previous erase, in dose units.",
            "share_used": "Highest dose over limit of its valid and lost pages since its previous "
            "erase; empty without an oracle.",
            "every": "Distance of two rows, in erases.",
        },
    ),
}


def dose_files() -> str:
    """Files of doses and erases, with their columns."""
    text = "## Doses and erases\n\n"
    text += filled(
        "`--out` writes these files for the counted part of a run. Only the oracle knows doses, so "
        "the first three files are absent with `--oracle off`, and if reads disturb nothing. A "
        "ratio is a dose over a limit; above 1, data is lost. It is `inf` if age alone takes the "
        "whole limit. Times are empty in the untimed gear."
    )
    text += "\n\n"
    text += filled(
        "The oracle compares a block when a job reads, moves or recodes its pages, before its "
        "erase, and at the end. Between these, it compares the block when its reads have grown by "
        "1/32 and by 8 for each wordline. Pages that the host overwrites in between may have had "
        "slightly higher doses. A block's wordlines are kept when its ratio rises by 0.01, so "
        "`dose.csv` may be up to 0.01 below `worst_ratio`."
    )
    for file, (what, columns) in DOSE_FILES.items():
        text += f"\n\n### {file}\n\n" + filled(what) + "\n\n"
        text += table(["column", "meaning"], [[f"`{c}`", m] for c, m in columns.items()])
        text = text.rstrip("\n")
    return text + "\n"
