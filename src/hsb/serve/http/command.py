"""`hsb serve`: from options to a running process."""

import gc
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from ... import __version__
from ...errors import InputError
from ..warming import Warmth
from .logs import log
from .server import bind, log_as_lines, server_of
from .service import Opened, Service, open_journal
from .settings import ServerSettings
from .starting import Progress, Starting, prepare

SWITCH = 0.0005  # seconds before one thread lets another run: the writing thread hands over often
FILES = 64  # open files that a process needs beside its connections
LOCAL = ("127.0.0.1", "::1", "localhost")


def serve(
    db: Path | None, *, host: str, port: int, demo: bool, auth: bool, public: bool, settings: ServerSettings | None = None
) -> int:
    """Serve until a signal to stop; return the exit status."""
    began = time.monotonic()
    if not auth and host not in LOCAL and not public:
        raise InputError(
            f"--no-auth on {host} lets in everyone who reaches this machine. Add --public if that is intended, or leave out --no-auth."
        )
    path = db or Path("hsb-demo.db" if demo else "hsb.db")
    settings = within_files((settings or ServerSettings())._replace(auth=auth, demo=demo))
    listening = bind(host, port)
    log_as_lines()
    beside: list[Any] = []
    if demo:
        from .demo import fill, keep_busy

        fill(path)
        beside.append(keep_busy)
    sys.setswitchinterval(SWITCH)
    opened = open_journal(path, settings, os.environ.get("HSB_ADMIN_KEY") or None)
    progress = Progress(Warmth())
    starting = Starting(lambda: _freeze_garbage(prepare(opened, settings, progress)), progress, *beside)
    server = server_of(starting, settings, host=host, port=port)
    starting.give_up = lambda: setattr(server, "should_exit", True)
    for name in ("SIGTERM", "SIGINT"):
        signal.signal(getattr(signal, name), server.handle_exit)  # uvicorn does so later, and raises them again at its end
    where = f"http://{'[' + host + ']' if ':' in host else host}:{listening.getsockname()[1]}"
    listening.listen(server.config.backlog)  # clients may connect as soon as the address is printed
    _greet(opened, settings, where)
    log(
        "start",
        version=__version__,
        url=where,
        db=str(path),
        connections=settings.connections,
        seconds=round(time.monotonic() - began, 2),
    )
    server.run(sockets=[listening])
    if starting.error is not None:
        raise starting.error
    log("end")
    if starting.thread.is_alive():  # it was stopped while starting, and that work cannot be interrupted
        sys.stdout.flush()
        os._exit(0)
    return 0


def _freeze_garbage(service: Service) -> Service:
    """Exempt all present objects from garbage collection: they stay as long as the process."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 50)  # requests leave no reference cycles: there is little to collect
    return service


def within_files(settings: ServerSettings) -> ServerSettings:
    """Raise the limit on open files as far as allowed, and return settings whose `connections` fit within it.

    Otherwise connections beyond the limit would be dropped silently, and the journal might be unable to open a file.

    >>> within_files(ServerSettings(connections=10)).connections
    10
    """
    try:
        import resource
    except ModuleNotFoundError:  # not a system that has such a limit
        return settings
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = settings.connections + FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        with suppress(ValueError, OSError):  # a system may allow less than its limit states
            resource.setrlimit(resource.RLIMIT_NOFILE, (needed if hard == resource.RLIM_INFINITY else min(needed, hard), hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    most = settings.connections if soft == resource.RLIM_INFINITY else max(1, soft - FILES)
    return settings._replace(connections=min(settings.connections, most))


def _greet(opened: Opened, settings: ServerSettings, where: str) -> None:
    lines = [f"hsb serve {__version__}: {where} (API: {where}/docs), journal {opened.store.path}"]
    if opened.keys.printed:
        lines.append(f"Admin key, shown this once: {opened.keys.printed}")
    elif settings.auth and not os.environ.get("HSB_ADMIN_KEY"):
        lines.append("The admin key was shown at the first start. If it is lost, set HSB_ADMIN_KEY to add another.")
    if not settings.auth:
        lines.append("No key is required: whoever reaches this address is an admin.")
    if settings.demo:
        lines.append("Demo: the shop and its visitors are synthetic.")
    print("\n".join(lines), file=sys.stdout, flush=True)
