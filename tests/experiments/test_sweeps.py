"""Lists in a comparison file: a policy for each value, labels that say which, and errors that name the key."""

import pytest

import hsb
from hsb.experiments.base import Options
from hsb.experiments.custom import CustomComparison
from hsb.experiments.spec import read
from hsb.experiments.study import conduct

SWEPT = """
rounds = 200
runs = 2
problem = "stationary"
structure = {kind = "BinaryTree", depth = [3, 5]}
[[policies]]
policy = "HSB"
learning_rate = [0.1, 0.2]
[[policies]]
policy = "Exp3"
[[policies]]
policy = "SExp3"
label = "own tree"
structure = {kind = "KaryTree", k = [2, 3], depth = 2}
horizon = true
"""


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "sweep.toml"
        path.write_text(text)
        return path

    return write


def test_each_combination_is_a_policy(write, tmp_path):
    spec = read(write(SWEPT))
    trees = [f"HSB, depth {depth}, learning rate {rate}" for depth in (3, 5) for rate in (0.1, 0.2)]
    assert list(spec["policies"]) == [*trees, "Exp3", "own tree, k 2", "own tree, k 3"]
    assert spec["policies"][trees[3]] == {
        "policy": "HSB",
        "learning_rate": 0.2,
        "structure": {"kind": "BinaryTree", "depth": 5},
    }
    done = conduct([CustomComparison(spec)], Options(), tmp_path / "out", jobs=1)
    compared = CustomComparison(spec).comparison(
        Options(),
        {part.name: each.result for study in done.studies for part, each in zip(study.parts, study.finished, strict=True)},
    )
    assert compared.policies == list(spec["policies"])
    assert (compared.averages(trees[0]) != compared.averages(trees[3])).all()


def test_a_file_without_lists_is_what_it_was(write):
    spec = read(write('problem = "stationary"\nstructure = {kind = "BinaryTree", depth = 3}\npolicies = [{policy = "HSB"}]'))
    assert spec["policies"] == {"HSB": {"policy": "HSB"}} and spec["structure"] == {"kind": "BinaryTree", "depth": 3}


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("depth = [3, 5]", "depth = []", "structure: depth: the list is empty. Give it the values to try"),
        ("depth = [3, 5]", 'depth = [3, "five"]', "structure: depth must be a whole number"),
        ("[0.1, 0.2]", "[0.1, -1.0]", "policies[0]: "),
        ("[0.1, 0.2]", "[0.1, 0.1]", "policies[0]: label: two policies are labelled 'HSB, depth 3, learning rate 0.1'"),
        (
            "[0.1, 0.2]",
            str([0.001 * (n + 1) for n in range(201)]),
            "learning_rate: the lists have 201 combinations; at most 200",
        ),
    ],
)
def test_lists_that_cannot_be_played_are_refused(write, old, new, words):
    assert old in SWEPT
    with pytest.raises(hsb.InputError) as refused:
        read(write(SWEPT.replace(old, new)))
    assert words in str(refused.value)
