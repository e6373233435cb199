"""The commands about logs: what they print, the files they leave, and one clear line where something is wrong."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from support.cli_cases import fails, said
from support.cli_log_cases import run, run_json
from threadpoolctl import threadpool_limits

import hsb
from hsb import cli
from hsb.cli.log_options import LogPart
from hsb.cli.policy_files import load
from hsb.evaluate import off_policy
from hsb.play import learn_from

ROWS = 6000


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "clicks.txt"
    hsb.logs.write(path, hsb.logs.SyntheticToday(ROWS, seed=1), "yahoo-r6b")
    return path


def test_replay_is_that_of_the_library(log, capsys):
    result = run_json(capsys, "replay", log, "--format", "yahoo-r6b", "--depth", "5", "--head", "2000", "--seed", "3")
    opened = hsb.logs.open(log)
    encoder = hsb.encode.Chain(hsb.encode.PCA(1), hsb.encode.MinMax()).fit(opened.head(2000))
    right = hsb.replay(hsb.HSB(hsb.BinaryTree(depth=5), arms=list(opened.arms), seed=3), opened, context=encoder, seed=3)
    assert (result["rounds"], result["matched"], result["average_reward"]) == (ROWS, right.matched, right.average_reward)
    assert tuple(result["interval"]) == right.interval
    out, err = run(capsys, "replay", log, "--depth", "5")
    assert "6,000 events" in out and "average reward" in out and "rows/s" in err


def test_train_evaluate_explain(log, tmp_path, capsys):
    """Train on one part, evaluate on the rest: the numbers are the library's; a file trained again is the same."""
    file = tmp_path / "policy.hsb"
    result = run_json(capsys, "train", log, "--out", file, "--rows", "4000", "--depth", "4", "--head", "1000")
    assert result["learned"] == 4000 and [path.name for path in tmp_path.iterdir()] == ["policy.hsb"]
    policy, encoder = load(file)
    opened = hsb.logs.open(log)
    assert policy.rounds == 4000
    again = hsb.encode.Chain(hsb.encode.PCA(1), hsb.encode.MinMax()).fit(opened.head(1000))
    assert again.to_dict() == encoder.to_dict()
    fresh = hsb.HSB(hsb.BinaryTree(depth=4), arms=next(iter(opened)).arms, seed=0)
    learn_from(fresh, LogPart(hsb.logs.open(log), 0, 4000), context=again)
    assert np.array_equal(fresh.probabilities(0.3), policy.probabilities(0.3))

    result = run_json(capsys, "evaluate", log, "--policy", file, "--skip", "4000")
    right = off_policy(policy, LogPart(hsb.logs.open(log), 4000, None), context=encoder)
    assert result == json.loads(json.dumps(right.to_dict() | {"skipped": 0}))
    assert result["rows"] == 2000 and set(result["estimates"]) == {"ips", "snips", "direct", "dr", "switch", "clipped"}
    out, err = run(capsys, "evaluate", log, "--policy", file)
    assert "doubly robust" in out and "events, worth" in out and "rows/s" in err

    rules = run_json(capsys, "explain", file)
    assert rules["rounds"] == 4000 and rules["regions"] == policy.explain().to_dict()["regions"]
    earned = run_json(capsys, "explain", file, log, "--skip", "4000")["regions"]  # encoded as in the file
    assert 1000 < sum(region["earned"]["rows"] for region in earned if "earned" in region) <= 2000
    out, _ = run(capsys, "explain", file, "--png", tmp_path / "policy.png")
    assert str(policy.explain()) in out and (tmp_path / "policy.png").read_bytes().startswith(b"\x89PNG")

    more = run_json(capsys, "replay", log, "--policy", file, "--skip", "4000", "--rows", "1000")
    assert more["rounds"] == 1000
    plain = run_json(capsys, "train", log, "--out", file, "--components", "0", "--depth", "6", "--rows", "500")
    assert plain["learned"] == 500 and isinstance(load(file)[1], hsb.encode.MinMax)


