"""Which names are public, and where the reference has them."""

from __future__ import annotations

import functools
import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType
from typing import Any

MODULES = ("evaluate", "problems", "logs", "encode", "theory", "ecoc", "data", "adapters", "structures")
DIRECTIVE = re.compile(r"^\.\. auto(?:class|function|exception|data|method)::\s*(\S+)", re.MULTILINE)


def names() -> list[str]:
    """Everything public: of `hsb` and of the modules that it shows, each once, by the shortest name that it has."""
    hsb = importlib.import_module("hsb")
    found: dict[int, str] = {}
    for place, module in (("hsb", hsb), *((f"hsb.{name}", getattr(hsb, name)) for name in MODULES)):
        for name in [*module.__all__, *(["HSBClassifier"] if module is hsb else [])]:
            value = getattr(module, name)
            if not isinstance(value, ModuleType):
                found.setdefault(id(value), f"{place}.{name}")
    return sorted(found.values())


def documented(folder: Path) -> set[str]:
    """What the pages of the reference ask Sphinx to show."""
    return {name for path in folder.glob("**/*.md") for name in DIRECTIVE.findall(path.read_text())}


def commands() -> dict[str, Any]:
    """The commands, `journal check` and its like by both words."""
    from typer.main import get_command

    from hsb.cli.app import app

    found: dict[str, Any] = {}

    def gather(command: Any, words: str) -> None:
        for name, inner in sorted(getattr(command, "commands", {}).items()):
            if not inner.hidden:
                found[f"{words}{name}"] = inner
                gather(inner, f"{words}{name} ")

    gather(get_command(app), "")
    return found


def value(name: str) -> Any:
    """What a public name stands for."""
    first, *rest = name.split(".")
    return functools.reduce(getattr, rest, importlib.import_module(first))


def check(app: Any, env: Any) -> None:
    """After reading: every public name has a place in the reference, and a docstring there."""
    from sphinx.util import logging

    logger = logging.getLogger(__name__)
    there = env.domaindata["py"]["objects"]
    for name in names():
        if name not in there:
            logger.warning("%s is public and in no page of the reference (docs/api)", name)
        elif not isinstance(value(name), (tuple, dict, list)) and not inspect.getdoc(value(name)):
            logger.warning("%s is public and has no docstring", name)
