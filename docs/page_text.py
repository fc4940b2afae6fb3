"""Text of generated pages: paragraphs, tables and links in Markdown."""

from __future__ import annotations

import re
import textwrap

WIDTH = 100


def note(sources: str) -> str:
    """First line of a generated page."""
    return f"<!-- Made by docs/generate.py from {sources}. -->\n\n"


def cell(text: object) -> str:
    """Text of a table's cell."""
    return str(text).replace("|", "\\|").replace("\n", " ").replace("<", "&lt;").strip()


def table(head: list[str], rows: list[list[object]]) -> str:
    """A table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(map(cell, line)) + " |\n" for line in lines) + "\n"


def filled(text: str, begin: str = "", then: str = "") -> str:
    """A paragraph of at most 100 columns; code is not broken."""
    whole = re.sub(r"`[^`]*`", lambda code: code.group().replace(" ", "\0"), text)
    options = {"break_long_words": False, "break_on_hyphens": False}
    lines = textwrap.wrap(whole, WIDTH, initial_indent=begin, subsequent_indent=then, **options)
    return "\n".join(lines).replace("\0", " ")


def linked(text: str, depth: str) -> str:
    """Comment of a source file as Markdown: links of rustdoc become code, pages become links."""
    text = re.sub(r"\[(`[^`]+`)\](\([^)]*\))?", r"\1", text)
    return re.sub(r"`docs/([\w/.-]+\.md)`", rf"[docs/\1]({depth}\1)", text)


def paragraphs(lines: list[str]) -> list[str]:
    """Paragraphs, list items and code blocks of a header."""
    blocks, code = [], False
    for line in lines:
        fence = line.startswith("```")
        if code or fence and blocks and code:
            blocks[-1] += "\n" + line
        elif fence:
            blocks.append(line)
        elif not line.strip():
            blocks.append("")
        elif line.startswith("- ") or not blocks or not blocks[-1] or blocks[-1].startswith("# "):
            blocks.append(line)
        else:
            blocks[-1] += " " + line.strip()
        code ^= fence
    return [block for block in blocks if block]
