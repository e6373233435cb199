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


def test_arms_that_come_with_the_rows(tmp_path, capsys):
    lines = []
    for t in range(400):
        prices = [(t * 7 + 3 * k) % 20 for k in range(3)]
        k = t % 3
        actions = [
            f"{f'0:{-float(prices[j] < 10)}:0.3333 ' if j == k else ''}|i price:{price}" for j, price in enumerate(prices)
        ]
        lines.append("\n".join([f"shared | age:{t % 5}", *actions]) + "\n\n")
    log, file, config = tmp_path / "log.vw", tmp_path / "policy.hsb", tmp_path / "policy.toml"
    log.write_text("".join(lines))
    report = run_json(capsys, "train", log, "--open", "--rows", "300", "--out", file)
    assert (report["learned"], report["arms"], report["arm_columns"]) == (300, 20, [{"name": "i^price", "kind": "number"}])
    policy = hsb.HSB(arms=hsb.Open(), reward_range=(0, 1), seed=0)
    hsb.learn_from(policy, hsb.logs.open(log).head(300))
    assert hsb.load(file).digest() == policy.digest()
    estimate = run_json(capsys, "evaluate", log, "--policy", file, "--skip", "300")
    assert estimate["estimates"]["snips"]["value"] > 0.7 > 0.6 > estimate["logged"]
    assert report["rules"] == []
    fails(capsys, ["explain", file, log, "--skip", "300"], "It has no rules: leave out the log")
    assert run_json(capsys, "replay", log, "--open")["rounds"] == 400
    config.write_text('open = {group = "shelf", groups = ["top"], known = 50}\n')
    run_json(capsys, "train", log, "--config", config, "--out", file)
    assert hsb.load(file).arms == ["other arms", ("shelf", "top")]
    for text, words in (
        ("open = 3", "open: must be a table"),
        ("open = {groups = 3}", "policy.toml: open: groups must be a list"),
        ("open = {colour = 3}", "policy.toml: open: colour: unknown key"),
        ('open = true\npolicy = "Exp3"', "open: only HSB without a structure"),
    ):
        config.write_text(text + "\n")
        fails(capsys, ["train", log, "--config", config, "--out", file], words)
    fails(capsys, ["train", log, "--open", "--depth", "3", "--out", file], "open: only HSB without a structure")


def test_a_column_of_features_of_arms(tmp_path, capsys):
    file = tmp_path / "log.csv"
    rows = [f'{t},a,0.5,{t % 2},"{{""a"": {{""price"": {t % 3}}}, ""b"": null}}"' for t in range(20)]
    file.write_text("\n".join(["x,arm,p,r,items", *rows]) + "\n")
    named = ["--arm", "arm", "--propensity", "p", "--reward", "r", "--arm-features", "items"]
    report = run_json(capsys, "train", file, *named, "--open", "--out", tmp_path / "policy.hsb")
    assert (report["learned"], [column["name"] for column in report["columns"]]) == (20, ["x"])
    assert report["arm_columns"] == [{"name": "price", "kind": "number"}]
