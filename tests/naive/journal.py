"""A reading of the journal by its specification: replays, draws and aggregates, written again without the service's code."""

import hashlib
import json
import statistics

import numpy as np

import hsb
from hsb.files.policy_file import unpack
from hsb.policy.learner import Memo
from hsb.serve.core.kinds import make_policy

USUAL = {"wait": 86400.0, "default_reward": None, "aggregate": "first", "learn": "on_arrival"}


def naive_u(secret, id):
    number = int.from_bytes(hashlib.blake2b(id.encode("utf-8"), key=secret, digest_size=8).digest(), "big")
    return number // 2**11 / 2**53


def naive_aggregate(rewards, how):
    values = [value for _, _, value in sorted((row.at, row.id, row.value) for row in rewards if not row.late)]
    if not values:
        return None
    return {
        "first": lambda: values[0],
        "last": lambda: values[-1],
        "sum": lambda: sum(values),
        "mean": lambda: statistics.fmean(values) if len(values) == 1 else sum(values) / len(values),
        "min": lambda: min(values),
        "max": lambda: max(values),
    }[how]()


def available(row):
    return [k for k in range(8 * len(row.available)) if row.available[k // 8] >> k % 8 & 1]


def request(row):
    context, arms = json.loads(row.context)["$request"]
    return hsb.features.Request(context, {name: features for name, features in arms})  # noqa: C416


class NaiveLearner:
    def __init__(self, id, policy):
        self.id, self.policy = id, policy

    def learn(self, arms, entry):
        row, decision = entry
        if row.kind == 3:
            data = json.loads(row.data)
            try:
                if "remove" in data:
                    self.policy.remove_arm(data["remove"])
                else:
                    self.policy.add_arm(data["add"])
            except hsb.InputError:
                pass
        if row.kind != 1:
            return
        if decision.played is None:
            asked, arm, among = json.loads(decision.context), arms[decision.arm], [arms[k] for k in available(decision)]
        else:
            asked, arm, among = request(decision), decision.played, None
        update = hsb.Decision(context=asked, arm=arm, propensity=decision.propensity, available=among)
        try:
            if decision.learner == self.id and decision.ramp == 1.0:
                cells = None if decision.seen is None else np.frombuffer(decision.seen, np.int64)
                update.memo = Memo(decision.rounds, advice=decision.advice_share, cells=cells)
                self.policy.learn_proposed(update, reward=row.reward)
            else:
                self.policy.learn(update, reward=row.reward)
        except hsb.InputError:
            pass


class Naive:
    """A policy's state after each row of its stream."""

    def __init__(self, policy, entries):
        self.policy, self.entries, self.version = policy, entries, 0
        self.arms, self.removed, self.candidates = [], set(), {}

    def step(self):
        row = self.entries[self.version][0]
        assert row.seq == self.version + 1, "I3: a gap in the stream"
        data = json.loads(row.data) if row.data else {}
        if row.kind == 2:
            self.first, self.arms = data["arms"], list(data["arms"])
            self.settings = data["settings"]
            self.live = NaiveLearner(1, make_policy(data["policy"], self.first))
        else:
            for each in (self.live, *self.candidates.values()):
                each.learn(self.arms, self.entries[self.version])
        if row.kind == 3:
            if "remove" in data:
                self.removed.add(data["remove"])
            else:
                self.removed.discard(data["add"])
                self.arms += [data["add"]] * (data["add"] not in self.arms)
        elif row.kind == 4:
            self.settings = data
        elif row.kind == 5 and "drop" in data:
            del self.candidates[data["drop"]]
        elif row.kind == 5:
            fresh = NaiveLearner(row.seq, make_policy(data["policy"], self.first))
            arms = list(self.first)
            for entry in self.entries[1 : self.version + 1]:
                fresh.learn(self.arms, entry)
            assert arms is not None
            self.candidates[data["add"]] = fresh
        elif row.kind == 6:
            self.candidates[f"before-{row.seq}"], self.live = self.live, self.candidates.pop(data["name"])
        elif row.kind == 7:
            self.live = NaiveLearner(row.seq, unpack(row.body, {}))
        self.version += 1

    def learners(self):
        return {each.id: each.policy for each in (self.live, *self.candidates.values())}

    def draw(self, row):
        """Arm and propensity of a decision of this version."""
        if row.played is not None:
            return self.draw_request(row)
        settings, policy, names = self.settings, self.live.policy, [self.arms[k] for k in available(row)]
        assert not set(names) & self.removed, "I4: a removed arm was available"
        u, context = naive_u(self.policy.secret, row.id), json.loads(row.context)
        if settings["floor"] == 0 and settings["ramp"] == 1:
            arm, propensity = policy.choose(context, u=u, available=names)
            return self.arms.index(arm), propensity
        p = policy.probabilities(context, available=names)
        floor, ramp, total = settings["floor"], settings["ramp"], 0.0
        result = None
        for k, arm in enumerate(policy.arms):
            q = ramp * ((1.0 - floor) * p[k] + (floor / len(names) if arm in names else 0.0))
            if ramp < 1 and self.arms.index(arm) == row.baseline:
                q += 1.0 - ramp
            total += q
            if q > 0.0:
                last = (self.arms.index(arm), min(float(q), 1.0))
            if result is None and u < total:
                result = (self.arms.index(arm), min(float(q), 1.0))
        return result or last

    def draw_request(self, row):
        """Arm and propensity of a decision whose arms came with it; also its group, and the number of arms of each."""
        settings, asked, counts = self.settings, request(row), {}
        always, group, groups = (self.first["open"][name] for name in ("always", "group", "groups"))
        for name, features in asked.arms.items():
            value = (features or {}).get(group)
            where = (
                1 + always.index(name) if name in always else 1 + len(always) + groups.index(value) if value in groups else 0
            )
            counts.setdefault(where, []).append(name)
        assert row.played in counts[row.arm], "I4: an arm is in another group"
        total = 1 + len(always) + len(groups)
        assert np.frombuffer(row.available, np.uint32).tolist() == [len(counts.get(k, [])) for k in range(total)]
        u, names, p = naive_u(self.policy.secret, row.id), list(asked.arms), self.live.policy.probabilities(asked)
        floor, ramp = settings["floor"], settings["ramp"]
        if floor == 0 and ramp == 1:
            return self.live.policy.choose(asked, u=u)
        total, last = 0.0, None
        for k, name in enumerate(names):
            q = ramp * ((1.0 - floor) * p[k] + floor / len(names)) + (1.0 - ramp) * (ramp < 1 and k == row.baseline)
            total += q
            last = (name, min(float(q), 1.0)) if q > 0.0 else last
            if u < total and q > 0.0:
                return last
        return last
