"""Draws docs/guides/real-drives.svg: bytes written per 100 bytes read, six real drives beside vpass.

The numbers are those of the table in papers/read-latency-relaxation-2021/README.md.
"""

from pathlib import Path

# Drive and phase, measured, vpass, and whether vpass's number was predicted.
ROWS = [
    ("A, planar TLC, slow", 0.535, 0.496, True),
    ("A, planar TLC, fast", 0.541, 0.496, True),
    ("B, 3D TLC, slow", 2.58, 2.584, False),
    ("B, 3D TLC, fast", 2.37, 2.584, True),
    ("D, 3D TLC", 1.154, 1.096, True),
    ("E, 3D TLC", 0.342, 0.342, False),
    ("H, 3D QLC", 0.031, 0.030, False),
    ("I, 3D TLC", 0.0, 0.0, False),
]
LEFT, TOP, ROW, BAR, SCALE = 170, 64, 46, 15, 180
COLOURS = {"measured": "#6b7280", "predicted": "#1d4ed8", "fitted": "#93b4f5"}


def bar(y, value, kind):
    width = max(value * SCALE, 1)
    return (
        f'  <rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR}" fill="{COLOURS[kind]}"/>\n'
        f'  <text x="{LEFT + width + 6:.1f}" y="{y + 12}">{value:g}</text>\n'
    )


def picture():
    height = TOP + ROW * len(ROWS) + 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {height}" role="img" '
        'font-family="sans-serif" font-size="13" fill="#111827">\n',
        "  <title>Bytes written to the flash for each 100 bytes read, six real drives</title>\n",
        f'  <rect width="760" height="{height}" fill="#ffffff"/>\n',
        '  <text x="12" y="22" font-weight="bold">'
        "Bytes written to the flash for each 100 bytes read</text>\n",
    ]
    for n, (name, colour) in enumerate(COLOURS.items()):
        text = name if name == "measured" else f"vpass, {name}"
        parts.append(
            f'  <rect x="{LEFT + 150 * n}" y="36" width="12" height="12" fill="{colour}"/>\n'
            f'  <text x="{LEFT + 150 * n + 18}" y="47">{text}</text>\n'
        )
    for n, (name, measured, vpass, is_predicted) in enumerate(ROWS):
        y = TOP + ROW * n
        parts.append(f'  <text x="{LEFT - 10}" y="{y + 19}" text-anchor="end">{name}</text>\n')
        parts.append(bar(y, measured, "measured"))
        parts.append(bar(y + BAR + 2, vpass, "predicted" if is_predicted else "fitted"))
    return "".join(parts) + "</svg>\n"


if __name__ == "__main__":
    Path(__file__).with_name("guides").joinpath("real-drives.svg").write_text(picture())