def test_several_features_are_explained(tmp_path, capsys):
    several = hsb.HSB(hsb.BinaryTree(depth=6, space=hsb.Box.unit(3)), arms=["a", "b"], seed=0)
    contexts = np.random.default_rng(0).random((3000, 3))
    hsb.simulate(several, contexts, np.column_stack([contexts[:, 0] < 0.5, contexts[:, 0] >= 0.5]).astype(float))
    several.save(tmp_path / "three.hsb")
    out, _ = run(capsys, "explain", tmp_path / "three.hsb", "--names", "age, spend,hour", "--png", tmp_path / "three.png")
    assert "age >= 0.5: play 'a'" in out and "matters most: age 0." in out
    assert (tmp_path / "three.png").read_bytes().startswith(b"\x89PNG")
    assert "matters most" in run(capsys, "explain", tmp_path / "three.hsb", "--all", "--rules", "1")[0]
    fails(capsys, ["explain", tmp_path / "three.hsb", "--names", "age"], "names needs 3 different names")


def test_convert_and_replay_what_was_written(log, tmp_path, capsys):
    pytest.importorskip("pyarrow")
    out = tmp_path / "clicks.parquet"
    assert run_json(capsys, "convert", log, out, "--format", "yahoo-r6b")["rows"] == ROWS
    one, other = (run_json(capsys, "replay", each, "--depth", "3") for each in (log, out))
    del one["seconds"], other["seconds"]
    assert one == other


def test_a_table_with_named_columns(tmp_path, capsys):
    rng = np.random.default_rng(0)
    x, arm = rng.random(800), rng.integers(0, 2, 800)
    click = rng.random(800) < np.where((x < 0.5) == (arm == 0), 0.8, 0.2)
    lines = [f"{a:.6f},{'ab'[b]},0.5,{int(c)}" for a, b, c in zip(x, arm, click, strict=True)]
    path, file = tmp_path / "log.csv", tmp_path / "p.hsb"
    path.write_text("\n".join(["age,shown,p,click", *lines, "0.3,a,0,1"]) + "\n")
    columns = ["--context", "age", "--arm", "shown", "--propensity", "p", "--reward", "click"]
    result = run_json(capsys, "train", path, *columns, "--out", file, "--learning-rate", "0.1", "--depth", "2")
    assert (result["learned"], result["skipped"]) == (800, 1)
    _, err = run(capsys, "evaluate", path, *columns, "--policy", file)
    assert "1 line skipped" in err
    rules, _ = run(capsys, "explain", file)
    assert rules.index("play 'a'") < rules.index("play 'b'")
    fails(capsys, ["train", path, *columns, "--out", tmp_path / "q.hsb", "--strict"], "line 802")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["log.csv", "p.hsb"]


