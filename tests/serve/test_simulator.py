"""The core under a seeded world (simulate.py), and faults planted to see that the simulator notices (planted.py)."""

import time

import pytest
from support.serve.planted import FAULTS
from support.serve.simulate import run
from support.serve.sizes import figures, size

SEEDS = size("simulations")


SEEN: dict[int, set[str]] = {}


@pytest.mark.sized
@pytest.mark.parametrize("part", range(4))
def test_it_keeps_its_promises(part):
    """I1 to I4 in every world."""
    SEEN[part], began = set(), time.monotonic()
    for seed in range(part, SEEDS, 4):
        SEEN[part] |= run(seed, 500).counts.keys()
    assert {"good", "created", "stored", "accepted", "learned", "duplicate", "conflict", "late", "unknown", "refused"} <= SEEN[
        part
    ]
    figures("simulated worlds of 500 steps", worlds=len(range(part, SEEDS, 4)), seconds=round(time.monotonic() - began, 1))


@pytest.mark.sized
def test_all_that_can_happen_does():
    """Among the worlds of the test above, where all of it was run."""
    if len(SEEN) == 4:
        seen = set().union(*SEEN.values())
        assert {"full", "lost before", "lost after", "crash before", "crash after", "away", "gone"} <= seen
        assert {"promised", "restored", "forged", "erased", "packed"} <= seen


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_planted_faults_are_noticed(fault, monkeypatch):
    fault(monkeypatch.setattr)
    for seed in range(60):
        try:
            run(seed, 250)
        except Exception:  # whatever it notices it by
            return
    pytest.fail("60 worlds, and nothing was noticed")


def test_what_is_planted_is_all_that_is_noticed():
    """The control: the same worlds without a fault."""
    for seed in range(12):
        run(seed, 250)


def test_a_seed_is_a_world():
    assert run(5, 300).counts == run(5, 300).counts != run(6, 300).counts


def test_with_arms_that_come_with_each_request():
    """The same promises: each draw and each update follows from the request in the journal, through crashes, receipts and candidates."""
    seen, kinds = set(), [{"kind": "HSB"}, {"kind": "HSB", "implicit": True}]
    for seed in range(4):
        seen |= run(seed, 300, kinds=kinds, opened=True).counts.keys()
    assert {"created", "stored", "accepted", "learned", "conflict", "refused", "crash after", "restored"} <= seen


@pytest.mark.parametrize("seed", range(3))
def test_with_the_default_policy(seed):
    """HSB without a structure learns decisions as its own, with what it saw and was advised then: the fold is the same after every crash."""
    run(seed, 300, kinds=[{"kind": "HSB"}, {"kind": "HSB"}, {"kind": "Exp3", "learning_rate": 0.2}])
