"""Reading ahead: the next batches are read and encoded while a kernel works on this one."""

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import TypeVar

from ..checks import is_scalar
from ..errors import InputError, quoted

T = TypeVar("T")

BATCHES = 4  # the most batches that wait, besides the one in use


def ahead(source: Iterable[T]) -> Iterator[T]:
    """Yield the items of `source` in order, read ahead by a thread. Its errors are raised here; it ends when this generator is closed.

    >>> list(ahead(range(5)))
    [0, 1, 2, 3, 4]
    """
    if not isinstance(source, Iterable) or is_scalar(source):
        raise InputError(f"ahead needs an iterable; given {quoted(source)}.")
    ready: queue.Queue[tuple[str, T | BaseException | None]] = queue.Queue(BATCHES)
    over = threading.Event()

    def put(what: str, item: T | BaseException | None) -> None:
        while not over.is_set():
            try:
                ready.put((what, item), timeout=0.1)
                break
            except queue.Full:
                pass

    def fetch() -> None:
        try:
            for item in source:
                put("item", item)
                if over.is_set():
                    return
        except BaseException as error:  # passed on, to be raised by the generator
            put("error", error)
        else:
            put("end", None)

    thread = threading.Thread(target=fetch, name="hsb-read-ahead", daemon=True)
    thread.start()
    try:
        while True:
            what, item = ready.get()
            if what == "item":
                yield item  # type: ignore[misc]
            elif what == "error":
                raise item  # type: ignore[misc]
            else:
                return
    finally:
        over.set()
        thread.join()
