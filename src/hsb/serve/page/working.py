"""The process that makes views of the page: `python -m hsb.serve.page.working JOURNAL`.

It only reads the journal, and runs at a lower priority than the service (`nice`). While there are no requests it reads new rows. Frames arrive
on stdin and leave on stdout: eight bytes for the length, then a pickle. From time to time it writes the ledgers to files (`ledger_file`).
"""

import os
import pickle
import queue
import signal
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any, BinaryIO

from ..store.sqlite import SqliteReader
from .ledger_file import folder_of
from .looking import Look, answer
from .sheets import TallyCache

LOOK = 1.0  # seconds that a view reads, about at most; it then shows how many rows are left
PAUSE = 30.0  # seconds between two writes of files
WORTH = 20_000  # new rows that are worth a write
NICENESS = 10


def read_frame(file: BinaryIO) -> Any:
    """Read the next frame; None at the end."""
    head = file.read(8)
    size = int.from_bytes(head, "little")
    body = file.read(size)
    return pickle.loads(body) if len(head) == 8 and len(body) == size else None


def frame(what: Any) -> bytes:
    """Return an object as a frame."""
    body = pickle.dumps(what, protocol=pickle.HIGHEST_PROTOCOL)
    return len(body).to_bytes(8, "little") + body


def main() -> None:
    """Answer requests until stdin closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the service ends it
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    out, sys.stdout = sys.stdout.buffer, sys.stderr
    path = Path(sys.argv[1])
    looks: queue.SimpleQueue[Look | None] = queue.SimpleQueue()

    def receive() -> None:
        look: Look | None = None
        while (look := read_frame(sys.stdin.buffer)) is not None:
            looks.put(look)
        looks.put(None)

    threading.Thread(target=receive, daemon=True).start()
    work(SqliteReader(path), TallyCache(LOOK, folder_of(path)), looks, out)
    os._exit(0)  # without closing the journal: the last connection would write to it


def work(reader: SqliteReader, cache: TallyCache, looks: "queue.SimpleQueue[Look | None]", out: BinaryIO) -> None:
    """Answer requests; read new rows while no request waits."""
    cache.forget(reader)
    behind, written = False, time.monotonic()
    while True:
        try:
            look = looks.get_nowait() if behind else looks.get()
        except queue.Empty:
            behind = _advance(reader, cache)
            if not behind or time.monotonic() - written > PAUSE:
                cache.save(reader, WORTH)
                written = time.monotonic()
            continue
        if look is None:
            cache.save(reader, WORTH)
            return
        try:
            result: tuple[bytes | None, str] = (answer(reader, cache, look), "")
        except Exception:
            result = (None, traceback.format_exc())
        out.write(frame(result))
        out.flush()
        behind = True


def _advance(reader: SqliteReader, cache: TallyCache) -> bool:
    try:
        return cache.advance(reader)
    except Exception:  # the next request reports it
        return False


if __name__ == "__main__":
    main()
