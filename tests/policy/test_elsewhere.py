"""Decisions of other policies: each is learned once, in bounded memory; what was forgotten is refused, never learned again."""

import json
import os
import time
from typing import Any

import numpy as np
import pytest

import hsb
from hsb.policy.elsewhere import BLOCK, DAY, ROOM, Elsewhere, birth
from hsb.policy.ledger import Ledger

SMALL = 40_000  # bytes of a record that soon forgets


def through(record: Elsewhere) -> Elsewhere:
    """The record from a file."""
    return Elsewhere.unpacked(json.loads(json.dumps(record.plain())), record.packed())


def named(born: int, k: int = 0) -> str:
    """The name of a lineage that began then, in ms."""
    return f"{k:016x}-0-{born:011x}{k:013x}"


def test_names_say_when_streams_began() -> None:
    before = time.time_ns() // 1_000_000
    lineage = Ledger().lineage
    child = Ledger(lineage=lineage).fork(3).lineage
    assert before <= birth(lineage) <= birth(child) <= time.time_ns() // 1_000_000
    assert child.split("-")[:2] == [lineage.split("-")[0], "1"]
    for other in (
        "a lineage",
        "",
        lineage.upper() + "x",
        f"{lineage}-1",
        named(before + 2 * DAY),
    ):  # the last: its clock is wrong
        assert birth(other) == 0


