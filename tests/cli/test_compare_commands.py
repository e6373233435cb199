"""hsb evaluate with several candidates: what it prints, the files it leaves, and one clear line where something is wrong."""

import json
import re

import numpy as np
import pytest
from support.cli_cases import fails
from support.cli_log_cases import run, run_json
from threadpoolctl import threadpool_limits

import hsb
from hsb.cli.policy_files import load
from hsb.evaluate import Learning, compare_off_policy
from hsb.logs import Batch


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A log in two files, arms that are numbers, and two policies' files with encodings of their own."""
    from hsb import cli

    folder = tmp_path_factory.mktemp("candidates")
    (folder / "log").mkdir()
    for k in range(2):
        rng = np.random.default_rng(k)
        x, arm = 10 * rng.random((2000, 2)), rng.integers(0, 3, 2000)
        reward = (rng.random(2000) < 0.2 + 0.4 * (arm == (0.3 * x[:, 0]).astype(int))).astype(float)
        batch = Batch.of(contexts=x, arm=arm, reward=reward, propensity=np.full(2000, 1 / 3), arms=[0, 1, 2])
        hsb.logs.write(folder / "log" / f"part-{k}.parquet", [batch], "parquet")
    for name, components in (("a", "1"), ("b", "0")):
        results = ["--out", str(folder / f"{name}.hsb"), "--rows", "1000", "--components", components, "--depth", "4"]
        assert cli.main(["train", str(folder / "log"), *results]) == 0
    return folder


def test_several_candidates(folder, capsys):
    """The numbers are the library's, each policy with its own encoding."""
    capsys.readouterr()
    options = [
        "--policy",
        folder / "a.hsb",
        "--policy",
        f"new={folder / 'b.hsb'}",
        "--always",
        "1",
        "--learn",
        f"c={folder / 'a.hsb'}",
    ]
    result = run_json(
        capsys, "evaluate", folder / "log", *options, "--baseline", "uniform", "--skip", "1000", "--estimator", "snips"
    )
    (a, encode_a), (b, encode_b) = load(folder / "a.hsb"), load(folder / "b.hsb")
    rest = hsb.logs.log.LogPart(hsb.logs.open(folder / "log"), 1000, None)
    candidates = {"a": a, "new": b, "c": Learning(a), "always 1": 1, "uniform": None}
    contexts = {"a": encode_a, "new": encode_b, "c": encode_a}
    right = compare_off_policy(candidates, rest, baseline="uniform", estimator="snips", context=contexts)
    assert result == json.loads(json.dumps(right.to_dict() | {"files": [], "skipped": 0}))
    out, err = run(
        capsys, "evaluate", folder / "log", *options, "--baseline", "uniform", "--skip", "1000", "--estimator", "snips"
    )
    assert str(right) in out and "against uniform" in out and "rows/s" in err


def test_files(folder, tmp_path, capsys):
    """A page, a table, a picture; in two processes as in one."""
    files = {kind: tmp_path / f"c.{kind}" for kind in ("html", "csv", "png")}
    wanted = [each for kind, path in files.items() for each in (f"--{kind}", path)]
    result = run_json(capsys, "evaluate", folder / "log", "--policy", folder / "a.hsb", "--uniform", *wanted, "--jobs", "2")
    assert result["files"] == [str(path) for path in files.values()] and result["baseline"] == "a"
    assert "<svg" in files["html"].read_text() and files["csv"].read_text().startswith("candidate,how,value")
    assert files["png"].read_bytes().startswith(b"\x89PNG") and sorted(path.name for path in tmp_path.iterdir()) == [
        "c.csv",
        "c.html",
        "c.png",
    ]
    alone = run_json(capsys, "evaluate", folder / "log", "--policy", folder / "a.hsb", "--uniform")
    for name in ("a", "uniform"):
        assert np.isclose(alone["candidates"][name]["value"], result["candidates"][name]["value"], rtol=1e-12)


def test_one_policy_alone_prints_six_estimators(folder, capsys):
    result = run_json(capsys, "evaluate", folder / "log", "--policy", folder / "a.hsb")
    assert len(result["estimates"]) == 6
    assert set(run_json(capsys, "evaluate", folder / "log", "--always", "2")["candidates"]) == {"always 2"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "There is nothing to evaluate. Give --policy"),
        (["--policy", "A", "--policy", "A"], "Two candidates are called a. Give one another name"),
        (["--policy", "A", "--baseline", "z"], "--baseline must be one of a, uniform; given z"),
        (["--policy", "A", "--html", "no/such/c.html"], "There is no folder no/such"),
        (["--always", "7"], "the arm '7', which is never available in the log"),
        (["--policy", "A", "--engine", "spark"], "engine must be one of local, dask, ray"),
        (["--policy", "A", "--uniform", "--estimator", "best"], "estimator must be"),
    ],
)
def test_what_is_refused(folder, tmp_path, monkeypatch, capsys, options, words):
    monkeypatch.chdir(tmp_path)
    given = [str(folder / "a.hsb") if each == "A" else each for each in options]
    fails(capsys, ["evaluate", folder / "log", *given], re.escape(words))
    assert not list(tmp_path.iterdir())
