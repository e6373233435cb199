"""dsjson and VW's cb text: read, written, read by VW itself; and every way in which a line can be wrong."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hsb
import hsb.logs
from hsb.features.encoders import code
from hsb.logs import Batch
from hsb.logs.formats.vw import parse

EVENT = json.loads(
    '{"_label_cost":-1.0,"_label_probability":0.8166667,"_label_Action":1,"_labelIndex":0,"o":[{"EventId":"e1","v":1.0}],'
    '"Timestamp":"2026-11-15T05:00:00.0000000Z","Version":"1","EventId":"e1","a":[1,2,3],"c":{"GUser":{"age":0.3,"town":"Ulm"},'
    '"_multi":[{"TAction":{"a":"0"}},{"TAction":{"a":"1"}},{"TAction":{"a":"2"}}]},"p":[0.8166667,0.0916667,0.0916667],'
    '"VWState":{"m":"model/1"}}'
)


def dsjson(tmp_path, events, **options):
    path = tmp_path / "log.dsjson"
    path.write_text("\n".join(event if isinstance(event, str) else json.dumps(event) for event in events))
    log = hsb.logs.open(path, **options)
    return log, list(log)


def batch(n=300, seed=0, arms=("a", "b", "c")):
    rng = np.random.default_rng(seed)
    m = len(arms)
    available = rng.random((n, m)) < 0.6
    arm = rng.integers(0, m, n)
    available[np.arange(n), arm] = True
    available[np.arange(n), (arm + 1) % m] = True
    return Batch.of(
        contexts=rng.normal(size=(n, 2)).round(3),
        arm=arm,
        reward=rng.random(n),
        propensity=rng.uniform(0.1, 1.0, n),
        available=available,
        timestamp=1.7e9 + np.arange(n) + 0.25,
        arms=arms,
    )


def same(found, expected, times=True):
    assert np.array_equal(found.contexts, expected.contexts)
    assert list(map(str, found.labels())) == list(map(str, expected.labels()))
    assert np.array_equal(found.reward, expected.reward)
    assert np.array_equal(found.propensity, expected.propensity)
    if times:
        assert np.array_equal(found.timestamp, expected.timestamp)
    for i in range(len(found)):
        names = {str(found.arms[k]) for k in found.pools[found.pool[i]]}
        assert names == {str(expected.arms[k]) for k in expected.pools[expected.pool[i]]}


def test_an_event(tmp_path):
    log, [found] = dsjson(tmp_path, [EVENT])
    assert found.contexts.tolist() == [[0.3, code("Ulm")]]
    assert (log.arms, found.reward[0], found.propensity[0]) == (["0", "1", "2"], 1.0, 0.8166667)
    assert found.timestamp[0] == 1794718800.0
    _, [found] = dsjson(tmp_path, [EVENT], loss_range=(-1, 0), context=["GUser.age"], arm="TAction.a", arms=[0, 1, 2])
    assert (found.reward[0], found.arms, found.contexts.tolist()) == (0.0, (0, 1, 2), [[0.3]])
    _, [found] = dsjson(tmp_path, [EVENT | {"_labelIndex": 2, "_label_Action": 3}], arm="index")
    assert found.labels().tolist() == ["2"]


def without(name):
    return {key: value for key, value in EVENT.items() if key != name}


SHARED = EVENT["c"]
WRONG = {
    "empty": "",
    "JSON": "{",
    "JSON object": "[1]",
    "not a JSON": json.dumps(EVENT).replace("-1.0", "NaN"),
    "no _label_cost": without("_label_cost"),
    "no c": without("c"),
    "_skipLearn": EVENT | {"_skipLearn": True},
    "different actions": EVENT | {"_labelIndex": 1},
    "not one of the actions": EVENT | {"_labelIndex": 3, "_label_Action": 4},
    "not one of": EVENT | {"_labelIndex": -1, "_label_Action": 0},
    "not a whole": EVENT | {"_labelIndex": "0"},
    "propensity is not": EVENT | {"_label_probability": 0.0},
    "propensity is missing": EVENT | {"_label_probability": None},
    "is text": EVENT | {"_label_cost": "1"},
    "loss is missing": EVENT | {"_label_cost": None},
    "duplicate": EVENT | {"EventId": "e1"},
    "timestamp": EVENT | {"Timestamp": "noon"},
    "no actions": EVENT | {"c": {"GUser": {}, "_multi": []}},
    "no name": EVENT | {"c": SHARED | {"_multi": [{}, {}]}},
    "twice": EVENT | {"c": SHARED | {"_multi": [{"TAction": {"a": "0"}}] * 2}},
    "age": EVENT | {"c": SHARED | {"GUser": {"town": "Ulm"}}},
    "'GUser.age'": EVENT | {"c": SHARED | {"GUser": {"age": "old", "town": "Ulm"}}},
    "town": EVENT | {"c": SHARED | {"GUser": {"age": 1}}},
}


@pytest.mark.parametrize("reason", WRONG)
def test_an_event_that_cannot_be_used(tmp_path, reason):
    wrong = WRONG[reason]
    if isinstance(wrong, dict) and reason != "duplicate":
        wrong = wrong | {"EventId": "e2"}
    log, [found] = dsjson(tmp_path, [EVENT, wrong, EVENT | {"EventId": "e3"}])
    assert len(found) == 2
    [problem] = log.problems.first
    assert problem.line == 2
    assert reason in problem.reason
    with pytest.raises(hsb.FileError, match="line 2"):
        dsjson(tmp_path, [EVENT, wrong, "{}"], on_error="raise")


@pytest.mark.parametrize("name", ["log.dsjson", "log.dsjson.gz"])
def test_dsjson_round_trip(tmp_path, name):
    made = batch()
    assert hsb.logs.write(tmp_path / name, [made.take(slice(0, 100)), made.take(slice(100, None))], "dsjson") == 300
    log = hsb.logs.open(tmp_path / name)
    [found] = log
    same(found, made)
    assert len(log.problems) == 0
    raw = (tmp_path / name).read_bytes()
    if name.endswith("gz"):
        (tmp_path / name).write_bytes(raw[: len(raw) // 2])
        with pytest.raises(hsb.FileError, match="cut off"):
            list(hsb.logs.open(tmp_path / name))
    else:
        (tmp_path / name).write_bytes(raw.replace(b"\n", b"\r\n").rstrip())
        [found] = hsb.logs.open(tmp_path / name)
        same(found, made)


def test_vw_round_trip(tmp_path):
    made = batch(arms=(1, 2, 3))
    hsb.logs.write(tmp_path / "log.vw", [made], "vw", names=["x", "y"])
    log = hsb.logs.open(tmp_path / "log.vw")
    [found] = log
    assert log.source.meaning.context == ("x", "y")
    same(found, made, times=False)
    raw = (tmp_path / "log.vw").read_bytes()
    (tmp_path / "log.vw.gz").write_bytes(gzip.compress(raw.replace(b"\n", b"\r\n").rstrip()))
    [found] = hsb.logs.open(tmp_path / "log.vw.gz", context=["y"], arms=[1, 2, 3])
    assert np.array_equal(found.contexts[:, 0], made.contexts[:, 1])
    one = Batch.of(contexts=[[0.5]], arm=[0], reward=[1], propensity=[1], available=[[True, False]], arms=["a", "b"])
    with pytest.raises(hsb.InputError, match="only one arm"):
        hsb.logs.write(tmp_path / "one.vw", [one], "vw")
    with pytest.raises(hsb.InputError, match="different names"):
        hsb.logs.write(tmp_path / "one.vw", [made], "vw", names=["a b", "c"])


LINES = {
    "": "empty",
    "1:0.5:0.5": "no |",
    "0:0.5:0.5 | x": "from 1 on",
    "x:0.5:0.5 | x": "from 1 on",
    "shared | x": "shared",
    "1:0.5 | x": "not action:cost:probability",
    "1:a:0.5 | x": "not a number",
    "1:nan:0.5 | x": "not a number",
    "1:0.5:0.5 2:0.5:0.5 | x": "two actions",
    "1 2 | x": "no action",
    "| x": "no action",
    "1:0.5:0.5| x": "no action",  # for VW the word that touches | is a tag
    "1:0.5:0.5 1 | x": "twice",
    "1:0.5:0.5 | x:a": "feature",
    "1:0.5:0.5 | x x:2": "feature appears twice",
    "1:0.5:0.5 | x:1e999": "finite",
    "1:0.5:0.5 |n:w x": "namespace",
    "1:0.5:0 | x": "propensity",
    "1:0.5:1.5 | x": "propensity",
    "9:0.5:0.5 | x": "arms given",
}


@pytest.mark.parametrize("line", LINES)
def test_a_line_that_cannot_be_used(tmp_path, line):
    path = tmp_path / "log.vw"
    path.write_text(f"1:0.5:0.25 'tag | x:2 |n:3 y:2\n{line}\n2:-1:0.25 | x\n")
    log = hsb.logs.open(path, "vw", arms=[1, 2])
    [found] = log
    assert found.labels().tolist() == [1, 2]
    assert found.reward.tolist() == [-0.5, 1.0]
    assert found.contexts[:, :2].tolist() == [[2.0, 6.0], [1.0, 0.0]]
    [problem] = log.problems.first
    assert problem.line == 2
    assert LINES[line] in problem.reason


def test_what_is_refused(tmp_path):
    (tmp_path / "log.vw").write_text("nothing\n")
    (tmp_path / "log.dsjson").write_text("nothing\n")
    for name in ("log.vw", "log.dsjson"):
        with pytest.raises(hsb.FileError, match=r"so it is not (vw|dsjson)"):
            hsb.logs.open(tmp_path / name)
    (tmp_path / "log.vw").write_text("1:0.5:0.5 | x\n")
    for options in ({"arm": "x"}, {"categories": ["x"]}, {"loss_range": (1, 0)}):
        with pytest.raises(hsb.InputError):
            hsb.logs.open(tmp_path / "log.vw", "vw", **options)
    assert hsb.logs.open(tmp_path / "log.vw", loss_range=(0, 1)).count() == 1


@pytest.mark.parametrize("format", ["dsjson", "vw"])
def test_vw_itself_reads_what_is_written_and_learns(tmp_path, format):
    """Clicks depend on the sign of the first feature: VW, trained on the file, knows."""
    vw = pytest.importorskip("vowpalwabbit")
    rng = np.random.default_rng(0)
    n = 3000
    x, arm = rng.uniform(-1, 1, (n, 1)), rng.integers(0, 2, n)
    reward = (rng.random(n) < np.where((x[:, 0] > 0) == (arm == 1), 0.9, 0.1)).astype(float)
    made = Batch.of(contexts=x, arm=arm, reward=reward, propensity=np.full(n, 0.5), arms=["no", "yes"], timestamp=np.arange(n))
    hsb.logs.write(tmp_path / f"log.{format}", [made], format)
    kind = "--dsjson --cb_adf -q GT" if format == "dsjson" else "--cb 2"
    learner = vw.Workspace(f"{kind} --quiet -d {tmp_path / f'log.{format}'} -f {tmp_path / 'model'}")
    learner.finish()
    few = Batch.of(contexts=[[-0.8], [0.8]], arm=[0, 0], reward=[0, 0], propensity=[0.5] * 2, arms=["no", "yes"])
    hsb.logs.write(tmp_path / f"few.{format}", [few], format)
    if format == "vw":
        asked = vw.Workspace(f"--quiet -t -i {tmp_path / 'model'}")
        assert [asked.predict(f"| f0:{value}") for value in (-0.8, 0.8)] == [1, 2]
        asked.finish()
        return
    asked = vw.Workspace(f"--dsjson --quiet -t -i {tmp_path / 'model'} -d {tmp_path / 'few.dsjson'} -p {tmp_path / 'said'}")
    asked.finish()
    said = (tmp_path / "said").read_text().split()  # action:score, the best first, actions from 0
    assert [words.split(",")[0].split(":")[0] for words in said] == ["0", "1"]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(["1", "2:0.5:0.5", ":", "|", " ", "| ", "x", "x:1", "'t", "0:1:1", "1:1:nan", "|n:2 ", "\t"]),
        max_size=8,
    )
)
def test_fuzz_vw(pieces):
    for line in ("".join(pieces), " ".join(pieces)):
        found = parse(line)
        if not isinstance(found, str):
            action, cost, probability, available, features = found
            assert action % 10 == 2 and cost == probability == 0.5  # "1" before it makes it 12
            assert not available or (2 in available and len(set(available)) == len(available))
            assert all(np.isfinite(value) for value in features.values())


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_fuzz_dsjson(tmp_path_factory, data):
    """An event with a part replaced, or its text cut: used as it is, or reported."""
    text = json.dumps(EVENT | {"EventId": "e2"})
    name = data.draw(st.sampled_from(sorted(EVENT)))
    value = st.recursive(
        st.none() | st.booleans() | st.integers(-3, 4) | st.floats(-2, 2) | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["_multi", "GUser", "age"]), inner, max_size=2)
        ),
        max_leaves=4,
    )
    cut = data.draw(st.integers(0, len(text)))
    changed = json.dumps(EVENT | {"EventId": "e3", name: data.draw(value)})
    log, [found] = dsjson(tmp_path_factory.mktemp("fuzz"), [EVENT, text[:cut], changed])
    assert len(found) + len(log.problems) == 3
    assert np.isfinite(found.contexts).all() and ((found.propensity > 0) & (found.propensity <= 1)).all()


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["vw", "dsjson"]))
def test_fuzz_bytes(tmp_path_factory, raw, format):
    path = tmp_path_factory.mktemp("fuzz") / "log"
    good = b"1:0.5:0.5 | x\n" if format == "vw" else json.dumps(EVENT).encode() + b"\n"
    path.write_bytes(good + raw)
    log = hsb.logs.open(path, format)
    total = len((good + raw).removesuffix(b"\n").split(b"\n"))
    assert sum(map(len, log)) + len(log.problems) == total
