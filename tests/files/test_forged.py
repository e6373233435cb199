"""Forged files are loaded equal or refused, and what loads is a policy; whatever the storm, a policy's own file can be read."""

import gc
import os
import signal
import stat
import subprocess
import sys
import threading
import zipfile

import numpy as np
import pytest
from support.attack.forged import MAKERS, Original, attack, context_of, facts, play
from support.attack.storms import storms
from support.forged_cases import changed

import hsb
from hsb.engine.kernels import header as h
from hsb.engine.kernels.words import graph as graph_words
from hsb.engine.kernels.words import state as state_words
from hsb.engine.kernels.words import tree as tree_words
from hsb.files import policy_file
from hsb.policy.ledger import REMEMBERED

TREE = hsb.BinaryTree(depth=3)
QUICK = ["tree", "tree, 70 arms", "compressed", "position", "default", "CsbFtpl", "Exp4", "EpochGreedy", "BestFixed", "Uniform"]


@pytest.mark.nojit
def test_forged_files():
    result = attack(200, seed=11, rounds=4, table=0, names=QUICK)
    assert result["wrong"] == []
    assert result["found"]["refused"] > 80
    assert result["found"]["equal"] > 5


def test_no_policy_is_forgotten():
    values = {type(make()).__name__ for make in MAKERS.values()}
    assert values == {name for name, kind in hsb.Policy.kinds.items() if kind.__module__.startswith("hsb.")}


@pytest.mark.nojit
def test_storms():
    assert storms(6, seed=3, rounds=15) == []


# -- what the walk relies on ------------------------------------------------------------------------------------------


def refused(data: bytes) -> bool:
    try:
        policy_file.unpack(data, {})
    except policy_file.DAMAGE:
        return True
    return False


@pytest.mark.parametrize("name", ["tree, 70 arms", "tree, one arm", "own", "3-group, 20 arms", "Exp3"])
def test_sums_and_padding_are_made_anew(name):
    """Whatever stands where no arm is: the file is the same policy."""
    policy = MAKERS[name]()
    play(policy, 8, seed=1)

    def change(header, entries):
        last = len(policy.learner.mixture.state.members) - 1
        F, member = entries[f"{last}.floats"], policy.learner.mixture.state.members[last]
        M, width = int(member.I[h.ARMS]), int(member.I[h.WIDTH])
        assert width > M or name == "tree, one arm"
        for b in member.kind.blocks(member):
            F[b + M : b + width] = 1e30
        if name == "tree, one arm":
            F[member.kind.blocks(member) + 2] = 1e30

    assert facts(policy_file.unpack(changed(policy, change), {})) == facts(policy)


@pytest.mark.parametrize("name", ["tree", "deep", "lexicographic", "position", "own", "one of", "SExp3", "default"])
@pytest.mark.parametrize("value", [0.0, -1.0, 1e308, np.nan, np.inf])
def test_weights_that_no_rounds_lead_to(name, value):
    policy = MAKERS[name]()
    play(policy, 8, seed=1)
    last = len(policy.learner.mixture.state.members) - 1
    member = policy.learner.mixture.state.members[last]
    arms = np.arange(int(member.I[h.ARMS]))

    def change(header, entries):
        entries[f"{last}.floats"][member.kind.blocks(member)[:, None] + arms] = value

    assert refused(changed(policy, change)) or value == 0.0  # all at their logarithms, which say 1, is a legal way to write it


@pytest.mark.parametrize("name", ["tree", "compressed", "lexicographic", "position", "arbitrary", "one of", "SExp3", "default"])
def test_probabilities_add_to_one(name):
    """Weights a little off, as no kernel leaves them: refused, or probabilities add to 1 all the same. The service refuses others."""
    policy = MAKERS[name]()
    play(policy, 30, seed=1)
    for number in range(len(policy.learner.mixture.state.members)):
        for seed in range(3):

            def change(header, entries, number=number, seed=seed):
                F, rng = entries[f"{number}.floats"], np.random.default_rng(seed)
                F *= np.where(rng.random(len(F)) < (1.0, 0.5, 5 / len(F))[seed], 1.0 + 4e-7, 1.0)

            data = changed(policy, change)
            if refused(data):
                continue
            result, rng = policy_file.unpack(data, {}), np.random.default_rng(0)
            for _ in range(10):
                assert abs(result.probabilities(context_of(result, rng)).sum() - 1.0) < 1e-9


@pytest.mark.parametrize("name", ["deep", "TreeThompson"])
def test_keys_follow_the_path_to_them(name):
    policy = MAKERS[name]()
    play(policy, 30, seed=1)
    assert not refused(changed(policy, lambda header, entries: None))

    def change(header, entries):
        I = entries["ints" if "ints" in entries else "0.ints"]
        links = I[I[tree_words.LINKS] :].reshape(-1, int(I[tree_words.LINK_STRIDE]))
        leaf = (links[:, 0] & 4095) == I[tree_words.DEPTH]
        assert leaf.any()
        links[leaf, 1 + I[tree_words.FANOUT]] ^= 1 << int(I[tree_words.BITS] * (I[tree_words.PER_WORD] - 1))

    assert refused(changed(policy, change))


