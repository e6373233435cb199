"""The process that makes views, without a process: frames in and out, a fault of one request does not end it."""

import io
import json
import queue

import pytest

pytest.importorskip("jinja2")

from support.serve.core_cases import At, fill

from hsb.serve.page.looking import Look
from hsb.serve.page.sheets import TallyCache, sheet
from hsb.serve.page.working import frame, read_frame, work
from hsb.serve.store.sqlite import SqliteReader


def test_frames_come_back_one_by_one():
    stream = io.BytesIO(frame({"a": 1}) + frame(None) + frame(b"x" * 70_000))
    assert [read_frame(stream) for _ in range(3)] == [{"a": 1}, None, b"x" * 70_000]
    assert read_frame(stream) is None


@pytest.mark.parametrize("left", [0, 3, 8, 12])
def test_a_frame_that_is_cut_off_is_the_end(left):
    assert read_frame(io.BytesIO(frame({"a": 1})[:left])) is None


@pytest.fixture
def at(tmp_path):
    local = At(tmp_path / "hsb.db")
    fill(local, 20, policy={"kind": "Exp3"}, feedback={"learn": "on_arrival"})
    yield local
    local.close()


def test_a_fault_of_a_view_is_answered_and_the_next_view_too(at, tmp_path):
    pages = (sheet(at.core, at.home, at.wall),)
    looks, out, cache = queue.SimpleQueue(), io.BytesIO(), TallyCache(folder=tmp_path / "ledgers")
    good = Look("arms", pages, {}, {"synthetic": False}, json=True, part=False)
    for look in (good._replace(section="nothing"), good, None):
        looks.put(look)
    reader = SqliteReader(tmp_path / "hsb.db")
    work(reader, cache, looks, out)
    reader.close()
    out.seek(0)
    view, fault = read_frame(out)
    assert view is None and fault.startswith("Traceback") and "KeyError: 'nothing'" in fault
    view, fault = read_frame(out)
    assert json.loads(view)["policy"] == "home" and fault == "" and read_frame(out) is None
    assert cache.updates[1].at <= at.home.version and not looks.qsize()
