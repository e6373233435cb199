"""The process that makes views of the page: `python -m hsb.serve.page.working JOURNAL`.

It only reads the journal, gives way to the service (`nice`), and goes on reading what is behind while nobody looks. Frames come on stdin and
leave on stdout: eight bytes for the length, then a pickle. What was read is written to files now and then (`ledger_file`).
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

LOOK = 1.0  # seconds that a view is read for, at most about: it shows what was read, and how much is behind
PAUSE = 30.0  # seconds between files
WORTH = 20_000  # rows that are worth a file
GIVEN_WAY = 10  # of `nice`


def read_frame(file: BinaryIO) -> Any:
    """What came next; None at the end."""
    head = file.read(8)
    size = int.from_bytes(head, "little")
    body = file.read(size)
    return pickle.loads(body) if len(head) == 8 and len(body) == size else None


def frame(what: Any) -> bytes:
    """As it goes through the pipe."""
    body = pickle.dumps(what, protocol=pickle.HIGHEST_PROTOCOL)
    return len(body).to_bytes(8, "little") + body


def main() -> None:
    """Answer looks until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the service ends it
    if hasattr(os, "nice"):
        os.nice(GIVEN_WAY)
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
    """Answer, and read what is behind while there is nothing to answer."""
    cache.forget(reader)
    behind, kept = False, time.monotonic()
    while True:
        try:
            look = looks.get_nowait() if behind else looks.get()
        except queue.Empty:
            behind = _advance(reader, cache)
            if not behind or time.monotonic() - kept > PAUSE:
                cache.keep(reader, WORTH)
                kept = time.monotonic()
            continue
        if look is None:
            cache.keep(reader, WORTH)
            return
        try:
            found: tuple[bytes | None, str] = (answer(reader, cache, look), "")
        except Exception:
            found = (None, traceback.format_exc())
        out.write(frame(found))
        out.flush()
        behind = True


def _advance(reader: SqliteReader, cache: TallyCache) -> bool:
    try:
        return cache.advance(reader)
    except Exception:  # whoever looks next is told
        return False


if __name__ == "__main__":
    main()