def test_edges_of_boxes_are_not_read():
    policy = MAKERS["position"]()

    def change(header, entries):
        I = entries["0.ints"]
        I[I[graph_words.START] : I[graph_words.SPEC]] = 10**12

    assert facts(policy_file.unpack(changed(policy, change), {})) == facts(policy)


def test_a_state_that_is_none_any_more_says_so():
    """No endless loop on NaN, and no arm that was not available."""
    for name in ("tree", "tree, nine arms", "tree, 70 arms", "lexicographic", "position"):
        policy = MAKERS[name]()
        play(policy, 3, seed=1)
        policy.learner.mixture.state.F[state_words.STATE_WORDS :] = np.nan
        with pytest.raises(hsb.BrokenState, match="no longer a distribution"):
            policy.decide(policy.structure.space.low + 0.1, available=policy.arms[1:3])
        with pytest.raises(hsb.BrokenState):
            policy.decide(policy.structure.space.low + 0.1)


# -- generators, counters, bombs --------------------------------------------------------------------------------------

STATES = {
    "MT19937": [
        ("state", "pos", 2**31 - 1),
        ("state", "pos", -1),
        ("state", "pos", 625),
        ("state", "key", {"array": ["a"] * 4, "dtype": "U9"}),
    ],
    "Philox": [("buffer_pos", -100), ("buffer_pos", 5), ("buffer", {"array": [1, 2], "dtype": "uint64"}), ("has_uint32", 2)],
    "SFC64": [("uinteger", 2**32), ("uinteger", -1), ("state", "state", {"array": [-1, 0, 0, 0], "dtype": "uint64"})],
    "PCG64": [("state", "state", 2**128), ("state", "inc", -1), ("state", "inc", 0.5), ("has_uint32", True)],
}


@pytest.mark.parametrize("name", STATES)
def test_states_of_generators(name):
    policy = hsb.HSB(TREE, arms=2, learning_rate=0.1, seed=np.random.Generator(getattr(np.random, name)(1)))
    policy.decide(0.3)
    assert not refused(changed(policy, lambda header, entries: None))
    for *path, value in STATES[name]:

        def change(header, entries, path=path, value=value):
            inside = header["generator"]
            for key in path[:-1]:
                inside = inside[key]
            inside[path[-1]] = value

        assert refused(changed(policy, change)), (path, value)


@pytest.mark.parametrize("name", ["rounds", "clipped", "issued", "clipped_losses"])
def test_counters_are_bounded(name):
    policy = hsb.HSB(TREE, arms=2, seed=1, outside="clip")
    for value in (10**400, 2**63, 2**53 + 1, -1, True, 1.0):
        assert refused(changed(policy, lambda header, entries: header.__setitem__(name, value)))  # noqa: B023


BOMBS = {
    "experts": lambda: (hsb.Exp4(2, arms=2), {"experts": 10**8}),
    "features": lambda: (hsb.LinUCB(2, arms=2), {"features": 5000}),
    "cells": lambda: (hsb.SExp3(2, arms=2), {"structure": {"cells": 1 << 26, "space": hsb.Box.unit().to_dict()}}),
    "totals": lambda: (hsb.CsbFtpl(2, arms=2), {"structure": {"cells": 1 << 26, "space": hsb.Box.unit().to_dict()}}),
    "boxes": lambda: (
        hsb.HSB(hsb.PositionSplits(bits=[1]), arms=2),
        {"structure": hsb.PositionSplits(bits=[1]).to_dict() | {"bits": [10**12]}},
    ),
    "intervals": lambda: (
        hsb.HSB(hsb.Lexicographic(leaves=2), arms=2),
        {"structure": hsb.GroupedLexicographic(leaves=900, groups=60).to_dict()},
    ),
}


def test_counts_at_their_limit_stay_readable():
    policy = hsb.SExp3(5, arms=3, seed=1)
    play(policy, 30, seed=1)
    policy.learner.mixture.phases = 2**53
    play(policy, 200, seed=2)
    policy.add_arm("more")
    assert facts(policy_file.unpack(policy_file.pack(policy), {})) == facts(policy)
    policy.rounds = policy.clipped = policy_file.MOST + 7
    assert policy_file.unpack(policy_file.pack(policy), {}).rounds == policy_file.MOST


@pytest.mark.parametrize("name", BOMBS)
def test_memory_in_proportion_to_the_file(name):
    """Refused before anything of that size is made."""
    import tracemalloc

    policy, settings = BOMBS[name]()
    data = changed(policy, lambda header, entries: header["settings"].update(settings))
    gc.collect()
    tracemalloc.start()
    try:
        assert refused(data)
        assert tracemalloc.get_traced_memory()[1] < 200e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["header.json", "ledger", "elsewhere", "more"])
