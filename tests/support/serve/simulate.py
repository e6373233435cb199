"""The real core in a seeded world: a disk that is late, fails, or does not answer; messages doubled, dropped, reordered; clocks that jump;
crashes and recoveries. The invariants are checked during the run and at the end, against the naive reading of the journal.

    python tests/support/serve/simulate.py 2000 500        # seeds, steps; a failing seed is printed
"""

import json
import random
import sys
from collections import Counter
from pathlib import Path

from hsb.serve.core import (
    Activate,
    Answer,
    Archive,
    Change,
    Commit,
    Committed,
    ConfirmClock,
    Core,
    CoreLimits,
    Decide,
    Failed,
    Follow,
    Followed,
    Now,
    Pack,
    Packed,
    Purge,
    Stop,
    TakeSnapshot,
    Tick,
    Void,
    seal,
)
from hsb.serve.store import start

sys.path.insert(0, str(Path(__file__).parents[2]))  # run as a script, too

from support.serve.model_store import ModelStore, NotUnique
from support.serve.simulated_checks import Checks
from support.serve.simulated_clients import Clients
from support.serve.simulated_receipts import unpacked

SECOND = 1_000_000
HOUR = 3600 * SECOND
MINUTES = 5 * 60 * SECOND
CHEAP = [{"kind": "Exp3", "learning_rate": 0.2}, {"kind": "Uniform"}]
TREE = {"kind": "SExp3", "structure": {"kind": "BinaryTree", "depth": 2}, "learning_rate": 0.1}
LIMITS = CoreLimits(waiting=40, orders=8, closing=5, following=7, updates=25, pause=600 * SECOND)
SILENT = {"away", "full", "overloaded"}


