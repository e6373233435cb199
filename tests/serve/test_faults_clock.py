"""A wall clock that jumps, by an hour, a day, forwards and backwards, under a real process: nothing is closed early or twice.

The process reads the seconds by which its clock is off from a file (started.py); its monotonic clock is the machine's.
"""

import random
import time

import pytest
from support.serve.processes import Process, sound
from support.serve.sizes import LEVEL, figures, size
from support.waiting import wait_until

from hsb.serve.store.sqlite import SqliteReader

pytestmark = [pytest.mark.long, pytest.mark.sized]
HOUR, DAY = 3600, 86_400
WAIT = 0.6  # seconds from a decision to its deadline
SPEC = {"arms": ["a", "b", "c"], "policy": {"kind": "Exp3"}, "feedback": {"wait": WAIT, "default_reward": 0}}


class Jumping:
    """A process whose clock can be set."""

    def __init__(self, folder, fault=None, off=0):
        self.path, self.clock = folder / "hsb.db", folder / "clock"
        self.set(off)
        self.service = Process(self.path, clock=self.clock, fault=fault)
        self.service.make(home=SPEC)
        self.count, self.slow = int(time.time() * 1e6), 0

    def set(self, seconds):
        other = self.clock.with_name("clock.new")
        other.write_text(str(seconds))
        other.replace(self.clock)

    def decide(self, rewarded=False):
        self.count += 1
        status, result = self.service.ask("POST", "/v1/policies/home/decisions", {"id": f"d{self.count}", "context": 1})
        assert status == 201, result
        if rewarded:
            status, _ = self.service.ask("POST", f"/v1/decisions/d{self.count}/reward", {"reward": 1})
            if status == 410:  # the machine was so busy that the wait was over: another one
                self.slow += 1
                self.decide(rewarded=True)
            else:
                assert status == 202

    def held(self):
        return self.service.ask("GET", "/readyz")[1]["clock_held"]

    def pending(self):
        return self.service.ask("GET", "/v1/policies/home")[1]["pending"]


def jumped(folder, jumps, seed, fault=None):
    """As many jumps while decisions wait, and back."""
    rng, one, began, longest = random.Random(seed), Jumping(folder, fault), time.time(), 0.0
    with one.service:
        for k in range(jumps):
            off = rng.choice([HOUR, DAY]) * rng.choice([1, -1])
            for j in range(3):
                one.decide(rewarded=j == 1)
            if k % 2:
                time.sleep(rng.random() * WAIT / 2)
            one.set(off)
            one.decide()  # made while the clock is off
            assert one.held(), "the jump was not noticed"
            before = one.pending()
            time.sleep(WAIT + 0.2)  # all deadlines pass
            assert one.pending() == before >= 1, "closed though the clock had jumped"
            if k % 3 == 1:
                one.set(-off)  # the other way, at once
                assert one.held()
            one.set(0)
            put_right = time.monotonic()
            time.sleep(0.3)  # nobody asks anything: it must be seen all the same
            wait_until(lambda: one.pending() == 0)
            longest = max(longest, time.monotonic() - put_right)
            assert not one.held()
        one.service.stop()
    sound(one.path)
    reader = SqliteReader(one.path)
    updates = list(reader.entries(1))
    reader.close()
    for row, decision in updates:
        assert began - 60 <= row.at / 1e6 <= time.time() + 1, "a row has a time that it never was"
        if decision is not None:
            assert row.at - decision.at >= WAIT * 1e6, "closed early"
    learned = [row for row, decision in updates if decision is not None]
    assert len(learned) == 4 * jumps + one.slow and sum(not row.defaulted for row in learned) == jumps
    return longest


@pytest.mark.parametrize("part", range(2))
def test_a_clock_that_jumps(part, tmp_path):
    jumps = size("jumps") // 2
    longest = jumped(tmp_path, jumps, part)
    figures("clock jumps", jumps=jumps, closed_early=0, closed_twice=0, longest_until_closed_when_put_right=longest)


@pytest.mark.skipif(LEVEL == "small", reason="in make test-serve")
def test_a_jump_that_is_believed_is_noticed(tmp_path):
    with pytest.raises(AssertionError, match="jump"):
        jumped(tmp_path, 2, 0, fault="jumps_are_believed")


def test_a_jump_that_an_admin_confirms(tmp_path):
    one = Jumping(tmp_path)
    with one.service:
        one.decide()
        one.set(DAY)
        one.decide()
        assert one.held()
        assert one.service.ask("POST", "/v1/clock/confirm")[0] == 200
        wait_until(lambda: one.pending() == 0)
        assert not one.held()
        one.service.stop()
    sound(one.path)


def test_a_start_with_a_clock_behind_the_journal(tmp_path):
    """Rows go on after the last one; nothing is closed until the clock is right."""
    one = Jumping(tmp_path)
    with one.service:
        one.decide()
        one.service.kill()
    again = Jumping(tmp_path, off=-DAY)
    with again.service:
        again.decide()
        assert again.held()
        time.sleep(WAIT + 0.2)
        assert again.pending() == 2
        again.set(0)
        wait_until(lambda: again.pending() == 0)
        again.service.stop()
    sound(again.path)
    reader = SqliteReader(again.path)
    times = [row.at for row in reader.decisions(1)]
    reader.close()
    assert times == sorted(times)
