"""Docstrings for Sphinx: they are plain text with `code`, lists and examples; Sphinx reads reStructuredText."""

from __future__ import annotations

import re
from typing import Any

import public

HIDDEN = {  # of every class: what files, kernels and other modules need of it
    "to_arrays",
    "take_arrays",
    "from_settings",
    "settings",
    "check",
    "members",
    "kinds",
    "named_columns",
    "layers",
    "number",
    "options",
    "made",
    "unit_point",
    "to_unit",
    "ends",
    "bounds",
    "example",
    "mro",
    "set_partial_fit_request",
    "set_score_request",
    "set_fit_request",
}
HIDDEN |= {
    "boxes",
    "log_beta",
    "log_prior",
    "leaf_code",
    "leaf",
    "codes",
    "key_words",
    "walks",
    "divisions",
    "diagonal",
    "finest",
}
HIDDEN |= {
    "from_parameters",
    "prior_bound",
    "worst_cost",
    "log_full",
    "region",
    "names",
    "groups",
    "leaves_of",
    "parameters",
    "load_arguments",
    "resolves",
}
HIDDEN |= {
    "arms_view",
    "skip_line",
    "knows_arms",
    "take_arms",
    "set_problems",
    "cut",
    "files",
    "read",
    "expected",
    "parts",
    "from_plain",
    "plain",
}
HIDDEN |= {"decide_rows", "learn_rows", "replay_rows", "first_learned", "adopt", "resume", "play"}
SHOWN = {
    "Problem.play",
    "Policy.settings",
    "Structure.groups",
    "Structure.leaves_of",
    "Structure.parameters",
    "Problem.expected",
    "Problem.parameters",
}
SHOWN |= {"Features.names", "Columns.names"}
PUBLIC = set(public.names())
EMPHASIS = re.compile(r"((?<!\w)\*(?=\S)[^*]+(?<=\S)\*(?!\w))")
CODE = re.compile(r"`([^`]+)`")


def to_rst(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """In place, as Sphinx wants it."""
    lines[:] = converted(lines)


def converted(lines: list[str]) -> list[str]:
    """`code` becomes a literal, indented lines a block, and what else means something to reStructuredText is escaped."""
    out: list[str] = []
    example = block = False
    for line in lines:
        bare = line.strip()
        if not bare:
            example = False
            out.append("")
        elif bare.startswith(">>>") or example:
            example = True
            block = False
            out.append(line)
        elif line.startswith("    ") or bare.startswith("|"):  # a table is shown as it stands
            line = line if line.startswith("    ") else f"    {bare}"
            if not block:
                out += ["::", ""] if not out or not out[-1] else ["", "::", ""]
            block = True
            out.append(line)
        else:
            if (
                out
                and out[-1]
                and bare.startswith("- ")
                and not out[-1].lstrip().startswith("- ")
                and not out[-1].startswith("  ")
            ):
                out.append("")
            if out and block and out[-1]:
                out.append("")
            block = False
            out.append(_text(line))
    return out


def _text(line: str) -> str:
    parts = CODE.split(line)
    for k, part in enumerate(parts):
        parts[k] = _code(part) if k % 2 else _escaped(part)
    for k in range(1, len(parts), 2):  # a literal ends at a space or a mark
        if parts[k + 1][:1].isalnum():
            parts[k + 1] = "\\ " + parts[k + 1]
        if parts[k - 1][-1:].isalnum():
            parts[k - 1] += "\\ "
    return "".join(parts)


def _code(said: str) -> str:
    """A page or a public name is a link."""
    if found := re.fullmatch(r"docs/(\w+)\.md", said):
        return f":doc:`/{found[1]}`"
    return f":py:obj:`{said}`" if said in PUBLIC else f"``{said}``"


def _escaped(text: str) -> str:
    parts = EMPHASIS.split(text)
    parts[::2] = [re.sub(r"([\\\\|*])", r"\\\1", part) for part in parts[::2]]
    parts[::2] = [re.sub(r"(\w)_(?=\W|$)", r"\1\\_", part) for part in parts[::2]]
    return "".join(parts)


def skip(app: Any, what: str, name: str, obj: Any, skipped: bool, options: Any) -> bool | None:
    """The members that a reader does not want. None leaves it to Sphinx."""
    if name.rpartition(".")[2] in HIDDEN and getattr(getattr(obj, "fget", obj), "__qualname__", "") not in SHOWN:
        return True
    return None
