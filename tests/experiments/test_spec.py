"""What the TOML file of `hsb run` may say, and one-line errors that name the key."""

import itertools
import sys

import numpy as np
import pytest
from support.comparison_files import FILE, GOOD

import hsb
from hsb.experiments.base import Options
from hsb.experiments.custom import CustomComparison
from hsb.experiments.spec import read
from hsb.experiments.study import conduct
from hsb.policy import Policy
from hsb.problems import Problem
from hsb.specs import make_problem, policy_spec, structure
from hsb.structures import Structure


def test_what_the_file_says_is_what_plays(write):
    spec = read(write(GOOD))
    assert (spec["title"], spec["rounds"], spec["runs"], spec["seed"]) == ("Mine", 400, 3, 5)
    assert list(spec["policies"]) == ["ours", "Uniform", "SExp3"]
    problem, shared = make_problem(spec["problem"]), {"structure": spec["structure"]}
    ours, _, cells = (policy_spec(shared | policy, problem, spec["rounds"])(1) for policy in spec["policies"].values())
    assert ours.learner.mixture.rates.horizon == 400 and ours.structure == hsb.BinaryTree(depth=4)
    assert cells.structure.leaves == 4 and cells.learner.mixture.rates.learning_rate == 0.1


def test_a_file_of_losses_is_played_as_it_is(write):
    spec = read(write(FILE))
    table = make_problem(spec["file"])
    assert spec["rounds"] == 4 and table.arms == 2
    assert table.space == hsb.Box([20, 1], [50, 9.5])
    assert np.array_equal(table.sample(4, seed=9).losses, [[0, 1], [1, 0], [0, 0.5], [1, 1]])


def test_structures_may_be_nested(write):
    several = (
        'kind = "OneOf"\nstructures = [{kind = "BinaryTree", depth = 2, features = [0]}, {kind = "BinaryTree", depth = 4}]'
    )
    spec = read(write(FILE.replace('kind = "BinaryTree"\ndepth = 4', several)))
    assert [each["depth"] for each in spec["structure"]["structures"]] == [2, 4]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("rounds = 400", "rounds = 0", "mine.toml: rounds must be a whole number of at least 1; given 0"),
        ("runs = 3", 'runs = "3"', "runs must be a whole number"),
        ("seed = 5", "seed = -1", "seed must be a whole number of at least 0; given -1"),
        ("seed = 5", "sede = 5", "sede: unknown key"),
        ("title = ", "title = = ", "not TOML: .*line 2"),
        ('title = "Mine"', "title = 3", "title: must be text; given 3"),
        ('[problem]\nname = "stationary"', "", "Give either problem or file"),
        ('name = "stationary"', "arms = 3", "problem: name: is missing"),
        ('name = "stationary"', 'name = "moon"', "problem: There is no problem 'moon'"),
        ('name = "stationary"', 'name = "stationary"\narmz = 3', "problem: .*armz"),
        ('[problem]\nname = "stationary"', "problem = 3\n", "problem: must be a table; given 3"),
        ('kind = "BinaryTree"', 'kind = "Bush"', "structure: kind: must be one of .*BinaryTree"),
        ("depth = 4", "depth = -4", "structure: depth must be a whole number"),
        ("depth = 4", "", "structure: .*missing .*depth"),
        ("depth = 4", "depth = 4\nleaves = 3", "structure: leaves: unknown key. The keys are depth, features"),
        ('label = "ours"', 'label = "Uniform"', r"policies\[1\]: label: two policies are labelled 'Uniform'"),
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
        ('path = "table.csv"', "", "file: path is missing"),
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
        ("age,income,a,b\n1,2,3\n", "table.csv, line 2: 3 values for 4 columns"),
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


@pytest.mark.parametrize("how", ['loss_range = "auto"', 'outside = "clip"', "reward_range = [0, 3]"])
def test_unless_they_are_clipped_or_the_range_is_found(write, tmp_path, how):
    path = write(FILE.replace('policy = "HSB"', f'policy = "HSB"\n{how}').replace('[[policies]]\npolicy = "LinUCB"\n', ""))
    (tmp_path / "table.csv").write_text("age,income,a,b\n1,2,3,0\n2,3,0,0\n")
    read(path)


# -- classes of one's own ------------------------------------------------------------------------------------------------