class World(Clients, Checks):
    """A core, its disk, its clients and its clocks."""

    def __init__(self, seed, store=None, kinds=None, opened=False):
        self.rng = random.Random(seed)
        self.store = ModelStore() if store is None else store
        self.true = self.mono = 10 * HOUR  # the real time; the clock that never jumps starts again at a restart
        self.skew = 20_000 * HOUR  # of the wall clock
        self.opened = opened  # whether arms come with requests
        self.kinds = kinds or [*CHEAP, *CHEAP, TREE]
        self.mail, self.flight, self.follows, self.packs = [], None, [], []
        self.names, self.ids, self.requests = [], [], 0
        self.asked, self.acked = {}, {}
        self.open = set()  # requests that the core has taken and not answered
        self.born, self.trusted = {}, 0  # when decisions were made; when the clock was last confirmed, or a process began
        self.book, self.when, self.commits, self.counts = {}, {}, 0, Counter()
        self.receipts, self.promised, self.lost, self.forgeries = (
            {},
            {},
            {},
            set(),
        )  # promised: answered, not known to be on disk
        self.fresh = 0
        self.restart()

    @property
    def now(self):
        return Now(self.true + self.skew, self.mono)

    # -- the process ----------------------------------------------------------------------------------------------------

    def restart(self):
        self.mono = self.rng.randrange(HOUR)
        self.flight, self.follows, self.packs, self.open = None, [], [], set()
        self.promised = {name: told for name, told in self.promised.items() if self.alive(name)}
        self.lost |= {name: told for name, told in self.promised.items() if name not in self.store.decision}
        self.acked |= {("decision", name): told for name, told in self.promised.items() if name in self.store.decision}
        self.promised = {}
        self.core = Core(**start(self.store, self.now, process=f"process-{self.counts['starts']}"), limits=LIMITS)
        self.trusted = self.true
        self.counts["starts"] += 1
        self.do(self.core.begin())

    def handle(self, message):
        if hasattr(message, "request"):
            self.open.add(message.request)
        self.do(self.core.handle(message, self.see()))

    def handle_all(self, messages):
        self.open |= {message.request for message in messages}
        before = len(self.core.waiting)
        self.do(self.core.handle_all(messages, self.see()))
        assert len(self.core.waiting) <= max(before, LIMITS.waiting), "more waits than may"

    def do(self, effects):
        for effect in effects:
            if isinstance(effect, Answer):
                assert effect.request in self.open, "a request was answered twice"
                self.open.discard(effect.request)
                self.answered(effect)
            elif isinstance(effect, Commit):
                assert self.flight is None, "two batches at once"
                self.flight = effect.batch
            elif isinstance(effect, Follow):
                self.follows.append(effect)
            elif isinstance(effect, Pack):
                self.packs.append(effect)
            elif isinstance(effect, Stop):
                assert not self.open, "it stopped, and left requests without an answer"
                self.counts["stops"] += 1
                self.restart()
                return

    # -- the disk -------------------------------------------------------------------------------------------------------

    def disk(self, fate):
        """Complete or fail the batch under way."""
        batch, self.flight = self.flight, None
        try:
            outcomes, changes = self.store.prepare(batch)
            written = fate in ("good", "lost after", "crash after")
            if written:
                self.store.write(changes)
                self.note(batch, changes)
        except NotUnique as error:
            raise AssertionError(f"I2: the database refuses a second {error}") from None
        self.counts[fate] += 1
        if fate == "good":
            self.handle_report(Committed(batch.number, outcomes))
        elif fate == "full":
            self.handle_report(Failed(batch.number, "full"))
        elif fate in ("lost before", "lost after"):
            self.handle_report(Failed(batch.number, "lost", "I/O error"))
        else:
            self.restart()

    def handle_report(self, message):
        self.do(self.core.handle(message, self.see()))

    def note(self, batch, changes):
        """Check that no row just written was closed too early."""
        self.commits += 1
        self.counts["erased"] += len(changes.erased)
        if changes.erased:
            self.forget(changes)
        self.when |= {(row.decision, row.id): self.commits for row in changes.rewards}
        self.when |= {row.decision: self.commits for row in changes.stream if row.kind == 1}
        for row in changes.decisions:
            self.born.setdefault(row.id, self.book.get(row.at, self.true - HOUR * 1000))
        for name, row in changes.pending.items():
            if name not in self.store.decision:
                continue  # erased in the same batch
            self.born[name] = self.book.get(row.deadline - self.waits[name], self.true - HOUR * 1000)
        deadline = [
            row for row in changes.stream if row.kind == 1 and row.decision not in {each.decision for each in changes.rewards}
        ]
        for name in [row.decision for row in deadline] + [row.decision for row in changes.closed if row.how == "expired"]:
            early = self.true - self.born[name] + 2 * MINUTES + SECOND
            if name in self.waits and self.trusted < self.born[name]:
                assert early >= self.waits[name], f"a clock that jumped closed {name} before its time"

    def forget(self, changes):
        """Drop promises about erased rows, and check that no row is left."""
        left = self.store.decision
        names = {name for kind, name in self.acked if kind == "decision" and name not in left}
        self.acked = {
            each: told for each, told in self.acked.items() if (each[1] if each[0] == "decision" else each[1][0]) in left
        }
        policies = set(changes.erased)
        assert not any(row.policy in policies for row in left.values()) and not policies & self.store.rows.keys()
        self.receipts = {
            name: each
            for name, each in self.receipts.items()
            if json.loads(unpacked(each))[1] not in policies and name not in names
        }
        for some in (self.promised, self.lost):
            for name in some.keys() - self.receipts.keys():
                del some[name]

    @property
    def waits(self):
        return {row.id: row.deadline - row.at for row in self.store.decision.values()}

    def see(self):
        """Return the time that the process reads; record the real time."""
        self.core.clock.see(self.now)
        self.book[self.core.clock.time(self.now)] = self.true
        return self.now

    # -- steps ----------------------------------------------------------------------------------------------------------

    rewards_asked: dict

    def step(self):
        roll = self.rng.random()
        if roll < 0.28:
            self.decide() if self.core.policies else self.create()
        elif roll < 0.46:
            self.reward()
        elif roll < 0.50:
            self.send(self.rng.choice([Activate, Void])(self.request(), self.some_id()))
        elif roll < 0.54:
            self.change()
        elif roll < 0.545 and len(self.names) < 4:
            self.create()
        elif roll < 0.555:
            self.send(TakeSnapshot(self.request(), self.some_name()))
        elif roll < 0.556 and self.rng.random() < 0.3:
            self.send(Archive(self.request(), self.some_name()))
        elif roll < 0.557 and self.rng.random() < 0.5:
            self.send(Purge(self.request(), self.some_name()))
        elif roll < 0.60:
            self.pass_time(self.rng.choice([1, 1, 5, 5, 20, 100, 600, 3000]) * SECOND)
        elif roll < 0.605:
            self.skew += self.rng.choice([-24, -1, 1, 24, 0.05]) * HOUR
            self.skew = int(self.skew)
        elif roll < 0.61:
            self.handle(ConfirmClock(self.request()))
            self.trusted = self.true
        elif roll < 0.613:
            self.restart()  # a kill
        elif roll < 0.88:
            self.burst(self.rng.choice([1, 1, 1, 2, 5]))
        else:
            self.settle()
        self.do(self.core.flush(self.see()))

    def burst(self, count, kept=False):
        """Several messages before the next batch begins, one by one or together."""
        together = self.rng.random() < 0.5
        some = []
        for _ in range(min(count, len(self.mail))):
            for message in self.delivered(kept):
                self.rewards_asked[message.request] = message
                some.append(message) if together else self.handle(message)
                if isinstance(message, Decide) and message.fresh:
                    self.ids.append(message.id)
        if together:
            self.handle_all(some)

    def delivered(self, kept):
        """Return a message under way, in any order: an empty list if it is lost, two if it is repeated."""
        message = self.mail.pop(self.rng.randrange(len(self.mail)))
        roll = self.rng.random()
        if roll < 0.05 and not kept:
            return []
        if roll <= 0.93:
            return [message]
        again = message._replace(request=self.request())
        return [message, again._replace(fresh=False) if isinstance(again, Decide) else again]

    def pack(self):
        """Pack a snapshot, some time after it was frozen."""
        asked = self.packs.pop(self.rng.randrange(len(self.packs)))
        self.do(self.core.handle(Packed(asked.policy, seal(asked.frozen), asked.request), self.now))
        self.counts["packed"] += 1

    def settle(self):
        if self.packs and self.rng.random() < 0.7:
            self.pack()
        elif self.follows and self.rng.random() < 0.6:
            asked = self.follows.pop(0)
            result = self.store.stream(asked.policy, asked.after, asked.limit)
            self.do(self.core.handle(Followed(asked.policy, asked.after, result), self.now))
        elif self.flight is not None:
            fates = ["good"] * 60 + ["full", "lost before", "lost after", "crash before", "crash after", "crash after"]
            self.disk(self.rng.choice(fates))

    def pass_time(self, micros):
        self.true += micros
        self.mono += micros
        self.do(self.core.handle(Tick(), self.now))

    def run(self, steps):
        self.rewards_asked = {}
        for _ in range(steps):
            self.step()
        self.end()
        return self

    # -- the end --------------------------------------------------------------------------------------------------------

    def end(self):
        """End the faults: deliver, answer and close everything, then check all."""
        self.handle(ConfirmClock(self.request()))
        self.trusted = self.true
        self.pass_time(HOUR)
        self.burst(len(self.mail), kept=True)
        for name in self.core.policies:
            self.handle(Change(self.request(), name, {"feedback": self.feedback()}))
        self.quiet()
        assert not self.open, f"requests without an answer: {self.open}"
        for fate in ("full", "good", "good"):
            self.pass_time(1000 * HOUR)
            self.quiet(fate)
        assert not self.store.waiting, f"decisions that are never closed: {list(self.store.waiting)[:3]}"
        assert not any(served.behind() for served in self.core.by_id.values()), "a candidate never catches up"
        self.check()
        live = {served.name: (served.version, served.digests()) for served in self.core.by_id.values()}
        self.restart()
        again = {served.name: (served.version, served.digests()) for served in self.core.by_id.values()}
        assert live == again, "I3: what is recovered is not what was served"

    def quiet(self, fate="good"):
        for _ in range(10_000):
            self.do(self.core.flush(self.see()))
            if self.follows:
                asked = self.follows.pop(0)
                result = self.store.stream(asked.policy, asked.after, asked.limit)
                self.do(self.core.handle(Followed(asked.policy, asked.after, result), self.now))
            elif self.packs:
                self.pack()
            elif self.flight is not None:
                self.disk(fate)
                fate = "good"
            else:
                return
        raise AssertionError("it never comes to rest")


def run(seed, steps, **given):
    try:
        return World(seed, **given).run(steps)
    except AssertionError as error:
        error.args = (f"seed {seed}: {error}",)
        raise


if __name__ == "__main__":
    seeds, steps = (int(each) for each in sys.argv[1:3])
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    total = Counter()
    for seed in range(first, first + seeds):
        total += run(seed, steps).counts
    print(dict(total))