@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_bombs(name, packing, tmp_path):
    original = Original("tree", rounds=2)
    with zipfile.ZipFile(tmp_path / "bomb.hsb", "w", packing) as archive:
        for entry, data in original.entries.items():
            if entry != name:
                archive.writestr(entry, data)
        with archive.open(name, "w", force_zip64=True) as file:
            file.write(original.entries.get(name, b""))
            for _ in range(10):
                file.write(b" " * (1 << 24))
    with pytest.raises(hsb.FileError, match=r"bomb\.hsb"):
        hsb.load(tmp_path / "bomb.hsb")


def test_an_entry_twice(tmp_path):
    with zipfile.ZipFile(tmp_path / "twice.hsb", "w") as archive:
        for entry, data in Original("tree", rounds=2).entries.items():
            archive.writestr(entry, data)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("ledger", b"")
    with pytest.raises(hsb.FileError, match="twice"):
        hsb.load(tmp_path / "twice.hsb")


# -- places -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["", b"policy.hsb", None, 5, "a\0b"])
def test_what_is_no_path(path):
    for what in (hsb.load, hsb.Uniform(arms=2).save):
        with pytest.raises(hsb.InputError, match="must be the path of a file"):
            what(path)


def test_what_is_no_file(tmp_path):
    with pytest.raises(hsb.InputError, match="is a folder"):
        hsb.load(tmp_path)
    with pytest.raises(hsb.FileError, match="no ordinary file"):
        hsb.load("/dev/zero")
    with pytest.raises(hsb.InputError, match="no ordinary file"):
        hsb.Uniform(arms=2).save("/dev/null")


def test_mode_and_links_are_kept(tmp_path):
    policy, path, link = hsb.Uniform(arms=2), tmp_path / "policy.hsb", tmp_path / "link.hsb"
    policy.save(path)
    path.chmod(0o640)
    link.symlink_to("policy.hsb")
    before = path.stat().st_ino
    policy.save(link)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert path.stat().st_ino != before
    assert {each.name for each in tmp_path.iterdir()} == {"policy.hsb", "link.hsb"}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_is_kept(tmp_path):
    policy, path = hsb.Uniform(arms=2), tmp_path / "policy.hsb"
    policy.save(path)
    assert path.stat().st_uid == os.geteuid()
    os.chown(path, 12345, 23456)
    policy.save(path)
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 23456)


def test_the_umask_is_the_processs_own(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("the umask was touched"))
    hsb.Uniform(arms=2).save(tmp_path / "policy.hsb")


def test_a_long_name(tmp_path):
    path = tmp_path / ("x" * 250)
    hsb.Uniform(arms=2).save(path)
    assert hsb.load(path).arms == [0, 1]


@pytest.mark.skipif(os.name != "posix", reason="no signals")
def test_what_a_killed_process_left_is_cleared(tmp_path):
    path = tmp_path / "policy.hsb"
    code = (
        "import os, signal, sys; from pathlib import Path; from hsb.files.atomic import replacing\n"
        "with replacing(Path(sys.argv[1])) as file:\n    file.write(b'half'); file.flush(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    others = tmp_path / ".policy.hsb.notes", tmp_path / f".policy.hsb.00000000-{os.getpid()}-00000000.part"
    for other in others:
        other.touch()
    assert len(list(tmp_path.iterdir())) == 3
    hsb.Uniform(arms=2).save(path)
    assert sorted(tmp_path.iterdir()) == sorted([path, *others])  # of another machine, and not old


def test_savers_at_once_do_not_clear_each_other(tmp_path):
    policy, failed = hsb.Uniform(arms=2), []

    def save() -> None:
        try:
            for _ in range(30):
                policy.save(tmp_path / "policy.hsb")
        except OSError as error:
            failed.append(error)

    threads = [threading.Thread(target=save) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert [each.name for each in tmp_path.iterdir()] == ["policy.hsb"]


# -- the ledger -------------------------------------------------------------------------------------------------------


def test_ancestors_are_remembered_within_bounds():
    """A thousand loads back a decision is still known; beyond, it is refused, learned or not."""
    policy = hsb.Uniform(arms=2, seed=0)
    oldest, foreign = policy.decide(None), hsb.Uniform(arms=2, seed=0).decide(None)
    copied = hsb.Decision.from_dict(oldest.to_dict())
    policy = policy_file.unpack(policy_file.pack(policy), {})
    late = policy.decide(None)
    again = hsb.Decision.from_dict(late.to_dict())
    for _ in range(REMEMBERED - 1):
        policy = policy.copy()
    policy.learn(late, loss=1.0)
    with pytest.raises(hsb.InputError, match="already"):
        policy.learn(again, loss=1.0)
    for _ in range(3):
        policy = policy_file.unpack(policy_file.pack(policy), {})
    assert len(policy.ledger.past) == REMEMBERED
    for decision in (oldest, copied, hsb.Decision.from_dict(late.to_dict()), again):
        with pytest.raises(hsb.InputError, match=r"already|loads and copies ago"):
            policy.learn(decision, loss=1.0)
    policy.learn(foreign, loss=1.0)
    assert len(policy_file.pack(policy)) < 60_000
