"""What the page has read of a journal: looks that are cut off, and files from which a restart goes on."""

import sqlite3
from types import SimpleNamespace

import numpy as np
import pytest

from hsb.serve.core.rows import DecisionEnd, DecisionRow, RowKind, StreamRow
from hsb.serve.core.sampling import bits_of
from hsb.serve.page.sheets import TallyCache

ROWS = 12_000
ALL = bits_of([0, 1], 2)


def filled(**given):
    """A row of which only these fields matter."""
    return DecisionRow(**(dict.fromkeys(DecisionRow._fields, 0) | {"played": None} | given))


class Journal:
    """Updates of one policy, and decisions that all got feedback; the `cut`-th read is interrupted."""

    def __init__(self):
        rng = np.random.default_rng(0)
        arm, reward = rng.integers(2, size=ROWS).tolist(), rng.random(ROWS).tolist()
        self.entries, self.reads, self.cut = [], 0, None
        for k in range(ROWS):
            result = filled(id=f"d{k}", arm=arm[k], propensity=0.5, u=0.5, available=ALL, ramp=1.0, at=k)
            self.entries.append((StreamRow(1, k + 1, int(RowKind.UPDATE), f"d{k}", reward[k], False, None, None, k), result))
        self.closed = [DecisionEnd(k + 1, arm[k], 0.5, ALL, k, "learned") for k in range(ROWS)]

    def stream(self, policy, after=0, limit=None):
        self._read()
        return self.entries[after : after + limit]

    def ends(self, policy, after, limit):
        self._read()
        return self.closed[after : after + limit], min(after + limit, len(self.closed))

    def _read(self):
        self.reads += 1
        if self.reads == self.cut:
            raise sqlite3.OperationalError("interrupted")


def page(version):
    return SimpleNamespace(id=1, version=version, scale=(0.0, 1.0), arms=["a", "b"], first_arms=2, now=10 * ROWS, open=False)


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_look_that_is_cut_off_loses_and_doubles_nothing(cut):
    journal, cache = Journal(), TallyCache()
    cache.tally(journal, page(1000))
    journal.reads, journal.cut = 0, cut
    with pytest.raises(sqlite3.OperationalError):
        cache.tally(journal, page(ROWS))
    tally, behind = cache.tally(journal, page(ROWS))
    whole, _ = TallyCache().tally(Journal(), page(ROWS))
    assert (tally.rows, behind) == (ROWS, 0) and tally.policy() == pytest.approx(whole.policy())
    assert journal.reads == 4  # 1,000 to 12,000 in three parts, and the one that was cut off: what was read is kept


@pytest.mark.parametrize("cut", [2, 3])
def test_feedback_that_was_being_counted_is_counted_once(cut):
    journal, cache = Journal(), TallyCache()
    journal.closed = journal.closed[:1000]
    cache.evidence(journal, page(0))
    journal.closed = Journal().closed
    journal.reads, journal.cut = 0, cut
    with pytest.raises(sqlite3.OperationalError):
        cache.evidence(journal, page(0))
    assert cache.evidence(journal, page(0)).decisions.sum() == ROWS


def test_looks_get_ahead_however_short_they_are():
    """Each look reads a part at least, and the next goes on there: a journal of any length is read in the end."""
    journal, cache = Journal(), TallyCache(seconds=0.0)
    left = []
    while not left or left[-1]:
        cache.begin_look([page(ROWS)])
        left.append(cache.tally(journal, page(ROWS))[1])
    assert left == [7000, 2000, 0]
    while cache.advance(journal):
        pass
    assert cache.feedback[1].evidence.decisions.sum() == ROWS
