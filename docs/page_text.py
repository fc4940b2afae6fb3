"""Text of generated pages: paragraphs, tables and links in Markdown."""

from __future__ import annotations

import pathlib
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


def linked(text: str) -> str:
    """Comment of a source file as Markdown: links of rustdoc become code, pages become links."""
    text = re.sub(r"\[(`[^`]+`)\](\([^)]*\))?", r"\1", text)
    return re.sub(r"`docs/([\w/.-]+\.md)`", r"[docs/\1](../\1)", text)


def header(source: pathlib.Path) -> list[str]:
    """Paragraphs, list items, tables and code blocks of a source file's header."""
    blocks, code = [""], False
    for line in source.read_text().splitlines():
        if not line.startswith("//!"):
            continue
        line = line[3:].removeprefix(" ")
        fence, last = line.startswith("```"), blocks[-1]
        if code or line.startswith("|") and last.startswith("|"):
            blocks[-1] += "\n" + line
        elif fence or not line.strip() or line.startswith(("- ", "|")) or not last or last[0] in "#|":
            blocks.append(line)
        else:
            blocks[-1] += " " + line.strip()
        code ^= fence
    return [block for block in blocks if block.strip()]


def markdown(blocks: list[str]) -> str:
    """Blocks of a header as Markdown."""
    text, was_item = "", False
    for block in blocks:
        is_item = block.startswith("- ")
        text += "" if is_item and was_item else "\n"
        if block.startswith(("```", "|")):
            text += block + "\n"
        elif is_item:
            text += filled(linked(block[2:]), "- ", "  ") + "\n"
        else:
            text += filled(linked(block)) + "\n"
        was_item = is_item
    return text.lstrip("\n")
