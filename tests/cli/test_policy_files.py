"""What belongs together stays together: a policy and its encoder, a checkpoint and its log; and names in pictures are only names."""

import io
import json
import zipfile

import numpy as np
import pytest
from support.cli_cases import fails

import hsb
import hsb.features.encoders
import hsb.logs
from hsb import cli
from hsb.cli.policy_files import load, save
from hsb.evaluate import compare
from hsb.play.checkpoint import _digest
from hsb.plotting.explanations import explanation_png


class Stopped(Exception):
    pass


def made(n=600, seed=0, **changed):
    rng = np.random.default_rng(seed)
    columns = {
        "contexts": rng.random((n, 1)),
        "arm": rng.integers(0, 2, n),
        "reward": rng.integers(0, 2, n),
        "propensity": np.full(n, 0.5),
    }
    return [hsb.logs.Batch.of(**(columns | changed), arms=["a", "b"])]


def policy(seed=0):
    return hsb.Exp3(arms=["a", "b"], learning_rate=0.1, seed=seed)


def stopped(path, log, **options):
    def progress(done, total):
        raise Stopped

    with pytest.raises(Stopped):
        hsb.replay(policy(), log, checkpoint=path, every=1, progress=progress, **options)


def halves(batch):
    return [batch.take(slice(300)), batch.take(slice(300, None))]


def test_another_log_with_the_same_rewards_is_refused(tmp_path):
    path, [batch] = tmp_path / "c", made()
    log = halves(batch)
    right = hsb.replay(policy(), log)
    flat = np.sort(batch.reward)
    for other in (
        made(contexts=1.0 - batch.contexts),
        made(arm=1 - batch.arm),
        made(contexts=batch.contexts[::-1], arm=batch.arm[::-1], reward=batch.reward[::-1]),
        made(reward=flat, arm=batch.arm),
        made(propensity=np.full(600, 0.25)),
    ):
        stopped(path, log)
        with pytest.raises(hsb.FileError, match="another log"):
            hsb.replay(policy(), halves(other[0]), checkpoint=path, floor=None)
        path.unlink(missing_ok=True)
    stopped(path, log)
    assert hsb.replay(policy(), log, checkpoint=path) == right


def test_another_encoding_or_what_was_learned_is_refused(tmp_path):
    path, [batch] = tmp_path / "c", made()
    log = halves(batch)
    one, other = (hsb.encode.MinMax().fit(batch.contexts[:rows]) for rows in (3, 300))
    stopped(path, log, context=one)
    for bad in (other, None, np.sqrt):
        with pytest.raises(hsb.FileError, match="encoding"):
            hsb.replay(policy(), log, checkpoint=path, context=bad)
    learned = policy()
    learned.learn(learned.decide(0.5), loss=1.0)
    with pytest.raises(hsb.FileError, match="another policy"):
        hsb.replay(learned, log, checkpoint=path, context=one)
    hsb.replay(policy(), log, checkpoint=path, context=one)
    stopped(path, log, context=lambda rows: rows / 2)
    with pytest.raises(hsb.FileError, match="another log"):  # the functions have one name, but make other contexts
        hsb.replay(policy(), log, checkpoint=path, context=_renamed(lambda rows: rows / 3))


def _renamed(function):
    function.__qualname__ = "test_another_encoding_or_what_was_learned_is_refused.<locals>.<lambda>"
    return function


@pytest.mark.parametrize("honest", [False, True], ids=["tampered", "forged"])
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("sums", {"policy": [10**9, 5.0, 5.0]}),
        ("sums", {"policy": [1, float("nan"), 1.0]}),
        ("sums", {"policy": [0, 3.0, 3.0]}),
        ("sums", {"policy": [True, 1.0, 1.0]}),
        ("sums", {"policy": "abc"}),
        ("sums", {}),
        ("sums", None),
        ("at", {"rounds": -5, "rejected": 0, "logged": 0.0}),
        ("at", {"rounds": 300, "rejected": 301, "logged": 0.0}),
        ("at", {"rounds": 300, "rejected": 0, "logged": float("nan")}),
        ("at", {"rounds": 300}),
        ("at", [1]),
        ("thinning", {"bit_generator": "MT19937", "state": {"key": [0], "pos": 10**9}}),
        ("thinning", None),
        ("read", 5),
        ("policy", b"PK"),
        ("policy", "another kind"),
        ("policy", "other arms"),
        ("policy", "other rounds"),
    ],
)
def test_tampered_checkpoints_are_refused(tmp_path, key, value, honest):
    """Forged ones, whose digest is right, too; and the policy is as it was."""
    path, [batch] = tmp_path / "c", made()
    log = halves(batch)
    stopped(path, log)
    with zipfile.ZipFile(path) as archive:
        header, packed = json.loads(archive.read("header.json")), archive.read("0.hsb")
    if key == "policy":
        others = {"another kind": hsb.Uniform(arms=["a", "b"]), "other arms": hsb.Exp3(arms=["a", "c"], learning_rate=0.1)}
        others["other rounds"] = policy()
        packed = value if isinstance(value, bytes) else hsb.files.policy_file.pack(others[value])
    else:
        header[key] = value
    if honest:
        header.pop("digest")
        header["digest"] = _digest(header, [packed])
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("header.json", json.dumps(header))
        archive.writestr("0.hsb", packed)
    path.write_bytes(buffer.getvalue())
    fresh = policy()
    with pytest.raises(hsb.FileError):
        hsb.replay(fresh, log, checkpoint=path)
    assert fresh.rounds == 0 and np.array_equal(fresh.probabilities(0.5), [0.5, 0.5])


