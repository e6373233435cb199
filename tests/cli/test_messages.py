"""The commands on tables: columns by name, and messages that speak of options."""

import json

import pytest
from support.cli_cases import fails, said
from support.cli_log_cases import run, run_json
from support.shop_logs import ARMS, CONTEXT, OPTIONS, PARTS, shop, write_csv, write_parquet

import hsb
import hsb.evaluate
from hsb import cli
from hsb.cli.messages import in_options
from hsb.cli.policy_files import load
from hsb.logs.log import LogPart

ROWS = 3000


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop")
    columns = shop(ROWS)
    turned = {name: columns[name] for name in reversed(columns)}
    return {
        "csv": write_csv(folder / "shop.csv", columns),
        "turned": write_csv(folder / "turned.csv", turned),
        "lacking": write_csv(folder / "lacking.csv", {name: columns[name] for name in columns if name != "country"}),
        "bad": write_csv(folder / "bad.csv", columns | {"spend": [*["lots"] * 10, *columns["spend"][10:]]}),
    }


def opened(path, skip=0, rows=None):
    return LogPart(hsb.logs.open(path, **PARTS), skip, rows)


def test_train_evaluate_replay_explain(logs, tmp_path, capsys):
    """The numbers are the library's; columns in another order make no difference; a log without one is refused by name."""
    pytest.importorskip("pyarrow")
    file, other, third = tmp_path / "policy.hsb", tmp_path / "turned.hsb", tmp_path / "parquet.hsb"
    result = run_json(capsys, "train", logs["csv"], *OPTIONS, "--rows", "2000", "--out", file)
    assert (result["learned"], result["skipped"], result["arms"], result["kind"]) == (2000, 0, 3, "HSB")
    kinds = {column["name"]: column["kind"] for column in result["columns"]}
    assert kinds == {"country": "category", "device": "category", "hour": "number", "is_member": "flag", "spend": "number"}
    missing = {column["name"]: column["missing"] for column in result["columns"]}
    assert missing["spend"] == sum(x is None for x in shop(ROWS)["spend"][:2000]) / 2000 and missing["hour"] == 0
    assert 0.2 < result["match"] < 0.5 and result["rules"] and all(": play " in rule for rule in result["rules"])
    assert result["average_reward"] == pytest.approx(sum(shop(ROWS)["click"][:2000]) / 2000)

    right = hsb.HSB(arms=load(file)[0].arms, seed=0)
    hsb.learn_from(right, opened(logs["csv"], 0, 2000))
    assert hsb.load(file).digest() == right.digest() and load(file)[1] is None
    run_json(capsys, "train", logs["turned"], *OPTIONS, "--rows", "2000", "--out", other)
    write_parquet(tmp_path / "shop.parquet", shop(ROWS))
    run_json(capsys, "train", tmp_path / "shop.parquet", *OPTIONS, "--rows", "2000", "--out", third)
    assert hsb.load(other).digest() == hsb.load(third).digest() == right.digest()
    fewer = run_json(capsys, "train", logs["csv"], *OPTIONS, "--context", "hour,device", "--rows", "2000", "--out", other)
    assert len(fewer["columns"]) == 2 and hsb.load(other).digest() != right.digest()

    held = ["--skip", "2000", "--policy", file]
    result = run_json(capsys, "evaluate", logs["csv"], *OPTIONS, *held)
    assert (
        result["estimates"]
        == json.loads(json.dumps(hsb.evaluate.off_policy(right, opened(logs["csv"], 2000)).to_dict()))["estimates"]
    )
    turned = run_json(capsys, "evaluate", logs["turned"], *OPTIONS, *held)
    assert turned["estimates"]["ips"] == result["estimates"]["ips"] and turned["rows"] == 1000
    for command in ("evaluate", "replay"):
        words = r"trained on the columns country, device, .*; the log has no country\. Name all of them in --context"
        fails(capsys, [command, logs["lacking"], *OPTIONS, *held], words)

    again = run_json(capsys, "replay", logs["turned"], *OPTIONS, *held)
    assert again["rounds"] == 1000 and again["matched"] == hsb.replay(right.copy(), opened(logs["csv"], 2000)).matched
    out, _ = run(capsys, "explain", file, "--png", tmp_path / "policy.png")
    assert "matters most: " in out and any(f"{name} " in out for name in CONTEXT) and "x0" not in out
    assert (tmp_path / "policy.png").read_bytes().startswith(b"\x89PNG")
    earned = run_json(capsys, "explain", file, logs["csv"], *OPTIONS, "--skip", "2000")["regions"]
    explained = right.explain(log=opened(logs["csv"], 2000)).to_dict()["regions"]
    assert earned == json.loads(json.dumps(explained)) and any("earned" in region for region in earned)
    assert "), earns 0." in run(capsys, "explain", file, logs["turned"], *OPTIONS, "--skip", "2000")[0]
    out, _ = run(capsys, "train", logs["csv"], *OPTIONS, "--out", file)
    for words in (
        "3,000 decisions learned",
        "rows/s",
        "spend: number, missing in ",
        "first rules",
        "average reward of the log",
    ):
        assert words in out


