"""Reading ahead changes nothing but the time."""

import threading
import time

import pytest

from hsb.play import ahead


def test_the_same_items_in_the_same_order() -> None:
    assert list(ahead(iter(range(1000)))) == list(range(1000))
    assert list(ahead([])) == []


def test_an_error_comes_out_after_the_items_before_it() -> None:
    def source():
        yield 1
        yield 2
        raise OSError("the disk is gone")

    items = ahead(source())
    assert [next(items), next(items)] == [1, 2]
    with pytest.raises(OSError, match="the disk is gone"):
        next(items)


def test_it_reads_only_a_little_ahead_and_ends_when_nobody_listens() -> None:
    taken = []

    def source():
        for i in range(10_000):
            taken.append(i)
            yield i

    items = ahead(source())
    assert next(items) == 0
    time.sleep(0.3)
    assert len(taken) < 10
    items.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "hsb-read-ahead"]
    assert len(taken) < 10
