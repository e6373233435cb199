"""A core whose readers and packers take their time, on a journal in SQLite."""

from hsb.serve.core import AddCandidate, Core, Create, Decide, Now, Reward, seal
from hsb.serve.core.messages import Commit, Follow, Followed, Pack, Packed
from hsb.serve.store import start
from hsb.serve.store.sqlite import SqliteStore
from hsb.serve.store.writer import commit_batch

EXP3 = {"kind": "Exp3"}
SPEC = {"name": "home", "arms": ["a", "b"], "policy": EXP3}
NOW = Now(10**15, 10**9)


class Slow:
    """A core whose readers and packers take their time: `follows` wait until they are read, and `packs`, where it is a list."""

    def __init__(self, path):
        self.store = SqliteStore(path)
        self.core = Core(**start(self.store, NOW))
        self.follows, self.packs, self.answers = [], None, {}

    def do(self, effects):
        for effect in effects:
            if type(effect) is Commit:
                self.do(self.core.handle(commit_batch(self.store, effect.batch), NOW))
                self.do(self.core.flush(NOW))
            elif type(effect) is Follow:
                self.follows.append(effect)
            elif type(effect) is Pack and self.packs is not None:
                self.packs.append(effect)
            elif type(effect) is Pack:
                self.do(self.core.handle(Packed(effect.policy, seal(effect.frozen), effect.request), NOW))
                self.do(self.core.flush(NOW))
            else:
                self.answers[effect.request] = effect

    def ask(self, message):
        self.do(self.core.handle(message, NOW))
        self.do(self.core.flush(NOW))
        return self.answers.get(message.request)

    def read(self):
        while self.follows:
            it = self.follows.pop()
            self.do(self.core.handle(Followed(it.policy, it.after, self.store.stream(it.policy, it.after, it.limit)), NOW))


def updates(one, count, prefix="o"):
    for k in range(count):
        one.ask(Decide(f"d{k}", "home", f"{prefix}{k}", {"x": k % 7}))
        one.ask(Reward(f"r{k}", f"{prefix}{k}", float(k % 3 == 0)))


def with_a_candidate(path):
    """A policy with updates, and a candidate that has not read them yet."""
    slow = Slow(path)
    slow.ask(Create(1, SPEC, b"s" * 32))
    updates(slow, 20)
    slow.ask(AddCandidate("c", "home", "new", EXP3))
    return slow
