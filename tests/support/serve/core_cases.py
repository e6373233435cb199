"""Cases of the core, in one thread: time that a test chooses, a policy, a journal with updates."""

from hsb.serve.core import STATUS, Create, Decide, Now, Reward
from hsb.serve.local import Local

SECRET = b"0123456789abcdef"
SECOND, HOUR = 10**6, 3600 * 10**6
EXP3 = {"kind": "Exp3", "learning_rate": 0.2}


class At(Local):
    """The service at a time that the test chooses."""

    def __init__(self, path, **given):
        self.wall, self.mono = 1_800_000_000 * SECOND, 0
        super().__init__(path, now=Now(self.wall, self.mono), **given)

    def ask_all(self, messages, now=None):
        return super().ask_all(messages, Now(self.wall, self.mono))

    def says(self, message):
        answer = self.ask(message)
        assert answer.status in STATUS
        return answer.status

    def later(self, micros):
        self.wall, self.mono = self.wall + micros, self.mono + micros
        self.tick()

    @property
    def home(self):
        return self.core.policies["home"]


def make(at, **spec):
    assert at.says(Create(0, {"name": "home", "arms": ["a", "b", "c"], "policy": EXP3, **spec}, SECRET)) == "created"


def fill(local, n=60, name="home", **spec):
    local.ask(Create(0, {"name": name, "arms": ["a", "b", "c"], **spec}, SECRET))
    local.ask_all([Decide(k, name, f"{name}-{k}", {"age": k % 50, "country": "dfe"[k % 3]}) for k in range(n)])
    local.ask_all([Reward(k, f"{name}-{k}", float(k % 3 == 0)) for k in range(n // 2)])
