"""What a policy is at a moment, as plain data."""

import pickle

import pytest

from hsb.serve.core import AddArm, Create, Decide, RemoveArm
from hsb.serve.local import Local, clock
from hsb.serve.page.sheets import TallyCache, sheet


@pytest.fixture
def local(tmp_path):
    local = Local(tmp_path / "hsb.db")
    local.ask(Create(0, {"name": "home", "arms": ["a", "b"], "policy": {"kind": "Exp3"}, "floor": 0.1}, b"s" * 32))
    yield local
    local.close()


def taken(local):
    return sheet(local.core, local.core.policies["home"], clock().wall)


def test_it_goes_through_a_pipe(local):
    page = taken(local)
    assert pickle.loads(pickle.dumps(page)) == page and (page.name, page.arms, page.updates) == ("home", ["a", "b"], 0)


def test_arms_keep_their_indices(local):
    local.ask(AddArm(1, "home", "c"))
    local.ask(RemoveArm(2, "home", "a"))
    page = taken(local)
    assert page.active_arms == ["b", "c"] and page.removed == ["a"] and [page.arm_index(arm) for arm in "abc"] == [0, 1, 2]
    assert page.first_arms == 2


def test_it_is_not_changed_by_what_comes_after(local):
    page = taken(local)
    local.ask(Decide(1, "home", "d1", 0.5))
    assert page.version == taken(local).version and page.counts is not local.core.policies["home"]
    assert TallyCache().tally(local.store, page)[1] == 0
