"""Decisions that come together: as if they came one after the other."""

import pytest

from hsb.serve.core import Archive, Change, CoreLimits, Create, Decide, Now, RemoveArm, Reward
from hsb.serve.core.orders import NewDecision
from hsb.serve.local import Local

SECRET, NOW = b"0123456789abcdef", Now(1_800_000_000 * 10**6, 0)
KINDS = {"default": {"kind": "HSB"}, "exp3": {"kind": "Exp3", "learning_rate": 0.2}}
CHANGES = {
    "as it is": None,
    "floor": Change(0, "home", {"floor": 0.2}),
    "ramp": Change(0, "home", {"ramp": 0.5, "baseline": "b"}),
    "removed": RemoveArm(0, "home", "b"),
    "archived": Archive(0, "home"),
    "receipts": Change(0, "home", {"durability": "receipt"}),
}
ODD = [
    {"policy": "other"},
    {"policy": "nobody"},
    {"available": ["a", "c"]},
    {"available": ["nothing"]},
    {"baseline": "b"},
    {"min_version": 5},
    {"min_version": 10**9},
    {"id": "no id!"},
    {"id": 7},
    {"id": "twice"},
    {"id": "twice"},
    {"activate": False},
    {"fresh": True},
    {"receipt": True},
    {"context": {"age": float("nan")}},
    {"context": {"age": [1]}},
    {"context": {"never": "seen", "age": None}},
    {"context": {"z": 1, "age": 2}},
    {"context": None},
]


def questions(prefix):
    usual = {"policy": "home", "fresh": False, "key": 3}
    rows = [usual | {"id": f"{prefix}-{k}", "context": {"age": k, "country": "de" if k % 3 else "fr"}} for k in range(40)]
    rows += [usual | {"id": f"{prefix}-odd-{k}", "context": {"age": k}} | odd for k, odd in enumerate(ODD)]
    return [Decide(k, **row) for k, row in enumerate(rows)]


@pytest.fixture
def taught(tmp_path):
    """Makes services that have learned a little, with nothing under way."""
    results = []

    def make(kind, change, **limits):
        results.append(_taught(tmp_path / f"{len(results)}.db", kind, change, **limits))
        return results[-1]

    yield make
    for local in results:
        local.close()


def told(effects):
    """All that is answered but receipts, which name the process that made them."""
    return [
        (each.request, each.status, {name: value for name, value in each.body.items() if name != "receipt"}) for each in effects
    ]


def _taught(path, kind, change, **limits):
    local = Local(path, now=NOW, limits=CoreLimits(**limits))
    for name in ("home", "other"):
        local.ask(Create(0, {"name": name, "arms": ["a", "b", "c"], "policy": KINDS[kind]}, SECRET), NOW)
    for k in range(30):
        local.ask(Decide(0, "home", f"before-{k}", {"age": k, "country": "de"}), NOW)
        local.ask(Reward(0, f"before-{k}", float(k % 2)), NOW)
    if change is not None:
        assert local.ask(change, NOW).status in ("done", "stored")
    return local


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_as_one_by_one(taught, kind, change):
    """Orders, answers, counts and deadlines, whatever is among them."""
    one, other = taught(kind, CHANGES[change]), taught(kind, CHANGES[change])
    some = questions("q")
    alone = [effect for message in some for effect in one.core.handle(message, NOW)]
    assert told(other.core.handle_all(some, NOW)) == told(alone)
    assert list(other.core.waiting) == list(one.core.waiting)
    assert other.core.counts == one.core.counts
    assert [watch.due for watch in other.core.watches.values()] == [watch.due for watch in one.core.watches.values()]
    results = [order for _, order, _ in one.core.waiting if type(order) is NewDecision]
    assert (len(results) > 40) == (change != "archived")
    assert told(one.ask_all([], NOW)) == told(other.ask_all([], NOW))


@pytest.mark.parametrize("waiting", [1, 10, 58, 59, 60])
def test_no_more_than_there_is_room_for(taught, waiting):
    one, other = taught("exp3", None, waiting=waiting), taught("exp3", None, waiting=waiting)
    some = questions("q")
    alone = [effect for message in some for effect in one.core.handle(message, NOW)]
    assert told(other.core.handle_all(some, NOW)) == told(alone)
    assert list(other.core.waiting) == list(one.core.waiting) and len(other.core.waiting) <= waiting


def test_most_are_drawn_together(taught, monkeypatch):
    """The control: what is compared above is another way, not the same one."""
    local, some = taught("default", None), questions("q")
    monkeypatch.setattr(type(local.core.policies["home"]), "decide", None)
    with pytest.raises(TypeError):
        local.core.handle(some[0], NOW)
    assert local.core.handle_all(some[:40], NOW) == []
    assert len(local.core.waiting) == 40