def test_policy_and_encoder_are_one_file(tmp_path):
    path = tmp_path / "p.hsb"
    encoder = hsb.encode.Chain(hsb.encode.PCA(1), hsb.encode.MinMax()).fit(np.random.default_rng(0).random((50, 3)))
    save(policy(), encoder, path)
    assert [each.name for each in tmp_path.iterdir()] == ["p.hsb"]
    assert load(path)[1].to_dict() == encoder.to_dict() == hsb.encode.load(path).to_dict()
    assert hsb.load(path).arms == ["a", "b"]
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("encoder.json", '{"steps":' * 100_000)
    with pytest.raises(hsb.FileError):
        hsb.encode.load(path)
    for bad in (None, 5, tmp_path, tmp_path / "none"):
        with pytest.raises(hsb.InputError):
            hsb.encode.load(bad)


NAMES = ["$x^$", "_a", "a$b", "$", r"\$\frac", "{}", "%s", "x\ny", "\ud800", "<b>", "y" * 3000]


def test_names_are_only_names_in_pictures(recwarn):
    pytest.importorskip("matplotlib")
    import matplotlib

    matplotlib.use("agg")
    one = hsb.HSB(hsb.BinaryTree(depth=2), arms=NAMES, learning_rate=0.5, seed=0)
    several = hsb.HSB(hsb.BinaryTree(depth=3, space=hsb.Box.unit(3)), arms=NAMES, seed=0)
    for each, points, names in (
        (one, [0.1, 0.4, 0.6, 0.9], ["$s_1"]),
        (several, np.random.default_rng(0).random((40, 3)), NAMES[:3]),
    ):
        for t, point in enumerate(points):
            arm = each.arms[t % len(NAMES)]
            each.learn(hsb.Decision(context=point, arm=arm, propensity=0.01), loss=1.0)
        assert explanation_png(each.explain(names=names)).startswith(b"\x89PNG")
    first = {name: (lambda seed: hsb.Uniform(arms=3, seed=seed)) for name in NAMES}
    compared = compare(first, hsb.problems.Stationary(), rounds=50, runs=2, seed=0)
    figure = compared.plot().figure
    figure.savefig(io.BytesIO(), format="svg")
    shown = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert len([text for text in shown if text]) >= len(NAMES)


def test_commands_say_what_is_wrong_before_they_work(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hsb.logs.write(tmp_path / "log.gz", hsb.logs.SyntheticToday(500, seed=0))
    fails(capsys, ["train", "log.gz", "--out", tmp_path], "is a folder")
    fails(capsys, ["train", "log.gz", "--out", "none/p.hsb"], "no folder")
    fails(capsys, ["replay", "log.gz", "--checkpoint", "none/c"], "no folder")
    fails(capsys, ["bounds", "--arms", "3", "--depth", "4", "--horizon", "9" * 400], "horizon")
    (tmp_path / "deep.toml").write_text("x = " + "[" * 100_000)
    fails(capsys, ["run", "deep.toml"], "nested too deeply|not TOML")
    (tmp_path / "zero.toml").write_text(
        'file = {path = "/dev/zero", contexts = ["a"], losses = ["b"]}\n[[policies]]\npolicy = "HSB"\n'
    )
    fails(capsys, ["run", "zero.toml"], "not a file")
    fails(capsys, ["run", "/dev/zero"], "not a file")
    (tmp_path / "many.toml").write_text(
        'rounds = 99999999999999999999\nproblem = {name = "smooth"}\n[[policies]]\npolicy = "HSB"\n'
    )
    fails(capsys, ["run", "many.toml"], "rounds")
    (tmp_path / "digits.toml").write_text(
        "rounds = " + "9" * 10_000 + '\nproblem = {name = "smooth"}\n[[policies]]\npolicy = "HSB"\n'
    )
    fails(capsys, ["run", "digits.toml"], "TOML|rounds")

    def full(*_, **__):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("hsb.cli.policy_files.tempfile.NamedTemporaryFile", full)
    monkeypatch.setattr("hsb.cli.log_commands.learn_from", None)  # nothing is learned
    assert cli.main(["train", "log.gz", "--out", "p.hsb"]) == 2
    assert "Read-only" in capsys.readouterr().err


def test_a_comparison_writes_into_its_folder_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = 'title = "../x<script>"\nrounds = 50\nruns = 2\nproblem = {name = "smooth"}\nstructure = {kind = "BinaryTree", depth = 2}\n'
    text += '[[policies]]\npolicy = "Uniform"\nlabel = "../../y"\n[[policies]]\npolicy = "Uniform"\nlabel = "$<b>&"\n'
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "x.toml").write_text(text)
    assert cli.main(["run", "inner/x.toml", "--out", "inner/out", "--jobs", "1"]) == 0
    assert [each.name for each in tmp_path.iterdir()] == ["inner"]
    assert sorted(each.name for each in (tmp_path / "inner").iterdir()) == ["out", "x.toml"]
    page = (tmp_path / "inner" / "out" / "report.html").read_text()
    assert "<script>" not in page and "$<b>&" not in page and "../x&lt;script&gt;" in page