MINE = """
import hsb
import numpy as np
from hsb.problems import Problem, Stationary

class Stubborn(hsb.Uniform):
    def __init__(self, *, arms, favourite, seed=None):
        super().__init__(arms=arms, seed=seed)
        self.favourite = favourite

class Steep(Problem):
    def __init__(self, *, height, arms=2):
        super().__init__(arms=arms)
        self.height = height

    def expected(self, contexts, when, rounds):
        return np.column_stack([np.full(len(contexts), self.height)] + [np.full(len(contexts), 1.0)] * (self.arms - 1))

class Half(hsb.BinaryTree):
    def __init__(self, *, half_depth, space=None, features=None):
        super().__init__(depth=2 * half_depth, space=space, features=features)

class Whole(Half):
    def __init__(self, space):
        super().__init__(half_depth=1, space=space)

class Flat(Steep):
    def __init__(self):
        super().__init__(height=0.5)

class Unfinished(Problem):
    pass

class Unrelated:
    pass
"""
OWN = """
rounds = 60
runs = 2
[problem]
name = "MODULE:Steep"
height = 0.25
[structure]
kind = "MODULE:Half"
half_depth = 2
[[policies]]
policy = "HSB"
[[policies]]
policy = "MODULE:Stubborn"
favourite = 1
label = "mine"
"""
NUMBERS = itertools.count()


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A spec whose classes are in the current directory, in a module that no other test has imported."""
    for base in (Policy, Problem, Structure):
        monkeypatch.setattr(base, "kinds", dict(base.kinds))
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each])
    monkeypatch.chdir(tmp_path)
    module = f"mine_{next(NUMBERS)}"
    (tmp_path / f"{module}.py").write_text(MINE)

    def write(text=OWN):
        (tmp_path / "own.toml").write_text(text.replace("MODULE", module))
        return tmp_path / "own.toml"

    return write


def test_classes_of_one_s_own_play(own, tmp_path):
    comparison = CustomComparison(read(own()))
    done = conduct([comparison], Options(), tmp_path / "out", jobs=1)
    losses = {name: curve[-1] for part in done.studies[0].finished for name, curve in part.result["losses"].items()}
    assert losses["HSB"] < 0.6 and losses["mine"] == pytest.approx(0.625, abs=5 * 0.5 / np.sqrt(60))
    assert comparison.comparison(Options(), _results(done)).best == pytest.approx(0.25)
    result = policy_spec(
        {"structure": comparison.spec["structure"], "policy": "HSB"}, make_problem(comparison.spec["problem"]), 60
    )(0)
    assert result.structure.leaves == 16 and result.structure.space == hsb.Box([0.0], [1.0])


def test_a_name_alone_will_do(own):
    spec = read(own('problem = "MODULE:Flat"\nstructure = "MODULE:Whole"\npolicies = [{policy = "HSB"}]'))
    assert make_problem(spec["problem"]).best_loss(10) == 0.5
    assert structure(spec["structure"], make_problem(spec["problem"])).leaves == 4
    assert read(own('problem = "stationary"\npolicies = [{policy = "HSB"}]'))["problem"] == {"name": "stationary"}


def test_workers_find_them_too(own, tmp_path):
    here = conduct([CustomComparison(read(own()))], Options(), tmp_path / "here", jobs=1)
    there = conduct([CustomComparison(read(own()))], Options(), tmp_path / "there", jobs=2)
    assert _results(here) == _results(there)


def test_a_part_is_another_one_when_the_code_changes(own, tmp_path):
    from hsb.experiments.cache import key, source_of

    keys = []
    for text in (MINE, MINE + "\n# the same\n", MINE):
        [(tmp_path / path.name).write_text(text) for path in tmp_path.glob("mine_*.py")]
        source_of.cache_clear()
        keys.append([key(part) for part in CustomComparison(read(own())).parts(Options())])
    assert keys[0] == keys[2] and not set(keys[0]) & set(keys[1])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "MODULE:Stubborn",
            "nowhere:Stubborn",
            r"policies\[1\]: policy: 'nowhere:Stubborn': there is no module 'nowhere' in /.*Python's path",
        ),
        ("MODULE:Stubborn", "MODULE.inner:Stubborn", "there is no module 'mine_.*inner'|not a package"),
        (
            "MODULE:Stubborn",
            "MODULE:Stubbed",
            r"mine_\d+.py has no subclass of hsb's Policy of the name 'Stubbed'; it has Stubborn",
        ),
        ("MODULE:Stubborn", "MODULE:Unrelated", "no subclass of hsb's Policy of the name 'Unrelated'"),
        ("MODULE:Steep", "MODULE:Unfinished", "problem: .*is not complete: it must define expected"),
        (
            "MODULE:Steep",
            "MODULE:Half",
            "problem: .*no subclass of hsb's Problem of the name 'Half'; it has Flat, Problem, Stationary",
        ),
        ("MODULE:Half", "MODULE:Steep", "structure: kind: .*no subclass of hsb's Structure"),
        ("favourite = 1", "", r"policies\[1\]: Stubborn: missing a required argument: 'favourite'"),
        ("favourite = 1", "favorite = 1", r"policies\[1\]: favorite: unknown key. The keys are favourite"),
        ("height = 0.25", "height = 0.25\nwidth = 1", "problem: width: unknown key. The keys are arms, height"),
        ("half_depth = 2", "depth = 2", "structure: depth: unknown key. The keys are features, half_depth"),
    ],
)
def test_errors_say_what_was_looked_for_and_where(own, old, new, words):
    assert old in OWN
    _refused(own(OWN.replace(old, new)), words)


def test_a_module_that_cannot_be_imported_is_one_line(own, tmp_path):
    path = own()
    for text, words in (("def f(:", "SyntaxError"), ("import not_there_at_all", "No module named 'not_there_at_all'")):
        [each.write_text(text) for each in tmp_path.glob("mine_*.py")]
        _refused(path, f"importing 'mine_.*{words}|importing mine_.*{words}")


def _results(done):
    study = done.studies[0]
    return {part.name: ready.result for part, ready in zip(study.parts, study.finished, strict=True)}


def _refused(path, words):
    with pytest.raises(hsb.InputError, match=words) as caught:
        read(path)
    assert "\n" not in str(caught.value)
