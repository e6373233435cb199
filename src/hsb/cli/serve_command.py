"""The command `hsb serve`. It imports the service when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from ..errors import InputError


def serve(
    db: Annotated[
        Path | None, Option(help="The journal, the one file of the service. By default hsb.db; with --demo hsb-demo.db.")
    ] = None,
    host: Annotated[str, Option(help="Address to listen on; 0.0.0.0 is every network of this machine.")] = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 8765,
    demo: Annotated[bool, Option("--demo", help="Serve a synthetic shop with visitors, as a demonstration.")] = False,
    no_auth: Annotated[
        bool, Option("--no-auth", help="Require no key. The host must then be this machine, unless --public is given.")
    ] = False,
    public: Annotated[bool, Option("--public", help="With --no-auth: let everyone in, on any host.")] = False,
    access_log: Annotated[bool, Option("--access-log", help="Log a line for every request.")] = False,
    cors: Annotated[
        list[str] | None,
        Option(
            help="A site, as in https://shop.example, whose pages may request decisions, with a key that has only the scope decide."
        ),
    ] = None,
    open_metrics: Annotated[
        bool, Option("--open-metrics", help="Let everyone read /metrics without a key. They name all policies.")
    ] = False,
) -> None:
    """Serve policies over HTTP. By default decisions and rewards are on disk before they are answered.

    The first start prints an admin key, once. HSB_ADMIN_KEY in the environment sets it instead, or adds another
    if the first is lost. Use it to create other keys.
    Logs are JSON lines on stderr. On SIGTERM the service finishes requests under way and ends.

    Example: hsb serve --db hsb.db --port 8765
    """
    try:
        from ..serve.http.command import serve as run
        from ..serve.http.settings import ServerSettings, origins
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("hsb", ""):
            raise
        raise InputError(f"hsb serve needs {error.name}, which is not installed. Run: pip install 'hsb[serve]'") from error
    settings = ServerSettings(access_log=access_log, open_metrics=open_metrics, cors=origins(cors or []))
    code = run(db, host=host, port=port, demo=demo, auth=not no_auth, public=public, settings=settings)
    raise typer.Exit(code)
