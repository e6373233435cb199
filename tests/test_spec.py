"""What the TOML file of `hsb run` may say, and one-line errors that name the key."""

import numpy as np
import pytest

import hsb
from hsb.experiments.base import Options
from hsb.experiments.conduct import conduct
from hsb.experiments.own import Own
from hsb.experiments.spec import entrant, read, world

GOOD = """
title = "Mine"
rounds = 400
runs = 3
seed = 5
[problem]
name = "stationary"
[structure]
kind = "BinaryTree"
depth = 4
[[policies]]
policy = "HSB"
label = "ours"
horizon = true
[[policies]]
policy = "Uniform"
[[policies]]
policy = "SExp3"
structure = {kind = "Lexicographic", leaves = 4}
learning_rate = 0.1
"""
TABLE = "age,income,a,b\n20,1.0,0,1\n30,2.0,1,0\n40,9.5,0,0.5\n\n50,3.0,1,1\n"
FILE = """
runs = 2
[file]
path = "table.csv"
contexts = ["age", "income"]
losses = ["a", "b"]
[structure]
kind = "BinaryTree"
depth = 4
[[policies]]
policy = "HSB"
[[policies]]
policy = "LinUCB"
"""


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "mine.toml"
        path.write_text(text)
        (tmp_path / "table.csv").write_text(TABLE)
        return path

    return write


def test_what_the_file_says_is_what_plays(write):
    spec = read(write(GOOD))
    assert (spec["title"], spec["rounds"], spec["runs"], spec["seed"]) == ("Mine", 400, 3, 5)
    assert list(spec["policies"]) == ["ours", "Uniform", "SExp3"]
    ours, _, cells = (entrant(policy, spec, world(spec))(1) for policy in spec["policies"].values())
    assert ours.horizon == 400 and ours.structure == hsb.BinaryTree(depth=4)
    assert cells.structure.leaves == 4 and cells.learning_rate == 0.1


def test_a_file_of_losses_is_played_as_it_is(write):
    spec = read(write(FILE))
    table = world(spec)
    assert spec["rounds"] == 4 and table.arms == 2
    assert table.space == hsb.Box([20, 1], [50, 9.5])
    assert np.array_equal(table.sample(4, seed=9).losses, [[0, 1], [1, 0], [0, 0.5], [1, 1]])


def test_structures_may_be_nested(write):
    several = (
        'kind = "OneOf"\nstructures = [{kind = "BinaryTree", depth = 2, features = [0]}, {kind = "BinaryTree", depth = 4}]'
    )
    spec = read(write(FILE.replace('kind = "BinaryTree"\ndepth = 4', several)))
    assert [each["depth"] for each in spec["structure"]["structures"]] == [2, 4]


@pytest.mark.parametrize("text", [GOOD, FILE])
def test_a_comparison_runs_and_reports(write, tmp_path, text):
    own = Own(read(write(text)))
    done = conduct([own], Options(seed=5), tmp_path / "out", jobs=1, title=own.heading)
    (study,) = done.studies
    assert len(study.parts) == own.spec["runs"] * len(own.spec["policies"])
    assert len(study.analysis.claims) == len(own.spec["policies"]) - 1
    page = done.report.read_text()
    assert own.heading in page and ("synthetic" in page) == (text is GOOD)
    if text is GOOD:
        assert study.analysis.claims[0].holds  # ours loses less than uniform play


