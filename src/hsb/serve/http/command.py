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
from .server import bound, log_as_lines, server_of
from .service import Opened, Service, open_journal
from .settings import ServerSettings
from .starting import Progress, Starting, prepared

SWITCH = 0.0005  # seconds for which one thread may keep the others from running: the one that writes hands over often
FILES = 64  # that a process needs beside its connections
LOCAL = ("127.0.0.1", "::1", "localhost")


def serve(
    db: Path | None, *, host: str, port: int, demo: bool, auth: bool, public: bool, settings: ServerSettings | None = None
) -> int:
    """Serve until told to stop; the exit status."""
    began = time.monotonic()
    if not auth and host not in LOCAL and not public:
        raise InputError(f"--no-auth on {host} lets everyone in who reaches this machine. Say --public too if that is meant.")
    path = db or Path("hsb-demo.db" if demo else "hsb.db")
    settings = within_files((settings or ServerSettings())._replace(auth=auth, demo=demo))
    listening = bound(host, port)
    log_as_lines()
    beside: list[Any] = []
    if demo:
        from .demo import fill, keep_busy

        fill(path)
        beside.append(keep_busy)
    sys.setswitchinterval(SWITCH)
    opened = open_journal(path, settings, os.environ.get("HSB_ADMIN_KEY") or None)
    progress = Progress(Warmth())
    starting = Starting(lambda: _settled(prepared(opened, settings, progress)), progress, *beside)
    server = server_of(starting, settings, host=host, port=port)
    starting.give_up = lambda: setattr(server, "should_exit", True)
    for name in ("SIGTERM", "SIGINT"):
        signal.signal(getattr(signal, name), server.handle_exit)  # uvicorn does so later, and raises them again when it is done
    where = f"http://{'[' + host + ']' if ':' in host else host}:{listening.getsockname()[1]}"
    listening.listen(server.config.backlog)  # whoever reads the address may ask at once, /readyz at first
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
    if starting.thread.is_alive():  # it was told to end before it had begun, and what it does cannot be ended
        sys.stdout.flush()
        os._exit(0)
    return 0


def _settled(service: Service) -> Service:
    """What is there now stays: it is not looked through for garbage again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 50)  # requests leave no circles behind: there is little to find
    return service


def within_files(settings: ServerSettings) -> ServerSettings:
    """Raise the number of files that may be open, as far as that is allowed; connections are no more than it leaves room for.

    Else a connection too many would be dropped without a word, and the journal could be the one that finds no file.

    >>> within_files(ServerSettings(connections=10)).connections
    10
    """
    try:
        import resource
    except ModuleNotFoundError:  # not a system that has such a limit
        return settings
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = settings.connections + FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):  # a system may allow less than it says
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    most = settings.connections if soft == resource.RLIM_INFINITY else max(1, soft - FILES)
    return settings._replace(connections=min(settings.connections, most))


def _greet(opened: Opened, settings: ServerSettings, where: str) -> None:
    lines = [f"hsb serve {__version__}: {where} (API: {where}/docs), journal {opened.store.path}"]
    if opened.keys.printed:
        lines.append(f"Admin key, shown this once: {opened.keys.printed}")
    elif settings.auth and not os.environ.get("HSB_ADMIN_KEY"):
        lines.append(
            "The admin key was shown at the first start. Where it is lost, HSB_ADMIN_KEY in the environment adds another."
        )
    if not settings.auth:
        lines.append("No keys are asked for: whoever reaches this address is an admin.")
    if settings.demo:
        lines.append("Demo: the shop and its visitors are synthetic.")
    print("\n".join(lines), file=sys.stdout, flush=True)
