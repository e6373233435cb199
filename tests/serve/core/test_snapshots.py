"""Snapshots: what is due, what is written, in which order."""

from support.serve.core_cases import SECOND, At, make
from support.serve.slow_core import NOW, with_a_candidate

from hsb.serve.checking import check
from hsb.serve.core import Core, CoreLimits, Decide, Forget, Reward, TakeSnapshot, seal
from hsb.serve.core.messages import Packed
from hsb.serve.store import start


def test_a_snapshot_that_comes_late_is_not_taken_for_that_of_what_was_forgotten(tmp_path):
    """It was begun while a candidate was reading, and is packed when the candidate has read all and some of it is forgotten."""
    slow = with_a_candidate(tmp_path / "hsb.db")
    slow.packs = []
    assert slow.ask(TakeSnapshot("s", "home")) is None
    slow.read()
    assert slow.ask(Forget("f", "home", ["o5"])).status == "done"
    (late,), slow.packs = slow.packs, None
    slow.do([late])
    slow.do(slow.core.flush(NOW))
    assert slow.answers["s"].body["snapshot"] == 22
    before = slow.core.policies["home"].digests()
    assert Core(**start(slow.store, NOW)).policies["home"].digests() == before
    assert check(slow.store).sound
    slow.store.close()


def test_a_snapshot_is_written_before_what_comes_after_it(tmp_path):
    """It was begun while a candidate was reading, and packed before something is forgotten, but more waits than one batch holds."""
    slow = with_a_candidate(tmp_path / "hsb.db")
    slow.core.limits = slow.core.limits._replace(orders=5)
    slow.packs = []
    slow.ask(TakeSnapshot("s", "home"))
    slow.read()
    for k in range(12):
        slow.core.handle(Decide(f"w{k}", "home", f"w{k}", {"x": 1}), NOW)
    (it,), slow.packs = slow.packs, None
    assert slow.core.handle(Packed(it.policy, seal(it.frozen), it.request), NOW) == []
    assert slow.ask(Forget("f", "home", ["o5"])).status == "done"
    before = slow.core.policies["home"].digests()
    assert Core(**start(slow.store, NOW)).policies["home"].digests() == before
    assert check(slow.store).sound
    slow.store.close()


def test_what_was_folded_at_the_start_is_kept_soon(tmp_path):
    at = At(tmp_path / "hsb.db", limits=CoreLimits(updates=30))
    make(at)
    at.ask_all([Decide(k, "home", f"d{k}", None) for k in range(40)])
    at.ask_all([Reward(k, f"d{k}", 1.0) for k in range(20)])
    at.close()
    again = At(tmp_path / "hsb.db", limits=CoreLimits(updates=30))
    assert not list(again.store.snapshots(1))
    again.ask_all([Reward(k, f"d{k}", 1.0) for k in range(20, 35)])
    again.later(SECOND)
    assert [rows[0].seq for rows in again.store.snapshots(1)] == [36]
    again.close()
