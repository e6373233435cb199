"""Names and docstrings that say nothing (docs/style.md): python .ci/names.py [--list].

It counts functions that are a bare participle, variables that say no more than `found` or `at`, and docstrings that begin with What, How or Of.
It fails if there are more than `LIMITS` allows. Whoever brings a count down brings its limit down too.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "hsb"
PARTICIPLES = {
    "asked", "bounded", "checked", "chosen", "counted", "drawn", "finished", "found", "given", "kept", "known", "learned", "made", "meant",
    "moved", "named", "opened", "parsed", "refused", "said", "seen", "sent", "shown", "taken", "told", "tried", "turned", "wanted", "written",
}  # fmt: skip
VARIABLES = {"at", "found", "given", "said", "told", "made"}  # `at` may be a field or a keyword: row.at, SuddenChange(at=0.5)
FUNCTION, VARIABLE, DOCSTRING = (
    "functions that are a bare participle",
    "variables without a noun",
    "docstrings that begin with What, How or Of",
)
LIMITS = {FUNCTION: 0, VARIABLE: 0, DOCSTRING: 0}


def findings(tree: ast.Module) -> Iterator[tuple[str, int, str]]:
    """Yield the kind, the line and the text of each."""
    fields = {
        field.target
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for field in node.body
        if isinstance(field, ast.AnnAssign)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name.strip("_") in PARTICIPLES:
                yield FUNCTION, node.lineno, node.name
            arguments = [*node.args.posonlyargs, *node.args.args, *(each for each in node.args.kwonlyargs if each.arg != "at")]
            yield from ((VARIABLE, each.lineno, each.arg) for each in arguments if each.arg in VARIABLES)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in VARIABLES and node not in fields:
            yield VARIABLE, node.lineno, node.id
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
            text = ast.get_docstring(node) or ""
            if re.match(r"(?:What|How|Of) ", text):
                yield DOCSTRING, getattr(node, "lineno", 1), text.split("\n")[0]


def main(is_listed: bool) -> int:
    """Print the counts, and the lines if asked or if there are too many; 1 if there are."""
    lines = [
        (kind, f"{path.relative_to(PACKAGE)}:{line}: {text}")
        for path in sorted(PACKAGE.rglob("*.py"))
        for kind, line, text in findings(ast.parse(path.read_text(encoding="utf-8")))
    ]
    counts = Counter(kind for kind, _ in lines)
    for kind, limit in LIMITS.items():
        print(f"{counts[kind]} {kind}; the limit is {limit}.")
        if is_listed or counts[kind] > limit:
            print(*(f"  {line}" for each, line in lines if each == kind), sep="\n")
    return int(any(counts[kind] > limit for kind, limit in LIMITS.items()))


if __name__ == "__main__":
    sys.exit(main("--list" in sys.argv[1:]))
