"""The requests of clients and admins of a simulated world, drawn by its seed."""

from hsb.serve.core import AddArm, AddCandidate, Change, Create, Decide, DropCandidate, ForgetWords, Promote, RemoveArm, Reward
from support.serve.simulated_receipts import forged


class Clients:
    """The part of `World` that sends requests."""

    def send(self, message):
        self.mail.append(message)

    def request(self):
        self.requests += 1
        return self.requests

    def some_id(self):
        """Return an id, mostly of an existing decision."""
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
        if self.opened:
            offered = rng.sample("abcdef", rng.randrange(1, 6))
            question = (
                *question[:2],
                {arm: {"size": rng.randrange(5), "topic": rng.choice("uv")} for arm in offered},
                *question[3:],
            )
        if id in self.asked and rng.random() < 0.7:
            question = self.asked[id]
        self.asked.setdefault(id, question)
        policy, context, available, baseline, activate = question
        more = {"fresh": fresh, "receipt": rng.random() < 0.2}
        if self.opened:
            more["arms"], available = available, None
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
        if self.opened:
            spec["arms"] = {"open": {"always": ["a"], "group": "topic", "groups": ["u"], "known": 4}}
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
            candidate = rng.choice("xy")
            message = DropCandidate(request, name, candidate) if request % 3 else ForgetWords(request, name, [candidate])
        else:
            served = self.core.policies.get(name)
            message = Promote(request, name, rng.choice([*served.candidates, "x"] if served else "x"))
        self.send(message)