def test_bad_input_is_one_line_and_writes_nothing(log, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hsb.Exp3(arms=2).save("exp3.hsb")
    hsb.HSB(hsb.BinaryTree(depth=2), arms=2).save("two.hsb")
    (tmp_path / "bad.hsb.encoder.json").write_text("{}")
    hsb.Exp3(arms=2).save("bad.hsb")
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "noise.hsb").write_text("noise")
    before = sorted(path.name for path in tmp_path.iterdir())
    fails(capsys, ["replay", "none.txt"], "no file none.txt")
    fails(capsys, ["replay", log, "--format", "moon"], "format must be one of")
    fails(capsys, ["replay", "empty.txt"], "empty.txt")
    fails(capsys, ["replay", "empty.txt", "--format", "yahoo-r6b"], "no row that can be used")
    fails(capsys, ["replay", log, "--policy", "none.hsb"], "none.hsb")
    fails(capsys, ["replay", log, "--policy", "noise.hsb"], "not a whole hsb policy file")
    fails(capsys, ["replay", log, "--depth", "99"], "--depth")
    fails(capsys, ["replay", log, "--checkpoint", "none/c"], "no folder")
    fails(capsys, ["replay", log, "--policy", "bad.hsb"], "does not state which policy it belongs to")
    fails(capsys, ["replay", log, "--policy", "two.hsb"], "136")
    fails(capsys, ["train", log], "--out")
    fails(capsys, ["train", log, "--out", "none/p.hsb"], "no folder none")
    fails(capsys, ["train", log, "--out", "p.hsb", "--components", "200"], "components are more than the 136")
    fails(capsys, ["train", log, "--out", "p.hsb", "--learning-rate", "-1"], "--learning-rate must")
    fails(capsys, ["train", log, "--out", "p.hsb", "--high", "0.5"], "outside")
    fails(capsys, ["evaluate", log], "--policy")
    fails(capsys, ["evaluate", log, "--policy", "exp3.hsb"], "can be used")
    fails(capsys, ["evaluate", log, "--policy", "exp3.hsb", "--clip", "-1"], "clip must be")
    fails(capsys, ["explain", "exp3.hsb"], "of the kind Exp3, which has no rules")
    fails(capsys, ["explain", "none.hsb"], "none.hsb")
    fails(capsys, ["convert", log, "out.moon"], "out.moon")
    fails(capsys, ["convert", "none.txt", "out.parquet"], "none.txt")
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_policy_that_cannot_be_written_leaves_the_old_one(log, tmp_path, capsys, monkeypatch):
    file = tmp_path / "policy.hsb"
    options = ["--out", file, "--rows", "300", "--depth", "2"]
    run_json(capsys, "train", log, *options)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(path, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(hsb.files.policy_file, "write_atomically", full)
    assert cli.main([str(each) for each in ["train", log, *options, "--skip", "300", "--json"]]) == 2
    assert said(capsys) == ("", "hsb: No space left on device.\n")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


INTERRUPTED = """
import signal, sys
from hsb.cli import main
from hsb.play.checkpoint import Checkpoint

write = Checkpoint.write

def write_and_stop(*given):
    write(*given)
    signal.raise_signal(signal.SIGINT)

Checkpoint.write = write_and_stop
sys.exit(main(sys.argv[1:]))
"""


def test_a_stopped_replay_goes_on_in_a_process_of_its_own(tmp_path, capsys):
    """Stopped by Ctrl-C after its first checkpoint; the same command then prints what an undisturbed one does."""
    path, kept = tmp_path / "clicks.txt", tmp_path / "kept"
    hsb.logs.write(path, hsb.logs.SyntheticToday(150_000, seed=2), "yahoo-r6b")
    options = ["replay", path, "--depth", "6", "--json"]
    command = [sys.executable, "-c", INTERRUPTED, *options, "--checkpoint", kept, "--every", "1"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 130 and done.stdout == "" and "run the same command to resume" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    assert kept.exists()
    result = run_json(capsys, *options, "--checkpoint", kept)
    right = run_json(capsys, *options)
    del result["seconds"], right["seconds"]
    assert result == right and not kept.exists()


@pytest.mark.long
def test_a_policy_without_a_structure(log, tmp_path, capsys):
    """Its file holds its encoder: nothing stands beside it, and the commands say what the library says."""
    file = tmp_path / "any.hsb"
    policy = hsb.HSB(arms=next(iter(hsb.logs.open(log))).arms, seed=0)
    learn_from(policy, LogPart(hsb.logs.open(log), 0, 3000))
    policy.save(file)
    result = run_json(capsys, "evaluate", log, "--policy", file, "--skip", "3000")
    right = off_policy(hsb.load(file), LogPart(hsb.logs.open(log), 3000, None))
    assert result["estimates"] == right.to_dict()["estimates"]
    again = run_json(capsys, "replay", log, "--policy", file, "--skip", "3000", "--seed", "3")
    theirs = hsb.replay(hsb.load(file), LogPart(hsb.logs.open(log), 3000, None), seed=3)
    assert (again["matched"], again["average_reward"]) == (theirs.matched, theirs.average_reward)
    small, png = tmp_path / "small.hsb", tmp_path / "small.png"
    policy = hsb.HSB(arms=["tea", "coffee"], seed=0)
    for t in range(300):
        decision = policy.decide({"hour": t % 24, "member": t % 7 == 0})
        policy.learn(decision, reward=float((decision.arm == "tea") == (t % 24 >= 12)))
    policy.save(small)
    out, _ = run(capsys, "explain", small, "--png", png)
    assert "300 rounds learned" in out and "hour >= 12: play 'tea'" in out and png.stat().st_size > 5000
    assert list(tmp_path.glob("*.encoder.json")) == []


def test_arms_with_features_are_explained(tmp_path, capsys):
    policy = hsb.HSB(arms=hsb.Open(), seed=0)
    for t in range(50):
        decision = policy.decide({"age": t}, arms={"a": {"price": t % 3}, "b": {"price": t % 4}})
        policy.learn(decision, reward=1 - decision.context.arms[decision.arm]["price"] / 4)
    policy.save(tmp_path / "open.hsb")
    out, _ = run(capsys, "explain", tmp_path / "open.hsb")
    assert str(policy.explain()) in out and "price: " in out
    values = run_json(capsys, "explain", tmp_path / "open.hsb")
    assert values["rounds"] == 50 and values["features"][0]["name"] == "price"
    fails(capsys, ["explain", tmp_path / "open.hsb", "--png", tmp_path / "open.png"], "leave out the log and --png")
    fails(capsys, ["explain", tmp_path / "open.hsb", "--names", "age"], "takes no names=")
