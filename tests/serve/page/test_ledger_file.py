"""Ledgers in files, from which a restart goes on."""

import numpy as np
import pytest

from hsb.serve.core import Create, Decide, Reward
from hsb.serve.core.messages import Purge
from hsb.serve.local import Local, clock
from hsb.serve.page.sheets import TallyCache, sheet


def journal(path, visits=300, seed=0):
    """A journal with visits, and half of them rewarded."""
    local = Local(path)
    if "home" not in local.core.policies:
        local.ask(Create(0, {"name": "home", "arms": ["a", "b"], "policy": {"kind": "Exp3"}, "floor": 0.1}, b"s" * 32))
    local.ask_all([Decide(k, "home", f"{seed}-{k}", 0.5) for k in range(visits)])
    local.ask_all([Reward(k, f"{seed}-{k}", float(k % 3 == 0)) for k in range(0, visits, 2)])
    return local


def looked(local, folder=None, least=1):
    """What a new process has of it: the cache when it has read all, and how many rows it read for that."""
    page, cache = sheet(local.core, local.core.policies["home"], clock().wall), TallyCache(folder=folder)
    reader = local.store.reader()
    cache.begin_look([page])
    tally, behind = cache.tally(reader, page)
    cache.evidence(reader, page)
    rows = cache.unsaved[page.id]
    cache.save(reader, least)
    reader.close()
    assert behind == 0
    return cache, tally, rows


def test_a_restart_goes_on_from_the_file(tmp_path):
    local, folder = journal(tmp_path / "hsb.db"), tmp_path / "hsb.db-page"
    first, _, rows = looked(local, folder)
    (path,) = folder.iterdir()
    assert path.stat().st_mode & 0o777 == 0o600 and folder.stat().st_mode & 0o777 == 0o700 and rows > 150
    assert b"home" not in path.read_bytes()
    _, tally, rows = looked(local, folder)
    assert rows == 0 and tally.policy() == first.updates[1].tally.policy()
    local.close()
    local = journal(tmp_path / "hsb.db", seed=1)
    third, tally, rows = looked(local, folder)
    _, whole, _ = looked(local)
    assert 0 < rows <= 150 and tally.rows == whole.rows == 300
    assert tally.policy() == pytest.approx(whole.policy()) and tally.even_play() == pytest.approx(whole.even_play())
    assert tally.suspicion() == pytest.approx(whole.suspicion()) and list(tally.recent) == list(whole.recent)
    assert [(each.index, each.rows) for each in tally.buckets] == [(each.index, each.rows) for each in whole.buckets]
    for mine, theirs in zip(tally.buckets, whole.buckets, strict=True):
        assert np.allclose(mine.sums, theirs.sums) and np.allclose(mine.played, theirs.played)
    assert third.updates[1].floors.floors == [0.0, 0.1]
    local.close()


def test_a_file_of_another_journal_is_not_taken(tmp_path):
    """An older copy that went on otherwise, a damaged file, and other code: all is read again."""
    local, folder = journal(tmp_path / "hsb.db"), tmp_path / "hsb.db-page"
    copy = local.store.reader()
    copy.backup(tmp_path / "copy.db")
    copy.close()
    local.close()
    local = journal(tmp_path / "hsb.db", seed=1)
    looked(local, folder)
    local.close()
    other = journal(tmp_path / "copy.db", visits=400, seed=2)
    _, tally, rows = looked(other, folder)
    assert rows > 300 and tally.rows == 350
    (path,) = folder.iterdir()
    raw = path.read_bytes()
    for damaged in (raw[:-1], b"", raw[:40] + b"x" + raw[41:], raw + b"x"):
        path.write_bytes(damaged)
        assert looked(other, folder, least=10**9)[2] == rows
    path.write_bytes(raw)
    assert looked(other, folder, least=10**9)[2] == 0
    other.close()


def test_files_of_erased_policies_go(tmp_path):
    local, folder = journal(tmp_path / "hsb.db"), tmp_path / "hsb.db-page"
    cache, *_ = looked(local, folder)
    local.ask(Purge(1, "home"))
    reader = local.store.reader()
    cache.save(reader, 0)
    reader.close()
    assert not list(folder.iterdir()) and not cache.updates and not cache.feedback
    local.close()
