"""The command: what it prints, how it exits, and one clear line where something is wrong."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from support import toy_experiments as toy
from support.cli_cases import fails, said
from support.waiting import LIMIT, wait_until
from typer.testing import CliRunner

import hsb
from hsb import cli
from hsb.cli.app import app
from hsb.engine.kernels import jit

PAGE = (Path(__file__).parents[2] / "docs" / "commands.md").read_text()
COMMANDS = typer.main.get_command(app).commands
SPEC = """
rounds = 300
runs = 3
problem = {name = "stationary"}
structure = {kind = "BinaryTree", depth = 3}
policies = [{policy = "HSB", horizon = true}, {policy = "Uniform"}]
"""


@pytest.fixture
def toys(monkeypatch):
    monkeypatch.setattr("hsb.cli.app.load_experiments", lambda name: [toy.Toy()])


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented(name):
    help = CliRunner().invoke(app, [name, "--help"]).output
    assert f"Example: hsb {name}" in help
    assert len(help.split("Options:")[0].split()) > 15
    for option in COMMANDS[name].params:
        assert option.help, f"{name} {option.name}"
    assert f"hsb {name}" in PAGE


def test_an_undocumented_command_would_be_found():
    bare = typer.Typer()
    bare.command()(lambda: None)
    bare.command("second")(lambda: None)
    assert "Example" not in CliRunner().invoke(bare, ["second", "--help"]).output


def test_help_and_version(capsys):
    assert cli.main(["--version"]) == 0
    assert said(capsys)[0] == f"hsb {hsb.__version__}, engine {jit.engine}: {jit.reason}\n"
    for arguments in ([], ["--help"], ["-h"]):
        assert cli.main(arguments) == 0
        out, _ = said(capsys)
        assert all(name in out for name in COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train", "log.csv"], "Missing option '--out'. See hsb train --help.$"),
        (["journal", "check"], "Missing argument 'DB'. See hsb journal check --help.$"),
        (["--foo"], "No such option: --foo. See hsb --help.$"),
        (["bouns"], r"Did you mean 'bounds'\? See hsb --help.$"),
    ],
)
def test_a_wrong_call_names_the_help_of_its_command(capsys, arguments, words):
    fails(capsys, arguments, words)


def test_reproduce_prints_claims_and_writes_the_report(toys, tmp_path, capsys):
    assert cli.main(["reproduce", "stationary", "--out", str(tmp_path), "--jobs", "1", "--seed", "4"]) == 0
    out, err = said(capsys)
    for words in ("squares grow", "does not hold", "tie", "1 of 2 claims holds", "(our own)", str(tmp_path / "report.html")):
        assert words in out.replace("\n", "") if "/" in words else words in out, words
    assert "100%" in err
    assert len(json.loads((tmp_path / "claims.json").read_text())) == 3
    assert "&quot;seed&quot;: 4" in (tmp_path / "report.html").read_text()


def test_strict_exits_with_one_where_a_claim_does_not_hold(toys, tmp_path, monkeypatch, capsys):
    assert cli.main(["reproduce", "--out", str(tmp_path), "--jobs", "1", "--strict"]) == 1
    assert (tmp_path / "report.html").exists()

    class Good(toy.Toy):
        def analyse(self, options, results):
            result = super().analyse(options, results)
            return type(result)(result.claims[:1], [], [], [])

    monkeypatch.setattr("hsb.cli.app.load_experiments", lambda name: [Good()])
    assert cli.main(["reproduce", "--out", str(tmp_path), "--jobs", "1", "--strict"]) == 0


def test_run_compares(tmp_path, capsys):
    (tmp_path / "mine.toml").write_text(SPEC)
    assert cli.main(["run", str(tmp_path / "mine.toml"), "--out", str(tmp_path / "out"), "--jobs", "1"]) == 0
    out, _ = said(capsys)
    assert "HSB loses less than Uniform" in out and "holds" in out
    rows = [json.loads(line) for line in (tmp_path / "out" / "results.jsonl").read_text().splitlines()]
    assert len(rows) == 6 and {row["arguments"]["seed"] for row in rows} == {0}


def test_bounds_are_those_of_the_theory(capsys):
    assert cli.main(["bounds", "--arms", "3", "--depth", "10", "--horizon", "100000"]) == 0
    out, _ = said(capsys)
    tree = hsb.BinaryTree(depth=10)
    for bound in (
        hsb.theory.regret_bound(tree, arms=3, horizon=100_000),
        hsb.theory.anytime_bound(tree, arms=3, horizon=100_000),
        hsb.theory.s_exp3_bound(arms=3, horizon=100_000, leaves=1024),
        hsb.theory.exp3_bound(arms=3, horizon=100_000),
    ):
        assert f"{bound:,.0f}" in out
    assert cli.main(["bounds", "--arms", "3", "--depth", "52", "--horizon", "10", "--regions", "1"]) == 0
    assert "is not informative" in said(capsys)[0]


def test_bad_input_is_one_line_and_writes_nothing(toys, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    (tmp_path / "bad.toml").write_text("rounds = = 3")
    fails(capsys, ["reproduce", "--out", "file/out"], "Cannot write to 'file/out'")
    fails(capsys, ["reproduce", "--data", "none"], "data directory 'none' does not exist")
    fails(capsys, ["reproduce", "--engine", "steam"], "engine must be one of local, dask, ray; given 'steam'")
    fails(capsys, ["reproduce", "--jobs", "0"], "--jobs")
    fails(capsys, ["reproduce", "--seed", "x"], "--seed")
    fails(capsys, ["run", "bad.toml"], r"bad.toml is not TOML: .*line 1")
    fails(capsys, ["run", "none.toml"], "Cannot read 'none.toml'")
    fails(capsys, ["run"], "SPEC")
    fails(capsys, ["bounds", "--arms", "3"], "--depth|--horizon")
    fails(capsys, ["moon"], "moon")
    monkeypatch.undo()
    fails(capsys, ["reproduce", "moon"], "no experiment 'moon'. The experiments are stationary")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.toml", "file"]


def test_a_part_that_fails_is_one_line(toys, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(toy.Toy, "parts", lambda self, options: [toy.Part("bad", f"{toy.MODULE}:fail", {"x": 1})])
    assert cli.main(["reproduce", "--out", str(tmp_path), "--jobs", "1"]) == 1
    assert "hsb: Part 'toy: bad' failed: ZeroDivisionError: no 1 today" in said(capsys)[1]


def test_without_its_packages_the_command_says_how_to_install_them(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "typer", None)
    assert cli.main(["--version"]) == 0 and "engine" in capsys.readouterr().out
    fails(capsys, ["bounds"], r"needs typer, which is not installed. Run: pip install 'hsb\[cli\]'")


def test_a_stopped_run_goes_on_in_a_process_of_its_own(tmp_path):
    (tmp_path / "mine.toml").write_text(SPEC.replace("runs = 3", "runs = 40").replace("300", "20_000"))
    command = [sys.executable, "-m", "hsb", "run", str(tmp_path / "mine.toml"), "--out", str(tmp_path / "out"), "--jobs", "1"]
    started = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ)
    wait_until(lambda: list((tmp_path / "out" / "cache").glob("*.json")))
    started.send_signal(signal.SIGINT)
    _, err = started.communicate(timeout=LIMIT)
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "cache").glob("*.json")}
    assert started.returncode == 130 and "Finished parts and checkpoints are kept" in err and "Traceback" not in err, err
    assert 0 < len(kept) < 80 and [path.name for path in (tmp_path / "out").iterdir()] == ["cache"]
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert str(tmp_path / "out" / "report.html") in again.stdout
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())
