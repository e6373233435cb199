"""Count turns of phrase that must not come back; docs/style.md has the alternatives.

    python .ci/voice.py                      # counts by phrase; exit status 1 if one exceeds its limit
    python .ci/voice.py --list src/hsb/logs  # where each is, in these files or folders

Prose is counted in docstrings, comments, messages (strings with a space) and Markdown outside code; names in the syntax tree. The limits
are what is left today. Whoever brings a number down brings its limit down in the same commit.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PROSE = {
    "'where' for 'if'": r"\bwhere (?:there|it|that|this|they|nothing|none|no|all|one|some|any|each)\b",
    "'none' for 'no' or 'nothing'": r"\b(?:is|are|was|were|has|have|there) none\b",
    "'say' for what a thing does": r"\b(?:says?|said)\b",
    "'tell' for 'report'": r"\b(?:tells?|told)\b",
    "'ask' for 'call' or 'request'": r"\basked\b",
    "'of its own'": r"\bof (?:its|their|your|one's) own\b",
    "'go on' for 'continue'": r"\bgo(?:es)? on\b",
    "'no more', 'any more'": r"\b(?:no|any) more\b(?! than)",
    "'anew' for 'again'": r"\banew\b",
    "'so many' for a number": r"\bso many\b",
    "'on the way'": r"\bon the way\b",
    "words that have a field's noun": r"\b(?:lessons?|chances|foretells?|foretold|deeds?|slip of the pen|passed over)\b",
}
PARTICIPLES = {
    "asked", "bounded", "checked", "chosen", "counted", "drawn", "finished", "flat", "found", "given", "kept", "known", "learned", "made",
    "meant", "moved", "named", "opened", "parsed", "read_out", "refused", "said", "seen", "sent", "shown", "taken", "told", "tried", "turned",
    "wanted", "written",
}  # fmt: skip
VARIABLES = {"found", "given", "said", "told", "made"}
LIMITS: dict[str, int] = {}
WHAT, PARTICIPLE, VARIABLE = (
    "docstrings that begin with What, How or Of",
    "functions that are a bare participle",
    "variables without a noun",
)


class Place(NamedTuple):
    """A turn of phrase, and the line it is on."""

    phrase: str
    file: str
    line: int
    text: str


def python_prose(source: str) -> Iterator[tuple[int, str]]:
    """Comments and strings with a space, each line with its number."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and " " in token.string):
            for k, line in enumerate(token.string.split("\n")):
                if not line.lstrip().startswith((">>>", "...")):
                    yield token.start[0] + k, line


def markdown_prose(source: str) -> Iterator[tuple[int, str]]:
    """The lines outside code blocks, without code within them."""
    is_code = False
    for k, line in enumerate(source.split("\n"), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield k, re.sub(r"`[^`]*`", "", line)


def in_prose(file: str, lines: Iterator[tuple[int, str]]) -> Iterator[Place]:
    """Turns of phrase in lines of prose."""
    for number, line in lines:
        for phrase, pattern in PROSE.items():
            for _ in re.finditer(pattern, line, re.IGNORECASE):
                yield Place(phrase, file, number, line.strip())


def in_names(file: str, tree: ast.Module) -> Iterator[Place]:
    """Names without meaning, and docstrings that begin with a question word."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name.strip("_") in PARTICIPLES:
                yield Place(PARTICIPLE, file, node.lineno, node.name)
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            yield from (Place(VARIABLE, file, each.lineno, each.arg) for each in arguments if each.arg in VARIABLES)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in VARIABLES:
            yield Place(VARIABLE, file, node.lineno, node.id)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
            text = ast.get_docstring(node, clean=True) or ""
            if re.match(r"(?:What|How|Of) ", text):
                yield Place(WHAT, file, getattr(node, "lineno", 1), text.split("\n")[0])


def places(paths: list[Path]) -> Iterator[Place]:
    """Every turn of phrase in the Python and Markdown files of these paths."""
    for path in paths:
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            if file.suffix not in (".py", ".md") or file.name in ("style.md", "voice.py"):
                continue
            source, name = file.read_text(encoding="utf-8"), file.relative_to(ROOT).as_posix()
            if file.suffix == ".md":
                yield from in_prose(name, markdown_prose(source))
            else:
                yield from in_prose(name, python_prose(source))
                yield from in_names(name, ast.parse(source))


def main() -> int:
    """Count, print, and compare with the limits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path, help="files and folders; default: the package, README and the docs")
    parser.add_argument("--list", action="store_true", help="print where each is")
    options = parser.parse_args()
    paths = [path.resolve() for path in options.paths] or [ROOT / "src/hsb", ROOT / "README.md", ROOT / "docs"]
    hits = list(places(paths))
    if options.list:
        for place in hits:
            print(f"{place.file}:{place.line}: {place.phrase}: {place.text}")
    exceeded = False
    for phrase in [*PROSE, WHAT, PARTICIPLE, VARIABLE]:
        count, limit = sum(place.phrase == phrase for place in hits), LIMITS.get(phrase, 0)
        is_over = not options.paths and count > limit
        exceeded |= is_over
        print(f"{count:5} {phrase}" + (f"  exceeds {limit}: see --list and docs/style.md" if is_over else ""))
    return int(exceeded)


if __name__ == "__main__":
    sys.exit(main())
