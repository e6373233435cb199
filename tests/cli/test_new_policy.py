"""Policies that a command makes for a log: their kinds, and their settings in a file."""

import pytest
from support.cli_cases import fails
from support.cli_log_cases import run_json
from support.shop_logs import OPTIONS, shop, write_csv

import hsb
import hsb.evaluate

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


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        (["--policy", "LinUCB"], "LinUCB"),
        (["--policy", "TreeThompson", "--depth", "4"], "TreeThompson"),
        (["--policy", "EpochGreedy", "--depth", "3", "--components", "2"], "EpochGreedy"),
        (["--policy", "Exp3"], "Exp3"),
        (["--policy", "Uniform"], "Uniform"),
        (["--structure", "binary-tree", "--depth", "5"], "HSB"),
        (["--structure", "BinaryTree", "--components", "0", "--depth", "12"], "HSB"),
    ],
)
def test_other_policies(logs, tmp_path, capsys, options, kind):
    """Each learns from all rows, missing values or not; its file knows its columns."""
    file = tmp_path / "policy.hsb"
    report = run_json(capsys, "train", logs["csv"], *OPTIONS, *options, "--rows", "2000", "--out", file)
    assert (report["learned"], report["kind"], len(report["columns"])) == (2000, kind, 5)
    one = run_json(capsys, "evaluate", logs["csv"], *OPTIONS, "--policy", file, "--skip", "2000")
    other = run_json(capsys, "evaluate", logs["turned"], *OPTIONS, "--policy", file, "--skip", "2000")
    assert one["estimates"]["ips"] == other["estimates"]["ips"]
    fails(capsys, ["evaluate", logs["lacking"], *OPTIONS, "--policy", file], "fitted on the columns .* the log has no country")
    replayed = run_json(capsys, "replay", logs["csv"], *OPTIONS, *options)
    assert replayed["rounds"] == ROWS


def test_a_file_for_more(logs, tmp_path, capsys):
    config, file = tmp_path / "policy.toml", tmp_path / "policy.hsb"
    declared = ", ".join(f'{name} = "category"' for name in ("country", "device", "is_member"))
    config.write_text(f'floor = 0.1\nfeatures = {{{declared}, spend = "number", hour = {{kind = "cycle", period = 24}}}}\n')
    report = run_json(capsys, "train", logs["csv"], *OPTIONS, "--config", config, "--out", file)
    policy = hsb.load(file)
    assert policy.floor == 0.1 and policy.learner.reader.features.kinds["hour"] == hsb.Cycle(24)
    assert [column["kind"] for column in report["columns"]] == ["category", "category", "category", "number", "cycle"]
    config.write_text('features = {hour = {kind = "cycle", period = 24}}\n')  # the others are what they are without it
    report = run_json(capsys, "train", logs["csv"], *OPTIONS, "--config", config, "--out", file)
    kinds = {column["name"]: column["kind"] for column in report["columns"]}
    assert kinds == {"country": "category", "device": "category", "hour": "cycle", "is_member": "flag", "spend": "number"}
    assert hsb.load(file).learner.reader.features.kinds["hour"] == hsb.Cycle(24)
    config.write_text('policy = "LinUCB"\nalpha = 0.3\n')
    run_json(capsys, "train", logs["csv"], *OPTIONS, "--config", config, "--out", file)
    assert hsb.load(file).alpha == 0.3
    config.write_text('components = 2\nstructure = {kind = "BinaryTree", depth = 6}\nhorizon = 3000\n')
    run_json(capsys, "train", logs["csv"], *OPTIONS, "--config", config, "--out", file)
    assert hsb.load(file).settings()["horizon"] == 3000 and hsb.load(file).structure.depth == 6
    for text, words in (
        ('policy = "Magic"', "policy.toml: policy: must be one of"),
        ("colour = 1", "policy.toml: colour: unknown key"),
        ("policy = ", "policy.toml is not TOML"),
        ('features = {age = "moon"}', "features.age: kind: must be one of number, category"),
        ('policy = "LinUCB"\nfeatures = {age = "number"}', "features: only HSB without a structure"),
        ('features = {age = "number"}', "takes the columns age; the log has no age"),
    ):
        config.write_text(text + "\n")
        fails(capsys, ["train", logs["csv"], *OPTIONS, "--config", config, "--out", file], words)
    fails(capsys, ["train", logs["csv"], *OPTIONS, "--config", config, "--policy", "HSB", "--out", file], "Leave out --policy")
