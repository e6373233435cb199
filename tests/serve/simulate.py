"""The real core under a seeded world: a disk that is late, fails, or says nothing; messages doubled, dropped, reordered; clocks that jump;
crashes and recoveries. What it must keep is checked on the way and at the end, against the naive reading of the journal.

    python tests/serve/simulate.py 2000 500        # seeds, steps; a failing seed is printed
"""

import base64
import json
import random
import sys
from collections import Counter

from model_store import ModelStore, NotUnique
from naive_serve import Naive, naive_aggregate, offered

from hsb.serve.checking import check
from hsb.serve.core import (
    Activate,
    AddArm,
    AddCandidate,
    Answer,
    Archive,
    Change,
    Commit,
    Committed,
    ConfirmClock,
    Core,
    Create,
    Decide,
    DropCandidate,
    Failed,
    Follow,
    Followed,
    Limits,
    Now,
    Pack,
    Packed,
    Promote,
    Purge,
    RemoveArm,
    Reward,
    Stop,
    TakeSnapshot,
    Tick,
    Void,
    receipts,
)
from hsb.serve.store import start

SECOND = 1_000_000
HOUR = 3600 * SECOND
MINUTES = 5 * 60 * SECOND
CHEAP = [{"kind": "Exp3", "learning_rate": 0.2}, {"kind": "Uniform"}]
TREE = {"kind": "SExp3", "structure": {"kind": "BinaryTree", "depth": 2}, "learning_rate": 0.1}
LIMITS = Limits(waiting=40, orders=8, closing=5, following=7, lessons=25, pause=600 * SECOND)
SILENT = {"away", "full", "overloaded"}


