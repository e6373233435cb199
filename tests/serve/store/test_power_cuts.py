"""Power cuts, full disks and failing writes under the journal: what was answered is there, and all of it follows.

HSB_SERVE=quick pytest tests/serve/store/test_power_cuts.py        # 2,000 cuts
"""

import random
import time

import pytest

pytest.importorskip("apsw", reason="a disk that fails needs apsw: pip install apsw")

from support.serve.bad_disk import Connection, Disk
from support.serve.sizes import figures, size

from hsb.errors import FileError
from hsb.serve.checking import check
from hsb.serve.core import AddArm, Change, Core, CoreLimits, Create, Decide, Now, Reward, TakeSnapshot
from hsb.serve.local import Local
from hsb.serve.store import start
from hsb.serve.store.sqlite import SqliteStore

pytestmark = [
    pytest.mark.sized,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # apsw's, of errors that the disk raises
]
CUTS = size("power cuts")
PROCESSES = 20  # cuts of one journal
SECRET = b"0123456789abcdef"


class Service(Local):
    """The service on a bad disk; it remembers what it answered."""

    def __init__(self, disk, folder, sync=True):
        self.store = SqliteStore(folder / "hsb.db", connect=lambda path: Connection(disk, path, sync), wal=1 << 15)
        self.moment = 10**15
        try:
            self.core = Core(**start(self.store, self.now), limits=CoreLimits(updates=15))
        except BaseException:  # the cut came while it began
            self.store.lock.release()
            raise
        self.stopped = None

    @property
    def now(self):
        self.moment += 1000
        return Now(self.moment, self.moment)

    def live(self, rng, acked, steps):
        if not self.core.policies:
            spec = {"name": "home", "arms": ["a", "b"], "policy": {"kind": "Exp3", "learning_rate": 0.2}, "floor": 0.1}
            self.told(self.ask_all([Create(0, spec, SECRET)], self.now), acked)
        for _ in range(steps):
            names = [f"d{rng.randrange(10**9)}" for _ in range(rng.choice([1, 3, 20]))]
            self.told(
                self.ask_all([Decide(name, "home", name, {"text": "x" * rng.randrange(400)}) for name in names], self.now),
                acked,
            )
            known = rng.sample(sorted(acked["decision"]), min(len(acked["decision"]), 5))
            self.told(self.ask_all([Reward((name, "1"), name, 1.0) for name in known], self.now), acked)
            if rng.random() < 0.1:
                self.ask_all(
                    [rng.choice([TakeSnapshot(0, "home"), Change(0, "home", {"floor": 0.2}), AddArm(0, "home", "c")])], self.now
                )
            if self.stopped is not None:
                return

    def told(self, answers, acked):
        for answer in answers:
            if answer.status in ("created", "stored") and "arm" in answer.body:
                acked["decision"][answer.request] = (answer.body["arm"], answer.body["propensity"])
            elif answer.status in ("learned", "duplicate", "accepted"):
                acked["reward"].add(answer.request)

    def verify(self, acked):
        report = check(self.store)
        assert report.sound, str(report)
        for policy in self.store.policies():
            arms = self.core.by_id[policy.id].arms
            decisions = {row.id: (arms[row.arm], row.propensity) for row in self.store.decisions(policy.id)}
            rewards = {(row.decision, row.id) for row in self.store.rewards(policy.id) if not row.late}
            for name, told in acked["decision"].items():
                assert decisions.get(name) == told, f"I1: decision {name}"
            assert acked["reward"] <= rewards, "I1: a reward"
            assert len({row.decision for row, _ in self.store.stream(policy.id) if row.kind == 1}) == len(rewards)
        assert self.store.policies() or not acked["decision"], "I1: the policy itself"


class Kind(random.Random):
    """Nothing is lost."""

    def random(self):
        return 0.0


def cuts(count, folder, seed, sync=True):
    """As many processes of a journal, each ended by a cut; how many decisions were answered in all."""
    rng, disk, acked = random.Random(seed), Disk(), {"decision": {}, "reward": set()}
    for _ in range(count):
        disk.fail_after(rng.choice([rng.randrange(1, 30), rng.randrange(1, 300)]))
        try:
            service = Service(disk, folder, sync)
        except FileError:  # the cut came while it was opened
            service = None
        if service is not None:
            try:
                service.live(rng, acked, 40)
            finally:
                service.store.lock.release()
        disk = disk.cut(rng)
        again = Service(disk, folder, sync)
        try:
            again.verify(acked)
        except BaseException:
            again.store.lock.release()
            raise
        again.store.close()
    return len(acked["decision"])


@pytest.mark.parametrize("part", range(2))
def test_power_cuts(part, tmp_path):
    result, each, began = 0, CUTS // 2, time.monotonic()
    for k, first in enumerate(range(0, each, PROCESSES)):
        folder = tmp_path / str(k)
        folder.mkdir()
        result += cuts(min(PROCESSES, each - first), folder, seed=1000 * part + k)
    assert result > each  # something was answered between the cuts
    figures("power cuts", cuts=each, acknowledged=result, lost=0, seconds=round(time.monotonic() - began, 1))


def test_a_journal_that_does_not_sync_is_noticed(tmp_path):
    """The control: without fsync the same cuts lose what was answered."""
    with pytest.raises((AssertionError, FileError)):
        cuts(20, tmp_path, 1, sync=False)


@pytest.mark.parametrize("fault", ["full", "error"])
def test_one_operation_fails(fault, tmp_path):
    """At the n-th write or sync: a full disk answers 507 and it goes on; any other error answers 503 and it stops. Nothing is lost."""
    ends = set()
    for n in [*range(1, min(max(CUTS // 4, 30), 500), 2), 5000]:
        folder = tmp_path / str(n)
        folder.mkdir()
        rng, disk, acked = random.Random(n), Disk(), {"decision": {}, "reward": set()}
        service = Service(disk, folder)
        service.live(rng, acked, 1)
        disk.fail_after(n, fault)
        service.live(rng, acked, 6)
        ends.add(None if service.stopped is None else service.stopped.code)
        if service.stopped is None:
            service.verify(acked)
        service.store.lock.release()
        disk = disk.cut(Kind())  # everything is on disk: it was only the process that ended
        again = Service(disk, folder)
        again.verify(acked)
        again.store.close()
    assert ends == ({None} if fault == "full" else {None, 70})  # there are more operations counted than done
