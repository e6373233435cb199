"""`hsb serve`: the service. What it needs is loaded when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from ..errors import InputError


def serve(
    db: Annotated[
        Path | None, Option(help="The journal: one file with everything. By default hsb.db; with --demo hsb-demo.db.")
    ] = None,
    host: Annotated[str, Option(help="Where to listen. 0.0.0.0 is every network of this machine.")] = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535, help="Port to listen on; 0 takes one that is free.")] = 8765,
    demo: Annotated[bool, Option("--demo", help="A synthetic shop with visitors, to look at.")] = False,
    no_auth: Annotated[
        bool, Option("--no-auth", help="Ask for no key. Only on this machine, unless --public is said too.")
    ] = False,
    public: Annotated[bool, Option("--public", help="With --no-auth: let everyone in, on any host.")] = False,
    access_log: Annotated[bool, Option("--access-log", help="A line for every request.")] = False,
    cors: Annotated[
        list[str] | None,
        Option(help="A site, as in https://shop.example, whose pages may ask for decisions, with a key that may decide alone."),
    ] = None,
    open_metrics: Annotated[
        bool, Option("--open-metrics", help="Let everyone read /metrics, which name all policies, without a key.")
    ] = False,
) -> None:
    """Decide and learn over HTTP, on disk before it is answered.

    The first start prints the key of an admin, once; HSB_ADMIN_KEY in the environment sets it instead,
    or adds one where the first is lost. Other keys are made with it.
    Logs are JSON lines on stderr. SIGTERM finishes what is under way and ends.

    Example: hsb serve --db hsb.db --port 8765
    """
    try:
        from ..serve.http.command import serve as run
        from ..serve.http.settings import ServerSettings, origins
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("hsb", ""):
            raise
        raise InputError(f"hsb serve needs {error.name}, which is not installed: pip install 'hsb[serve]'") from error
    settings = ServerSettings(access_log=access_log, open_metrics=open_metrics, cors=origins(cors or []))
    code = run(db, host=host, port=port, demo=demo, auth=not no_auth, public=public, settings=settings)
    raise typer.Exit(code)