class World:
    def __init__(self, seed, store=None, kinds=None):
        self.rng = random.Random(seed)
        self.store = ModelStore() if store is None else store
        self.true = self.mono = 10 * HOUR  # what time it really is; the clock that never jumps begins anew at a restart
        self.skew = 20_000 * HOUR  # of the wall clock
        self.kinds = kinds or [*CHEAP, *CHEAP, TREE]
        self.mail, self.flight, self.follows, self.packs = [], None, [], []
        self.names, self.ids, self.requests = [], [], 0
        self.asked, self.acked = {}, {}
        self.open = set()  # requests that the core has taken and not answered
        self.born, self.trusted = {}, 0  # when decisions were made; when the clock was last confirmed, or a process began
        self.book, self.when, self.commits, self.counts = {}, {}, 0, Counter()
        self.receipts, self.promised, self.lost, self.fresh, self.forgeries = (
            {},
            {},
            {},
            0,
            set(),
        )  # promised: answered, not known to be on disk
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
        self.core = Core(**start(self.store, self.now), limits=LIMITS)
        self.trusted = self.true
        self.counts["starts"] += 1
        self.do(self.core.begin())

    def handle(self, message):
        if hasattr(message, "request"):
            self.open.add(message.request)
        self.do(self.core.handle(message, self.see()))

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
        """The batch that is under way meets its fate."""
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
        """What was just written must not have been closed before its time."""
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
        """What was erased is promised no more, and nothing of it is left."""
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
        """The time that the process is told; and when it really was."""
        self.core.clock.see(self.now)
        self.book[self.core.clock.time(self.now)] = self.true
        return self.now

    # -- clients --------------------------------------------------------------------------------------------------------

    def send(self, message):
        self.mail.append(message)

    def request(self):
        self.requests += 1
        return self.requests

    def some_id(self):
        """Mostly of a decision that there is."""
        known = list(self.store.decision)[-30:] if self.rng.random() < 0.9 else self.ids[-40:]
        return self.rng.choice(known) if known and self.rng.random() < 0.97 else f"x{self.rng.randrange(10**6)}"

    def some_name(self):
        known = list(self.core.policies) if self.rng.random() < 0.97 else self.names
        return self.rng.choice(known or ["none"])

    def decide(self):
        rng, fresh = self.rng, self.rng.random() < 0.4
        if fresh:
            self.fresh += 1
            id = f"f{self.fresh}"
        elif self.ids and rng.random() < 0.15:
            id = self.some_id()
        else:
            id = f"d{len(self.ids)}"
            self.ids.append(id)
        name = self.some_name()
        arms = ["a", "b", "c"] if rng.random() < 0.2 else None
        if arms:
            arms = rng.sample([*arms, "d"], rng.randrange(1, 4))
        question = (name, rng.choice([0.1, 0.3, 0.6, 0.9]), arms, None, rng.random() < 0.9)
        if id in self.asked and rng.random() < 0.7:
            question = self.asked[id]
        self.asked.setdefault(id, question)
        policy, context, available, baseline, activate = question
        more = {"fresh": fresh, "receipt": rng.random() < 0.2}
        self.send(Decide(self.request(), policy, id, context, available, baseline, activate, **more))

    def reward(self):
        rng, id = self.rng, self.some_id()
        if self.lost and rng.random() < 0.3:
            id = rng.choice(list(self.lost))
        receipt = self.receipts.get(id) if rng.random() < 0.6 else None
        if receipt is not None and rng.random() < 0.05:
            receipt = forged(receipt)
            self.forgeries.add(receipt)
        value = rng.choice([0.0, 1.0, 0.25, 1.0, 2.0])
        self.send(Reward(self.request(), id, value, rng.choice("1112"), None, rng.random() < 0.2, receipt))

    def feedback(self):
        rng, wait = self.rng, self.rng.choice([600, 3600, 7200])
        default = rng.choice([None, None, 0.0, 0.5])
        if default is None and rng.random() < 0.7:
            return {"wait": wait, "default_reward": None, "learn": "on_arrival", "aggregate": "first"}
        how = rng.choice(["first", "last", "sum", "mean", "min", "max"])
        return {"wait": wait, "default_reward": default, "learn": "at_deadline", "aggregate": how}

    def create(self):
        rng, name = self.rng, f"p{len(self.names)}"
        self.names.append(name)
        spec = {"name": name, "arms": ["a", "b", "c"], "policy": rng.choice(self.kinds), "feedback": self.feedback()}
        spec |= rng.choice([{}, {"floor": 0.1}, {"ramp": 0.4, "baseline": "a"}])
        spec |= rng.choice([{}, {"durability": "receipt"}])
        self.send(Create(self.request(), spec, rng.randbytes(32)))

    def change(self):
        rng = self.rng
        name, request = self.some_name(), self.request()
        which = rng.randrange(14)
        if which < 3:
            message = Change(
                request,
                name,
                rng.choice(
                    [
                        {"floor": 0.05},
                        {"floor": 0.0},
                        {"feedback": self.feedback()},
                        {"durability": "receipt"},
                        {"durability": "fsync"},
                    ]
                ),
            )
        elif which < 5:
            message = Change(
                request, name, rng.choice([{"ramp": 1.0}, {"ramp": 0.0, "baseline": "b"}, {"ramp": 0.7, "baseline": "a"}])
            )
        elif which == 5:
            message = AddArm(request, name, rng.choice("bcd"))
        elif which in (6, 12, 13):
            message = RemoveArm(request, name, rng.choice("bcd"))
        elif which < 9:
            message = AddCandidate(request, name, rng.choice("xy"), rng.choice(self.kinds))
        elif which == 9:
            message = DropCandidate(request, name, rng.choice("xy"))
        else:
            served = self.core.policies.get(name)
            message = Promote(request, name, rng.choice([*served.candidates, "x"] if served else "x"))
        self.send(message)

    def answered(self, answer):
        """An answer left: what it stands for must be on disk at this moment."""
        status, body = answer.status, answer.body
        self.counts[status] += 1
        asked = self.rewards_asked.get(answer.request)
        if "policy" in body and all(row.name != body["policy"] for row in self.store.policy.values()):
            return  # it was erased in the same batch
        if isinstance(asked, Reward) and asked.receipt is not None:
            self.check_receipt(asked, status)
        if status in ("created", "stored") and "arm" in body:
            told = (body["policy"], body["arm"], body["propensity"], body["deadline"])
            if "receipt" in body:
                self.receipts[body["id"]] = body["receipt"]
            durability = self.core.policies[body["policy"]].settings.durability
            if asked.fresh and durability == "receipt" and "receipt" in body and body["id"] not in self.store.decision:
                self.promised[body["id"]] = told
                self.counts["promised"] += 1
                return
            self.acked["decision", body["id"]] = told
            self.lost.pop(body["id"], None)  # it was asked for again, by its id, and decided anew
            self.check_acked("decision", body["id"])
        elif status in ("accepted", "learned", "late", "duplicate") and "learned_at_version" in body:
            value = 1.0 - asked.value if asked.loss else asked.value
            self.acked["reward", (asked.decision, asked.id)] = (value, status == "late")
            self.check_acked("reward", (asked.decision, asked.id))

    def alive(self, name):
        return json.loads(unpacked(self.receipts[name]))[1] in self.store.policy

    def check_receipt(self, asked, status):
        """With a receipt a reward is never refused for want of its decision, and the decision is what was answered, once."""
        if json.loads(unpacked(asked.receipt))[1] not in self.store.policy:
            return  # its policy was erased
        if asked.receipt in self.forgeries:
            assert status in ("refused", *SILENT), f"a receipt that was forged is answered {status}"
            self.counts["forged"] += 1
            return
        row = self.store.decision.get(asked.decision)
        assert status != "unknown", f"the reward of {asked.decision} was refused in spite of its receipt"
        assert status != "refused" or asked.value == 2.0, "a receipt was refused"
        if row is None or status in ("refused", *SILENT):
            return
        same = receipts.receipt(self.core.by_id[row.policy].secret, row, receipts_active(asked.receipt)) == asked.receipt
        if not same:
            assert status == "conflict", "a reward was taken for another decision than its receipt's"
        elif asked.decision in self.lost:
            self.acked["decision", asked.decision] = self.lost.pop(asked.decision)
            self.check_acked("decision", asked.decision)
            self.counts["restored"] += 1

    def check_acked(self, what, name):
        told = self.acked[what, name]
        if what == "decision":
            row = self.store.decision.get(name)
            assert row is not None, f"I1: decision {name} was answered and is not on disk"
            served = self.core.by_id[row.policy]
            found = (served.name, served.arms[row.arm], row.propensity, row.deadline)
        else:
            row = self.store.reward.get(name)
            assert row is not None, f"I1: reward {name} was answered and is not on disk"
            found = (row.value, row.late)
        assert found == told, f"I1: {what} {name} was answered as {told} and is {found}"

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
        """Several messages before the next batch begins."""
        for _ in range(min(count, len(self.mail))):
            self.deliver(kept)

    def deliver(self, kept=False):
        message = self.mail.pop(self.rng.randrange(len(self.mail)))  # in any order
        roll = self.rng.random()
        if roll < 0.05 and not kept:
            return  # lost on the way
        self.rewards_asked[message.request] = message
        self.handle(message)
        if isinstance(message, Decide) and message.fresh:
            self.ids.append(message.id)
        if roll > 0.93:  # and again
            again = message._replace(request=self.request())
            if isinstance(again, Decide):
                again = again._replace(fresh=False)
            self.rewards_asked[again.request] = again
            self.handle(again)

    def pack(self):
        """A snapshot is packed, some time after it was frozen."""
        asked = self.packs.pop(self.rng.randrange(len(self.packs)))
        self.do(self.core.handle(Packed(asked.policy, asked.frozen.rows(), asked.asked), self.now))
        self.counts["packed"] += 1

    def settle(self):
        if self.packs and self.rng.random() < 0.7:
            self.pack()
        elif self.follows and self.rng.random() < 0.6:
            asked = self.follows.pop(0)
            found = self.store.stream(asked.policy, asked.after, asked.limit)
            self.do(self.core.handle(Followed(asked.policy, asked.after, found), self.now))
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
        """No more faults: everything is delivered, answered and closed; then all is checked."""
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
                found = self.store.stream(asked.policy, asked.after, asked.limit)
                self.do(self.core.handle(Followed(asked.policy, asked.after, found), self.now))
            elif self.packs:
                self.pack()
            elif self.flight is not None:
                self.disk(fate)
                fate = "good"
            else:
                return
        raise AssertionError("it never comes to rest")

    def check(self):
        self.promised = {name: told for name, told in self.promised.items() if self.alive(name)}
        for name in self.promised:
            assert name in self.store.decision, f"I1: {name} was answered, no process ended, and it is not on disk"
        self.acked |= {("decision", name): told for name, told in self.promised.items()}
        for what, name in self.acked:
            self.check_acked(what, name)
        for policy in self.store.policies():
            self.check_policy(policy)
        report = check(self.store)
        assert report.sound, str(report)

    def check_policy(self, policy):
        entries = self.store.stream(policy.id)
        assert len(entries) == policy.head, "I3: the head is not the length of the stream"
        naive, at = Naive(policy, entries), {}
        for row in self.store.decision.values():
            if row.policy == policy.id:
                at.setdefault(row.version, []).append(row)
        snapshots = {}
        for (name, seq, learner), row in self.store.snapshot.items():
            if name == policy.id:
                about = {each["id"]: each["at"] for each in json.loads(json.loads(row.about)["state"])["learners"].values()}
                assert about[learner] <= seq
                snapshots.setdefault(seq, []).extend([(learner, row.digest)] if about[learner] == seq else [])
        learned = Counter()
        for row, decision in entries:
            if row.kind == 1:
                learned[row.decision] += 1
                self.check_lesson(naive, row, decision)
            naive.step()
            for each in at.pop(naive.version, []):
                assert (each.arm, each.propensity) == naive.draw(each), f"I4: {each.id} does not follow from the journal"
                assert each.arm in offered(each), "I4: an arm was played that was not offered"
            for learner, digest in snapshots.pop(naive.version, []):
                same = naive.learners()[learner].digest() == digest
                assert same, f"I3: the snapshot at {naive.version} is not what the stream makes"
        assert not at and not snapshots, "I3: something is of a version that there is not"
        assert all(count == 1 for count in learned.values()), "I2: a decision was learned twice"
        served = self.core.by_id[policy.id]
        mine = {each.id: each.policy.digest() for each in (served.live, *served.candidates.values())}
        theirs = {name: each.digest() for name, each in naive.learners().items()}
        assert mine == theirs, f"I3: the state of {policy.name} is not the fold of its stream"

    def check_lesson(self, naive, row, decision):
        feedback = naive.settings["feedback"]
        rewards = [each for (name, _), each in self.store.reward.items() if name == row.decision]
        value = naive_aggregate(rewards, feedback["aggregate"])
        want = feedback["default_reward"] if value is None else min(max(value, 0.0), 1.0)
        assert row.reward == want and row.defaulted == (value is None), (
            f"I2: {row.decision} is learned as {row.reward}, not {want}"
        )
        for each in rewards:
            came, learned = self.when[each.decision, each.id], self.when[row.decision]
            assert came >= learned if each.late else came <= learned, "I2: a reward is late or not by when it came"


def receipts_active(receipt):
    return json.loads(unpacked(receipt))[-1]


def unpacked(receipt):
    return base64.urlsafe_b64decode(receipt.split(".")[1] + "===")


def forged(receipt):
    """The same with another propensity, and the seal that it had."""
    body = json.loads(unpacked(receipt))
    body[5] = body[5] / 2
    text = base64.urlsafe_b64encode(json.dumps(body, separators=(",", ":")).encode()).decode().rstrip("=")
    return f"hsb1.{text}.{receipt.split('.')[2]}"


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
