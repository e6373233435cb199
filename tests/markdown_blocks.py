"""The blocks of Python in a Markdown page: how they are run, and whether what the page shows below them is what they print.

A block ```output right after a block ```python is what that one prints: words must be the same, numbers within 5 % or 0.01.

    python tests/markdown_blocks.py docs/recipes/logs.md    # runs the page, and writes what was printed into its output blocks
"""

import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import hsb

BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:\n*```output\n(?P<shown>.*?)^```\n)?", flags=re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?|[-+]?\.\d+")
SHARE, LEAST = 0.05, 0.01  # what a number shown may differ by


class Block(NamedTuple):
    """A block: the line of the page on which its code begins, the code, and the output shown, if any."""

    line: int
    code: str
    shown: str | None


class Ran(NamedTuple):
    """A block that ran, and what it printed."""

    block: Block
    printed: str

    @property
    def true(self) -> bool:
        """Is what is shown, if anything, what was printed?"""
        return self.block.shown is None or alike(self.block.shown, self.printed)


def blocks(path: Path) -> list[Block]:
    """Every ```python block of a page."""
    text = Path(path).read_text(encoding="utf-8")
    return [
        Block(text.count("\n", 0, found.start("code")) + 1, found["code"], found["shown"]) for found in BLOCK.finditer(text)
    ]


def run_blocks(path: Path, directory: Path, names: dict[str, Any] | None = None) -> list[Ran]:
    """Run a page's blocks in order, in one namespace, in that directory. Tracebacks name the page and its lines.

    Kinds of policies and structures that a page defines are forgotten afterwards.
    """
    page, before = Path(path).resolve(), Path.cwd()
    kinds = [(each, dict(each.kinds)) for each in (hsb.Policy, hsb.Structure)]
    names = {"__name__": "page"} if names is None else names
    ran = []
    os.chdir(directory)
    try:
        for block in blocks(page):
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                exec(compile("\n" * (block.line - 1) + block.code, str(page), "exec"), names)
            ran.append(Ran(block, said.getvalue()))
    finally:
        os.chdir(before)
        for each, known in kinds:
            each.kinds.clear()
            each.kinds.update(known)
    return ran


def alike(shown: str, printed: str) -> bool:
    """The same words, and numbers that are near."""
    if NUMBER.sub("0", shown).split() != NUMBER.sub("0", printed).split():
        return False
    pairs = zip(*([float(n.replace(",", "")) for n in NUMBER.findall(each)] for each in (shown, printed)), strict=True)
    return all(abs(a - b) <= max(LEAST, SHARE * abs(b)) for a, b in pairs)


def rewritten(text: str, ran: list[Ran]) -> str:
    """A page with what was printed in its output blocks."""
    results = iter(ran)

    def again(found: re.Match[str]) -> str:
        printed, start = next(results).printed, found.start()
        if found["shown"] is None:
            return found[0]
        return found[0][: found.start("shown") - start] + printed + found[0][found.end("shown") - start :]

    return BLOCK.sub(again, text)


if __name__ == "__main__":
    for page in map(Path, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as folder:
            done = run_blocks(page, Path(folder))
        page.write_text(rewritten(page.read_text(encoding="utf-8"), done), encoding="utf-8")
        print(page.name, *(f"line {each.block.line} differed" for each in done if not each.true))
