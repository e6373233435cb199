"""Processes of policies in a fresh process: which kernels does the loop meet that were not there before?

`python warmed.py KIND` prints them; so do `file`, `features` and `control`. HSB_ENGINE=numba, or there are none.
"""

import random
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from hsb.serve.core import AddArm, AddCandidate, Change, Create, Decide, Promote, RemoveArm, Reward, TakeSnapshot
from hsb.serve.core.arithmetic import arithmetic
from hsb.serve.core.kinds import kinds
from hsb.serve.core.messages import Import
from hsb.serve.local import Local
from hsb.serve.warming import NotCompiled, Warmth, compiling, jobs_before

TREE = {"kind": "BinaryTree", "depth": 4}
NEED = {"CsbFtpl", "EpochGreedy", "LinUCB", "MixtureOfMappings", "SExp3", "TreeThompson"}  # a structure
KINDS = {name: {"kind": name, "structure": TREE} if name in NEED else {"kind": name} for name in kinds()}
KINDS["MixtureOfMappings"] = {"kind": "MixtureOfMappings", "structure": {"kind": "BinaryTree", "depth": 1}}
KINDS |= {
    "a tree": {"kind": "HSB", "structure": TREE},
    "declared": {"kind": "HSB", "features": {"x": "number", "kind": "category"}},
}


def context(rng, spec, k):
    if "structure" in spec:
        return rng.random()
    found = {"x": rng.random(), "kind": rng.choice("abcde")}
    return found if "features" in spec or k < 40 else found | {"late": rng.random() < 0.5}


def signatures():
    """The kernels that Python has called in this process, by the types that they were called with."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("hsb.") and module is not None]
    found = set()
    for module in modules:
        for name, kernel in list(vars(module).items()):
            types = getattr(kernel, "signatures", None) if callable(kernel) else None  # a module may have that name
            found |= {(kernel.__module__, name, str(each)) for each in types or ()}
    return found


class Client:
    """Asks a service without a network, as the one on the loop does: what a message needs is compiled before."""

    def __init__(self, path):
        self.local, self.warmth, self.met = Local(path), Warmth(), []

    def ask(self, kind, *given):
        for job in jobs_before(self.local.core.policies, kind, given):
            self.warmth.warm(job)
        return self.noted(lambda: self.local.ask(kind(0, *given)))

    def noted(self, work):
        """What work() gives; kernels, and their types, that it compiled or loaded are noted."""
        before = signatures()
        found = work()
        self.met += sorted(signatures() - before)
        return found

    def rounds(self, spec, count, seed, available=None):
        rng = random.Random(seed)
        for k in range(count):
            made = self.ask(Decide, "p", f"{seed}-{k}", context(rng, spec, k), available)
            assert made.status == "created", made
            assert self.ask(Reward, f"{seed}-{k}", float(rng.random() < 0.4)).status in ("learned", "not_learned")
        batch = [Decide(k, "p", f"{seed}-b{k}", context(rng, spec, k)) for k in range(5)]
        self.noted(lambda: self.local.ask_all(batch))


def run_kind(folder, name, arms):
    """Run a policy of a kind; return what it compiled on the loop."""
    spec, client = KINDS[name], Client(folder / f"{arms}.db")
    names = [f"a{k}" for k in range(arms)]
    made = client.ask(Create, {"name": "p", "arms": names, "policy": spec}, b"s" * 32)
    assert made.status == "created", made
    client.rounds(spec, 60, 1)
    client.rounds(spec, 5, 2, available=names[:2])
    exact = client.local.core.policies["p"].live.exact
    fixed = name == "MixtureOfMappings"  # its arms stay as they are
    assert client.ask(AddArm, "p", "new").status == ("refused" if fixed else "created")
    client.rounds(spec, 10, 3)
    if exact:
        assert client.ask(Change, "p", {"floor": 0.1}).status == "done"
        client.rounds(spec, 5, 4)
        added = client.ask(AddCandidate, "p", "beside", {"kind": "Exp3"})
        assert added.status == "created", added
        client.rounds(spec, 5, 5)
        assert client.ask(Promote, "p", "beside").status == "done"
        client.rounds(spec, 5, 6)
    assert client.ask(RemoveArm, "p", names[0]).status == "done"
    client.rounds(spec, 5, 7)
    asked(client)
    assert client.ask(TakeSnapshot, "p").status == "done"
    client.local.close()
    return client.met


def asked(client):
    """What the API answers on the loop beside decisions."""
    policy = client.local.core.policies["p"].live.policy
    for name in ("digest", "certificate"):
        if hasattr(policy, name):
            client.noted(getattr(policy, name))


def with_features(folder):
    """Arms with features come."""
    client, spec = Client(folder / "features.db"), {"kind": "HSB"}
    some = {"name": "p", "arms": ["a", "b"], "policy": spec, "arm_features": {"a": {"size": 1.0}, "b": {"size": 2.0}}}
    assert client.ask(Create, some, b"s" * 32).status == "created"
    client.rounds(spec, 40, 1)
    assert client.ask(AddArm, "p", "c", {"size": 1.5}).status == "created"
    client.rounds(spec, 40, 2)
    asked(client)
    client.local.close()
    return client.met


def from_file(folder):
    """A file of another kind takes a policy's place."""
    from hsb import HSB, BinaryTree
    from hsb.files.policy_file import pack

    client = Client(folder / "file.db")
    client.ask(Create, {"name": "p", "arms": ["a", "b"], "policy": {"kind": "Exp3"}}, b"s" * 32)
    file = pack(HSB(BinaryTree(depth=20), arms=["a", "b"], seed=0))
    assert client.ask(Import, "p", file).status == "done"
    client.rounds({"structure": TREE}, 20, 1)
    asked(client)
    client.local.close()
    return client.met


def control():
    """A thread that must not compile does not, and what is compiled is noticed: else nothing above would say anything."""
    import numba
    import numpy as np

    def refuse():
        raise NotCompiled

    fresh, began = numba.njit(lambda x: x + 1), []
    with compiling(refuse), suppress(NotCompiled):
        fresh(np.float64(1.0))
        return ["it was compiled"]
    with compiling(lambda: began.append(1)):
        fresh(np.float64(1.0))
    with tempfile.TemporaryDirectory() as folder:
        client = Client(Path(folder) / "control.db")
        client.warmth.stop()  # nothing is made ready any more
        client.ask(Create, {"name": "p", "arms": ["a", "b"], "policy": {"kind": "Exp3"}}, b"s" * 32)
        client.rounds({}, 1, 1)
        client.local.close()
    return [] if began and client.met else ["it was not noticed"]


def main(what):
    if what == "control":
        return control()
    arithmetic()  # a service works it out before it begins
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if what in ("file", "features"):
            return (from_file if what == "file" else with_features)(folder)
        return [each for arms in (3, 16, 17) for each in run_kind(folder, what, arms)]


if __name__ == "__main__":
    print(main(sys.argv[1]))
