"""The invariants of a simulated world: each answer when it leaves, and the whole journal at the end, against its naive reading."""

import json
from collections import Counter

from naive.journal import Naive, available, naive_aggregate

from hsb.serve.checking import check
from hsb.serve.core import Reward, receipts
from support.serve.simulated_receipts import made_by, unpacked

SILENT = {"away", "full", "overloaded"}


class Checks:
    """The part of `World` that checks."""

    def answered(self, answer):
        """Check an answer as it leaves: its rows must be on disk at this moment."""
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
            self.lost.pop(body["id"], None)  # it was requested again, by its id, and decided again
            self.check_acked("decision", body["id"])
        elif status in ("accepted", "learned", "not_learned", "late", "duplicate") and "learned_at_version" in body:
            value = 1.0 - asked.value if asked.loss else asked.value
            self.acked["reward", (asked.decision, asked.id)] = (value, status == "late")
            self.check_acked("reward", (asked.decision, asked.id))

    def alive(self, name):
        return json.loads(unpacked(self.receipts[name]))[1] in self.store.policy

    def check_receipt(self, asked, status):
        """Check that a reward with a receipt is never rejected for a missing decision, and that the decision equals the answer, once."""
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
        same = receipts.make_receipt(self.core.by_id[row.policy].secret, row, *made_by(asked.receipt)) == asked.receipt
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
            result = (served.name, row.played or served.arms[row.arm], row.propensity, row.deadline)
        else:
            row = self.store.reward.get(name)
            assert row is not None, f"I1: reward {name} was answered and is not on disk"
            result = (row.value, row.late)
        assert result == told, f"I1: {what} {name} was answered as {told} and is {result}"

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
                self.check_update(naive, row, decision)
            naive.step()
            for each in at.pop(naive.version, []):
                drawn = each.arm if each.played is None else each.played
                assert (drawn, each.propensity) == naive.draw(each), f"I4: {each.id} does not follow from the journal"
                assert each.played or each.arm in available(each), "I4: an arm was played that was not available"
            for learner, digest in snapshots.pop(naive.version, []):
                same = naive.learners()[learner].digest() == digest
                assert same, f"I3: the snapshot at {naive.version} is not what the stream makes"
        assert not at and not snapshots, "I3: something is of a version that there is not"
        assert all(count == 1 for count in learned.values()), "I2: a decision was learned twice"
        served = self.core.by_id[policy.id]
        mine = {each.id: each.policy.digest() for each in (served.live, *served.candidates.values())}
        theirs = {name: each.digest() for name, each in naive.learners().items()}
        assert mine == theirs, f"I3: the state of {policy.name} is not the fold of its stream"

    def check_update(self, naive, row, decision):
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