def test_messages_speak_of_options(logs, tmp_path, capsys):
    out = ["--out", tmp_path / "p.hsb"]
    mixed = ["--arm", "click", "--reward", "shown", "--propensity", "p"]
    fails(
        capsys,
        ["train", logs["csv"], *mixed, *out],
        r"Column 'shown' of .*, given as --reward, has no numbers, e.g. '(sale|app|film)'",
    )
    named = "names of its columns: --arm, --propensity and either --reward or --loss; given --arm 'shown'. Name the features with --context"
    fails(capsys, ["train", logs["csv"], "--arm", "shown", *out], named)
    fails(capsys, ["train", logs["csv"], *OPTIONS, "--context", "contry", *out], "no column 'contry'. It has: 'country'")
    fails(
        capsys,
        ["train", logs["csv"], *OPTIONS, "--context", "hour", "--categories", "size", *out],
        "categories must be among context",
    )
    fails(capsys, ["train", logs["bad"], *OPTIONS, "--strict", *out], "add it to --categories.* by leaving out --strict")
    fails(capsys, ["train", logs["csv"], *OPTIONS, "--policy", "Magic", *out], "--policy must be one of .*LinUCB")
    fails(capsys, ["train", logs["csv"], *OPTIONS, "--structure", "moon", *out], "--structure must be one of .*binary-tree")
    fails(
        capsys,
        ["train", logs["csv"], *OPTIONS, "--high", "0.5", *out],
        "with --low and --high, or outside = .clip. in a --config file",
    )
    assert cli.main([str(each) for each in ["train", logs["bad"], *OPTIONS, *out]]) == 0
    printed, err = said(capsys)
    assert (
        "2,990 decisions learned, 10 rows skipped" in printed and "add it to --categories" in err and "categories=" not in err
    )


def test_arms_alone_are_compared_on_a_table_of_text(logs, capsys):
    """No policy says what the columns are, and none is needed; a misspelt arm is named, not a column."""
    result = run_json(capsys, "evaluate", logs["csv"], *OPTIONS, "--always", "sale", "--uniform")
    right = hsb.evaluate.compare_off_policy({"always sale": "sale", "uniform": None}, opened(logs["csv"]))
    assert result == {**json.loads(json.dumps(right.to_dict())), "files": [], "skipped": 0}
    fails(
        capsys, ["evaluate", logs["csv"], *OPTIONS, "--always", "sail"], "the arm 'sail', which is never available in the log"
    )