def test_the_runs_are_those_of_compare(write, tmp_path):
    from hsb.evaluate import compare
    from hsb.problems import Stationary

    own = Own(read(write(GOOD)))
    done = conduct([own], Options(seed=5), tmp_path / "out", jobs=1)
    tree = hsb.BinaryTree(depth=4)
    found = compare(
        {"ours": lambda seed: hsb.HSB(tree, arms=3, horizon=400, seed=seed)}, Stationary(), rounds=400, runs=3, seed=5
    )
    own_runs = [done.studies[0].finished[3 * run].result for run in range(3)]
    assert np.array_equal(found.losses["ours"][:, 0], own_runs)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("rounds = 400", "rounds = 0", "mine.toml: rounds must be a whole number of at least 1; given 0"),
        ("runs = 3", 'runs = "3"', "runs must be a whole number"),
        ("seed = 5", "seed = -1", "seed must be a whole number of at least 0; given -1"),
        ("seed = 5", "sede = 5", "sede: unknown key"),
        ("title = ", "title = = ", "not TOML: .*line 2"),
        ('title = "Mine"', "title = 3", "title: must be text; given 3"),
        ('[problem]\nname = "stationary"', "", "problem or file: one of them is needed"),
        ('name = "stationary"', "arms = 3", "problem: name: is missing"),
        ('name = "stationary"', 'name = "moon"', "problem: There is no problem 'moon'"),
        ('name = "stationary"', 'name = "stationary"\narmz = 3', "problem: .*armz"),
        ('[problem]\nname = "stationary"', "problem = 3\n", "problem: must be a table; given 3"),
        ('kind = "BinaryTree"', 'kind = "Bush"', "structure: kind: must be one of .*BinaryTree"),
        ("depth = 4", "depth = -4", "structure: depth must be a whole number"),
        ("depth = 4", "", "structure: .*missing .*depth"),
        ("depth = 4", "depth = 4\nleaves = 3", "structure: leaves: unknown key. The keys are depth, features"),
        ('label = "ours"', 'label = "Uniform"', r"policies\[1\]: label: 'Uniform' is taken"),
        ('"HSB"', '"Exp4"', r"policies\[0\]: policy: must be one of .*HSB.*; given 'Exp4'"),
        ('policy = "HSB"', "", r"policies\[0\]: policy: must be one of .*; given None"),
        ("horizon = true", "horizon = -1", r"policies\[0\]: horizon must be a number of rounds"),
        ("horizon = true", "hrizon = true", r"policies\[0\]: hrizon: unknown key"),
        ("learning_rate = 0.1", 'learning_rate = "fast"', r"policies\[2\]: learning_rate must be a positive number"),
        ("leaves = 4", "leaves = 0", r"policies\[2\]: structure: "),
    ],
)
def test_errors_name_the_key(write, old, new, words):
    assert old in GOOD
    _refused(write(GOOD.replace(old, new)), words)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"table.csv"', '"none.csv"', "file: path: cannot read .*none.csv"),
        ('path = "table.csv"', "", "file: path: is missing"),
        ('["a", "b"]', '["a", "z"]', "table.csv must have one column 'z'; its columns are age, income, a, b"),
        ('["a", "b"]', '"a"', "file: losses: must be a list of column names"),
        ("[file]", "rounds = 5\n[file]", "rounds: the file has 4 rows; given 5"),
        ('losses = ["a", "b"]', 'losses = ["a", "b"]\nhigh = [40, 9]', "feature 1 is 9.5, outside"),
    ],
)
def test_errors_name_the_column(write, old, new, words):
    assert old in FILE
    _refused(write(FILE.replace(old, new)), words)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("age,income,a,b\n1,2,3,x\n", "table.csv, line 2: could not convert string to float: 'x'"),
        ("age,income,a,b\n1,2,3\n", "table.csv, line 2: 3 values, and 4 columns"),
        ("age,income,a,b\n1,2,0,nan\n", "table.csv, line 2: values must be finite"),
        ("age,income,a,b\n", "no rows"),
        ("", "its columns are none"),
    ],
)
def test_errors_name_the_line(write, tmp_path, table, words):
    path = write(FILE)
    (tmp_path / "table.csv").write_text(table)
    _refused(path, words)


def test_losses_out_of_range_are_refused_when_reading(write, tmp_path):
    path = write(FILE)
    (tmp_path / "table.csv").write_text("age,income,a,b\n1,2,3,0\n2,3,0,0\n")
    _refused(path, r"policies\[0\]: loss_range: row 1 .*loss of 3.0, outside \[0.0, 1.0\]. Write loss_range = \[0, 3\]")


def _refused(path, words):
    with pytest.raises(hsb.InputError, match=words) as caught:
        read(path)
    assert "\n" not in str(caught.value)
