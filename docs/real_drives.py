"""Draws docs/guides/real-drives.svg: bytes written per 100 bytes read, six real drives and vpass.

Usage: python3 docs/real_drives.py, from any folder. All numbers come from the table under "Six real
drives" in papers/read-latency-relaxation-2021/README.md.
"""

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parent
PAGE = DOCS.parent / "papers/read-latency-relaxation-2021/README.md"
PICTURE = DOCS / "guides/real-drives.svg"
TITLE = "Bytes written to the flash for each 100 bytes that the host read"
COLUMNS = ["drive", "phase", "measured, %", "vpass, %", "difference", ""]
PHASES = {"slow": "slow phase", "fast": "fast phase", "all": "whole test"}
LEGEND = {
    "measured": "measured",
    "predicted": "vpass, predicted",
    "fitted": "vpass, fitted to the measured number",
}
# Predicted bars are full, fitted bars are outlined, so the two differ without colour.
STYLE = """\
  <style>
    .ground { fill: #ffffff; stroke: #c9d1d9 }
    text { fill: #1c2733 }
    .small { fill: #566270; font-size: 11px }
    .measured { fill: #6b7280; stroke: #6b7280 }
    .predicted { fill: #1d4ed8; stroke: #1d4ed8 }
    .fitted { fill: none; stroke: #1d4ed8 }
    @media (prefers-color-scheme: dark) {
      .ground { fill: #161b22; stroke: #3d444d }
      text { fill: #e6edf3 }
      .small { fill: #9aa7b4 }
      .measured { fill: #9aa4b2; stroke: #9aa4b2 }
      .predicted { fill: #5b8cff; stroke: #5b8cff }
      .fitted { stroke: #5b8cff }
    }
  </style>
"""
WIDTH, LEFT, TOP, ROW, BAR, PER_PERCENT = 760, 172, 92, 48, 15, 190


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def rows(text):
    """Returns label, phase, measured and computed number, and kind of each row of the table."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("|") and cells(line) == COLUMNS:
            break
    else:
        raise SystemExit(f"{PAGE}: no table with the columns {COLUMNS}")
    next(lines)
    found, labels = [], {}
    for line in lines:
        if not line.startswith("|"):
            break
        drive, phase, measured, vpass, _, source = cells(line)
        # Only the first row of a drive has its cell type.
        label = labels.setdefault(drive.split(",")[0], drive)
        kind = re.match(r"\w+", source)[0]
        found.append((label, PHASES.get(phase, phase), measured, vpass, kind))
    return found


def bar(y, value, kind):
    """Returns a bar with its number. Zero has no bar."""
    width = float(value) * PER_PERCENT
    drawn = (
        f'  <rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR}" class="{kind}"/>\n'
        if width > 0
        else ""
    )
    note = "" if kind in LEGEND else f" ({kind})"
    return drawn + f'  <text x="{LEFT + width + 7:.1f}" y="{y + 12}">{value}{note}</text>\n'


def picture(found):
    height = TOP + ROW * len(found)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img" aria-labelledby="t d" font-family="sans-serif" '
        'font-size="13">\n',
        f'  <title id="t">{TITLE}</title>\n',
        '  <desc id="d">',
        "; ".join(
            f"{label}, {phase}: measured {measured}, vpass {vpass} ({kind})"
            for label, phase, measured, vpass, kind in found
        ),
        "</desc>\n",
        STYLE,
        f'  <rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8" '
        'class="ground"/>\n',
        f'  <text x="16" y="26" font-weight="bold">{TITLE}</text>\n',
        '  <text x="16" y="44" class="small">'
        "Six SATA drives of 2015 to 2019, A to I, one specimen of each</text>\n",
    ]
    x = LEFT
    for kind, text in LEGEND.items():
        parts.append(
            f'  <rect x="{x}" y="58" width="12" height="12" class="{kind}"/>\n'
            f'  <text x="{x + 18}" y="69">{text}</text>\n'
        )
        x += 50 + 7 * len(text)
    for n, (label, phase, measured, vpass, kind) in enumerate(found):
        y = TOP + ROW * n
        parts.append(f'  <text x="{LEFT - 12}" y="{y + 13}" text-anchor="end">{label}</text>\n')
        parts.append(
            f'  <text x="{LEFT - 12}" y="{y + 28}" text-anchor="end" class="small">{phase}</text>\n'
        )
        parts.append(bar(y, measured, "measured"))
        parts.append(bar(y + BAR + 3, vpass, kind))
    return "".join(parts) + "</svg>\n"


if __name__ == "__main__":
    PICTURE.write_text(picture(rows(PAGE.read_text())))