@pytest.mark.parametrize("lineages", [1, 3, 40, 5000])
def test_nothing_is_ever_learned_twice_however_little_room_there_is(lineages: int) -> None:
    """A naive record with room for all says what is true: what it knows is known or refused; and the newest are known."""
    rng, record, naive = np.random.default_rng(lineages), Elsewhere(room=SMALL), set[tuple[str, int]]()
    names = [named(1_700_000_000_000 + k, k) for k in range(lineages)]
    issued = dict.fromkeys(names, 0)
    largest = 0
    for t in range(6000):
        alive = names[max(0, t * lineages // 6000 - 20) : 1 + t * lineages // 6000]
        name = alive[rng.integers(len(alive))]
        issued[name] += int(rng.integers(1, 300))
        number = max(0, issued[name] - int(rng.integers(600)))
        if record.has(name, number) or record.is_forgotten(name, number):
            continue
        assert (name, number) not in naive
        record.add(name, number)
        naive.add((name, number))
        assert record.has(name, number)
        largest = max(largest, sum(known.size for known in record.lineages.values()))
        if t % 500 == 0:
            record, room = through(record), record.room
            record.room = room
    assert largest <= SMALL + 2 * BLOCK
    for name, number in naive:
        assert record.has(name, number) or record.is_forgotten(name, number)
    assert sum(record.has(*each) for each in naive) < len(naive)  # the control: it had to forget


def test_busy_streams_lose_their_oldest_and_idle_ones_keep_theirs() -> None:
    record, idle, busy = Elsewhere(room=SMALL), named(5, 1), named(6, 2)
    record.add(idle, 3)
    for number in range(0, 200 * BLOCK, BLOCK // 4):
        record.add(busy, number)
    assert record.has(idle, 3) and not record.is_forgotten(idle, 2)
    assert record.is_forgotten(busy, 0) and record.has(busy, 199 * BLOCK)
    assert not record.is_forgotten(busy, 200 * BLOCK) and not record.is_forgotten(named(1, 3), 0)  # none was forgotten whole


def test_of_many_streams_the_one_idle_longest_is_forgotten_and_all_that_began_before_it_refused() -> None:
    record = Elsewhere(room=SMALL)
    for k in range(200):
        record.add(named(1000 + k, k), 0)
        record.add(named(1000, 0), 8 * k)  # never idle
    assert record.has(named(1000, 0), 8 * 199) and len(record.lineages) < 100
    assert record.is_forgotten(named(1001, 1), 0) and record.is_forgotten(named(900, 7), 0)  # the second: unknown, and older
    assert record.is_forgotten("a name that says nothing", 0)
    assert not record.is_forgotten(named(1200, 200), 0)  # younger than all: it can be told


@pytest.mark.parametrize(
    "change",
    [
        lambda plain: plain.update(since=-2),
        lambda plain: plain.update(since="x"),
        lambda plain: plain.pop("since"),
        lambda plain: plain["lineages"][0].__setitem__(0, 3),
        lambda plain: plain["lineages"][0].__setitem__(1, -1),
        lambda plain: plain["lineages"][0].__setitem__(2, [[0, 513]]),
        lambda plain: plain["lineages"][0].__setitem__(2, [[0, 1], [0, 1]]),
        lambda plain: plain["lineages"][0].__setitem__(2, [[0, 2]]),
        lambda plain: plain["lineages"][0].__setitem__(2, [[0.5, 1]]),
        lambda plain: plain["lineages"].append(plain["lineages"][0]),
        lambda plain: plain["lineages"].append(3),
    ],
)
def test_damaged_records_are_refused(change: Any) -> None:
    record = Elsewhere()
    record.add("a", 3)
    assert through(record).has("a", 3)
    plain = json.loads(json.dumps(record.plain()))
    change(plain)
    with pytest.raises(ValueError, match="does not fit"):
        Elsewhere.unpacked(plain, record.packed())


def test_a_worker_that_loads_the_file_for_each_decision(tmp_path: Any) -> None:
    """5,000 loads were once enough for the first decision to be learned twice. Each load is a lineage with one decision."""
    learner, path = hsb.Uniform(arms=["a", "b"], seed=0), tmp_path / "policy.hsb"
    learner.save(path)
    results = []
    for _ in range(20):
        results.append(hsb.load(path, seed=None).decide({}).to_dict())
        learner.learn(hsb.Decision.from_dict(results[-1]), reward=1.0)
    source, number = results[0]["id"].rsplit("-", 1)
    for k in range(5000):  # as many more, by the names that they would have
        each = {**results[0], "id": f"{Ledger(lineage=source).fork(0).lineage}-{k % 3}"}
        learner.learn(hsb.Decision.from_dict(each), reward=1.0)
    learner.save(path)
    for policy in (learner, hsb.load(path)):
        for each in results:
            with pytest.raises(hsb.InputError, match="already"):
                policy.learn(hsb.Decision.from_dict(each), reward=1.0)
        assert policy.rounds == 5020
    assert number == "0" and os.path.getsize(path) < 500_000


def test_what_was_forgotten_is_refused_in_words() -> None:
    policy, other = hsb.Uniform(arms=2, seed=0), hsb.Uniform(arms=2, seed=1)
    policy.ledger.elsewhere = Elsewhere(room=SMALL)
    first = other.decide(None)
    sent = first.to_dict()
    policy.learn(first, reward=1.0)
    lineage, rounds = first.id.rsplit("-", 1)[0], 1  # type: ignore[union-attr]
    for number in range(BLOCK, 100 * BLOCK, BLOCK // 2):
        policy.learn(hsb.Decision.from_dict({**sent, "id": f"{lineage}-{number}"}), reward=1.0)
        rounds += 1
    with pytest.raises(hsb.InputError, match="so long ago that this policy no longer knows"):
        policy.learn(hsb.Decision.from_dict(sent), reward=1.0)
    with pytest.raises(hsb.InputError, match="so long ago"):
        policy.learn_many([hsb.Decision.from_dict(sent)], rewards=[1.0])
    assert policy.rounds == rounds


def test_how_much_there_is_room_for() -> None:
    """What docs/service.md says of it."""
    record = Elsewhere()
    full = bytes([255]) * (BLOCK // 8)
    record.add("a", 0)
    known = record.lineages["a"]
    known.blocks = {k: bytearray(full) for k in range(100_000_000 // BLOCK)}
    assert known.size <= ROOM < 1.1 * known.size
    single = Elsewhere()
    single.add("a", 0)
    assert 24_000 * single.lineages["a"].size <= ROOM < 26_000 * single.lineages["a"].size
