"""Count turns of phrase that must not come back (docs/style.md): python .ci/phrases.py LIMIT FILE_OR_FOLDER ...

Prose alone is read: of Markdown what is not code, of Python comments and strings. It fails if there are more than LIMIT.
"""

import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

PHRASES = {
    r"\bwhere there (is|are|was|were)\b": "if there is",
    r"\bwhere (nothing|none|nobody) (is|was|has|does|can)\b": "if nothing is",
    r"\b(is|are) (?-i:none)\b": "there is no",
    r"\bgo(es)? on (bit|as|with|from|where)\b": "continue, resume",
    r"\banew\b": "again",
    r"\bso many (rounds|updates|rows|arms|times)\b": "the parameter's name",
    r"\bthat is found on the way\b": "inferred from the data",
    r"\bforet(ell|ells|old)\b": "predict",
    r"\bmended\b": "fixed",
    r"\bof its own accord\b": "automatically",
    r"\bslip of the pen\b": "typo",
    r"\bwhat came of (it|them|that)\b": "outcome",
    r"\bis (refused|said) where\b": "raises if",
    r"\bsays nothing of\b": "says nothing about",
}
CODE = re.compile(
    r"^(`{3,})[\s\S]*?^\1|`[^`\n]+`|^    .*$|^#.*$|\]\([^)\n]*\)", re.M
)  # headings are anchors, links are addresses
GENERATED = {"peers.md", "bakeoff.md", "style.md"}  # written by a benchmark; the page that shows what not to write


def prose(path: Path) -> str:
    """The text of a file without its code; as many lines as the file has."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return CODE.sub(lambda found: "\n" * found[0].count("\n"), text)
    lines = [""] * (text.count("\n") + 2)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            for k, line in enumerate(token.string.split("\n")):
                lines[token.start[0] - 1 + k] += " " + line
    return "\n".join(lines)


def files(places: list[str]) -> Iterator[Path]:
    """The Markdown and Python files of some places; what is generated is left out."""
    for place in map(Path, places):
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.suffix in (".md", ".py") and "_made" not in path.parts and path.name not in GENERATED:
                yield path


def main(limit: int, places: list[str]) -> int:
    """Print each phrase with its place and what to write; 1 if there are more than the limit."""
    count = 0
    for path in files(places):
        for number, line in enumerate(prose(path).split("\n"), 1):
            for phrase, instead in PHRASES.items():
                for found in re.finditer(phrase, line, re.I):
                    count += 1
                    if limit < 20:
                        print(f"{path}:{number}: {found[0]!r}; write: {instead}")
    print(f"{count} turns of phrase to avoid in {', '.join(places)}; the limit is {limit}.")
    return int(count > limit)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