def test_a_log_of_which_nothing_is_left_says_so(logs, tmp_path, capsys):
    """And a policy that was there stays."""
    run_json(capsys, "train", logs["csv"], *OPTIONS, "--rows", "200", "--out", tmp_path / "p.hsb")
    skipped, before = [logs["csv"], *OPTIONS, "--skip", "99999"], (tmp_path / "p.hsb").read_bytes()
    fails(capsys, ["train", *skipped, "--out", tmp_path / "p.hsb"], "No row was read.*or all were left out: see --skip")
    fails(capsys, ["replay", *skipped], "No row was read.*or all were left out: see --skip")
    assert (tmp_path / "p.hsb").read_bytes() == before
    fails(
        capsys,
        ["evaluate", *skipped, "--policy", tmp_path / "p.hsb"],
        "No event can be used. No row was read.*or all were left out: see --skip",
    )


def test_a_log_whose_rows_are_all_left_out_says_why_at_once(logs, tmp_path, capsys):
    """Percents in the place of probabilities: how many rows, and the first reason, in one line."""
    percent, out = tmp_path / "percent.csv", tmp_path / "p.hsb"
    percent.write_text("x,shown,p,click\n" + "1,a,50,1\n2,b,50,0\n" * 600)
    hsb.Exp3(arms=["a", "b"]).save(out)
    why = r"no row that can be used: 1,200 rows were left out; the first: .*percent.csv, line 2: the propensity is not in \(0, 1\]\."
    for command in (
        ["train", "--out", out],
        ["replay"],
        ["replay", "--policy", out],
        ["evaluate", "--policy", out],
        ["evaluate", "--uniform"],
    ):
        fails(capsys, [command[0], percent, *OPTIONS, *command[1:]], why)
    assert hsb.load(out).rounds == 0


def test_rewards_beyond_a_range_name_options_that_the_command_has(tmp_path, capsys):
    """A policy from a file has its range already: it takes another one; one that is made here takes --low and --high."""
    money, out = tmp_path / "money.csv", tmp_path / "p.hsb"
    money.write_text("x,shown,p,click\n" + "1,a,0.5,0\n2,b,0.5,25\n" * 50)
    hsb.Exp3(arms=["a", "b"]).save(out)
    result, given = r"Use a policy made with hsb train --low 0 --high 25\.$", [money, *OPTIONS]
    fails(capsys, ["evaluate", *given, "--policy", out], result)
    fails(capsys, ["evaluate", *given, "--uniform"], result)
    other = "Use a policy made with hsb train --low LOW --high HIGH, or outside = .clip. in a --config file"
    fails(capsys, ["evaluate", *given, "--learn", out], other)
    fails(capsys, ["replay", *given, "--policy", out], other)
    own = "Declare another range with --low and --high, or"
    fails(capsys, ["replay", *given, "--policy", "Exp3"], own)
    fails(capsys, ["train", *given, "--policy", "Exp3", "--out", out], own)
    hsb.Exp3(arms=["a", "b"], reward_range="auto").save(out)
    fails(capsys, ["evaluate", *given, "--policy", out], "is not known.*Use a policy made with hsb train --low LOW --high HIGH")
    run_json(capsys, "train", *given, "--policy", "Exp3", "--low", "0", "--high", "25", "--out", out)
    assert run_json(capsys, "evaluate", *given, "--policy", out)["rows"] == 100


def test_every_argument_has_its_option():
    """What the library calls its arguments in messages; and text that is no argument stays."""
    for said_, right in (
        ("needed: context=[...], arm=, propensity= and either reward= or loss=; given arm='a', context=['x'].",
         "needed: --context, --arm, --propensity and either --reward or --loss; given --arm 'a', --context ['x']."),
        ("Say which with format=.", "Say which with --format."),
        ("hsb.Features(age=hsb.Number())", "hsb.Features(age=hsb.Number())"),
        ("x=1 and charm= and rows=2", "x=1 and charm= and rows=2"),
    ):  # fmt: skip
        assert in_options(said_) == right


def test_arms_named_in_the_log_are_those_of_the_policy(logs, tmp_path, capsys):
    run_json(capsys, "train", logs["csv"], *OPTIONS, "--out", tmp_path / "p.hsb")
    assert sorted(hsb.load(tmp_path / "p.hsb").arms) == sorted(ARMS)
