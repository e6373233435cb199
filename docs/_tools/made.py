"""What a build makes before Sphinx reads the pages: the page of the commands, the pictures, the gallery's settings. All in docs/_made."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pictures
import public

HEADER = """\
Gallery
=======

Pictures, each made by a short script that the build runs. All data is synthetic unless a picture says otherwise.
"""


def everything(docs: Path) -> bool:
    """Write it. True where the gallery has scripts."""
    folder = docs / "_made"
    folder.mkdir(exist_ok=True)
    write(folder / "commands.md", commands_page())
    write(folder / "endpoints.md", endpoints_page())
    for name, svg in pictures.everything().items():
        write(folder / name, svg)
    scripts = [path for path in (docs / "gallery").glob("*.py") if not path.name.startswith("_")]
    if not scripts:
        (folder / "gallery").mkdir(exist_ok=True)
        write(folder / "gallery" / "index.rst", HEADER + "\nThere are no pictures yet.\n")
    return bool(scripts)


def write(path: Path, text: str) -> None:
    """Only where it changed, so that Sphinx reads again only what it must."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def gallery(docs: Path) -> dict[str, Any]:
    """Every script of docs/gallery is run, whatever its name; those that begin with _ are not scripts."""
    header = docs / "gallery" / "GALLERY_HEADER.rst"
    if not any((docs / "gallery" / name).exists() for name in ("GALLERY_HEADER.rst", "README.rst", "README.txt")):
        header.write_text(HEADER)
    stale = docs / "_made" / "gallery" / "index.rst"
    if stale.exists() and "There are no pictures yet" in stale.read_text():
        stale.unlink()
    return {
        "examples_dirs": "gallery",
        "gallery_dirs": "_made/gallery",
        "filename_pattern": r"[\\/][^_][^\\/]*\.py$",
        "ignore_pattern": r"[\\/]_[^\\/]*\.py$",
        "within_subsection_order": "FileNameSortKey",
        "download_all_examples": False,
        "remove_config_comments": True,
        "plot_gallery": "True",
        "abort_on_example_error": False,
        "matplotlib_animations": True,
        "image_srcset": ["2x"],
        "show_memory": False,
        "show_signature": False,
        "thumbnail_size": (400, 280),
        "write_computation_times": False,  # its page would load scripts from elsewhere
        "min_reported_time": 1,
        "only_warn_on_example_error": True,
    }


def commands_page() -> str:
    """`hsb --help` and the help of every command, as a terminal of 100 columns shows them."""
    import typer.rich_utils
    from click import Context
    from typer.main import get_command

    from hsb.cli.app import app

    os.environ["COLUMNS"] = "100"
    typer.rich_utils.MAX_WIDTH = 100
    main = get_command(app)
    parts = [
        "# Command line",
        "What `hsb --help` and `hsb COMMAND --help` print. The commands of logs are shown at work in [logs](../logs.md).",
        _help(main, Context(main, info_name="hsb")),
    ]
    for words, command in public.commands().items():
        parts += [f"## hsb {words}", _help(command, Context(command, info_name=f"hsb {words}"))]
    return "\n\n".join(parts) + "\n"


def endpoints_page() -> str:
    """The service's endpoints and limits, from the table that its routes are made of."""
    from hsb.serve.http.app import endpoints
    from hsb.serve.http.settings import ServerSettings

    kinds: dict[str, list[str]] = {}
    for one in endpoints():
        said = " ".join((one.handler.__doc__ or "").split("\n\n")[0].split())
        path = one.path.replace("{arm:text}", "{arm}")
        asked = "".join(f"<br>`?{name}=` {what}" for name, what in one.query.items())
        kinds.setdefault(one.tag, []).append(f"| {one.method} | `{path}` | {one.need or 'none'} | {said}{asked} |")
    parts = [
        "# Endpoints and limits",
        "Made from the table that the service's routes are made of. A service shows the same at `/docs`, with the bodies.",
    ]
    for tag, rows in kinds.items():
        parts += [f"## {tag.capitalize()}", "\n".join(["| | path | scope | what |", "|---|---|---|---|", *rows])]
    limits = [f"| `{name}` | {value:,} |" for name, value in ServerSettings().describe().items()]
    parts += [
        "## Limits",
        "As `/v1/limits` has them. Sizes are bytes, times seconds.",
        "\n".join(["| limit | value |", "|---|---|", *limits]),
    ]
    return "\n\n".join(parts) + "\n"


def _help(command: Any, context: Any) -> str:
    context.terminal_width = context.max_content_width = 100
    text = command.get_help(context)
    return f"```text\n{text.strip()}\n```"
