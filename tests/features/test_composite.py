"""A kind of feature of one's own: it splits into kinds that exist, and is then as if its parts had been declared and given."""

import json
import pickle
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest

import hsb
import hsb.features.encoders
from hsb.features import composite

NAN = float("nan")


class Point(hsb.Composite):
    parts: ClassVar = {"lat": hsb.Number(), "lon": hsb.Number()}

    def split(self, value):
        return {"lat": value[0], "lon": value[1]}


@dataclass(frozen=True)
class Trip(hsb.Composite):
    """Every kind there is among the parts, and a setting."""

    unit: float = 1000.0
    parts: ClassVar = {
        "metres": hsb.Number(),
        "mode": hsb.Category(),
        "night": hsb.Flag(),
        "hour": hsb.Cycle(24),
        "start": hsb.Time(),
        "stops": hsb.Tags(),
    }

    def split(self, value):
        km, mode, start, stops = value
        hour = start.hour
        return {"metres": km * self.unit, "mode": mode, "night": hour < 6, "hour": hour, "start": start, "stops": stops}


@pytest.fixture(autouse=True)
def these_classes(monkeypatch):
    """A page that another test runs defines a Point, too, and the last one is found."""
    monkeypatch.setattr(composite.Composite, "own", {"Point": Point, "Trip": Trip})


PLACE = hsb.Features(place=Point(), device=hsb.Category())
PARTS = hsb.Features({"place.lat": hsb.Number(), "place.lon": hsb.Number(), "device": hsb.Category()})
GOOD = {"place": (48.1, 11.6), "device": "web"}


def own(features=PLACE, seed=0):
    return hsb.HSB(arms=["a", "b"], features=features, seed=seed)


def contexts(n=120):
    rng = np.random.default_rng(5)
    points = [None if rng.random() < 0.1 else (float(x), float(y)) for x, y in rng.uniform(-60, 60, (n, 2))]
    return [{"place": point, "device": str(rng.choice(["web", "app"]))} for point in points]


def as_parts(context):
    lat, lon = context["place"] or (None, None)
    return {"place.lat": lat, "place.lon": lon, "device": context["device"]}


def reward_of(context, arm):
    return float((context["place"] or (0.0,))[0] > 0) if arm == "a" else 0.4


def learned(policy, given, as_given=lambda context: context):
    for context in given:
        decision = policy.decide(as_given(context))
        policy.learn(decision, reward=reward_of(context, decision.arm))
    return policy


def same_learner(one, other):
    theirs = other.to_arrays()
    return all(array.tobytes() == theirs[name].tobytes() for name, array in one.to_arrays().items())


def test_a_kind_of_ones_own_learns_bit_for_bit_as_its_parts_do():
    one, other = learned(own(), contexts()), learned(own(PARTS), contexts(), as_parts)
    assert same_learner(one, other)
    assert not same_learner(one, learned(own(PARTS), contexts(119), as_parts))
    assert one.probabilities(GOOD).tolist() == other.probabilities(as_parts(GOOD)).tolist()


def test_it_learns_where_the_better_arm_is():
    policy = learned(own(), contexts(1500))
    assert policy.probabilities({"place": (40.0, 3.0), "device": "web"})[0] > 0.9
    assert policy.probabilities({"place": (-40.0, 3.0), "device": "web"})[1] > 0.9


def test_every_kind_can_be_a_part():
    trips = [
        (1.5 * i, ["bus", "car"][i % 2], datetime(2026, 11, 1 + i % 28, i % 24, tzinfo=UTC), ["x", "y", "z"][: i % 4])
        for i in range(60)
    ]
    policy = hsb.HSB(arms=["a", "b"], features=hsb.Features(trip=Trip()), seed=1)
    for trip in trips:
        policy.learn(policy.decide({"trip": trip}), reward=trip[1] == "bus")
    names = policy.learner.reader.raw_input_names
    assert {"trip.metres", "trip.mode", "trip.night", "trip.hour", "trip.start day", "trip.stops: x"} <= set(names)
    table = policy.learner.reader.table({"trip": trips})
    raw, news = policy.learner.reader.read_part(table, 0, len(trips))
    one_by_one = np.array([policy.learner.reader.read({"trip": trip}) for trip in trips])
    assert np.array_equal(raw, one_by_one, equal_nan=True)
    assert not news[1:].any()


@pytest.mark.parametrize("nothing", [None, NAN, np.nan, pd.NA, pd.NaT, np.datetime64("NaT"), np.ma.masked])
def test_a_missing_value_is_not_split_and_all_its_parts_are_missing(nothing):
    reader = own().learner.reader.copy()
    assert reader.admit(GOOD)
    for context in ({"place": nothing, "device": "web"}, {"device": "web"}):
        raw, new = reader.look(context)
        assert np.isnan(raw[:2]).all()
        assert new
    reader.admit({"place": nothing, "device": "web"})
    assert not reader.look({"device": "web"})[1]


class Half(Point):
    """Leaves a part out, or says that it is None."""

    def split(self, value):
        return {"lat": value} if value > 0 else {"lat": None, "lon": value}


def test_parts_can_be_missing_one_by_one():
    reader = own(hsb.Features(place=Half())).learner.reader
    assert np.array_equal(reader.read({"place": 3.0}), [3.0, NAN], equal_nan=True)
    assert np.array_equal(reader.read({"place": -3.0}), [NAN, -3.0], equal_nan=True)


def test_rows_without_names_have_one_value_for_it():
    policy, twin = own(), own()
    policy.learn(policy.decide([(48.1, 11.6), "web"]), reward=1)
    twin.learn(twin.decide(GOOD), reward=1)
    assert policy.digest() == twin.digest()
    with pytest.raises(hsb.InputError, match="2 features are declared"):
        policy.decide([48.1, 11.6, "web"])
    numbers = own(hsb.Features(place=Point()))
    with pytest.raises(hsb.InputError, match="1 features are declared"):
        numbers.decide(np.array([48.1, 11.6]))  # an array as long as there are parts is no row of raw numbers


@pytest.mark.parametrize(
    ("context", "words"),
    [
        ({"place": (48.1,)}, r"Feature 'place' is declared Point\(\), which cannot split \(48.1,\): IndexError.*or None"),
        ({"place": 3}, "cannot split 3: TypeError"),
        ({"place": ("north", 11.6)}, r"Feature 'place.lat' is declared a number; given text, 'north'"),
        ({"place": (48.1, 11.6), "place.lat": 48.1}, "Feature 'place.lat' is given twice"),
        ({"place.lat": 48.1, "place": (48.1, 11.6)}, "Feature 'place.lat' is given twice"),
        ({"plcae": (48.1, 11.6)}, "'plcae' is not declared; declared are 'place', 'device'. Did you mean 'place'"),
    ],
)
def test_wrong_values_are_refused_in_words_and_change_nothing(context, words):
    policy = learned(own(), contexts(20))
    before, decision = policy.digest(), policy.decide(GOOD)
    for attempt in (
        lambda: policy.decide(context),
        lambda: policy.probabilities(context),
        lambda: policy.learner.reader.admit(context),
        lambda: policy.decide_many([GOOD, context]),
        lambda: policy.learner.check(hsb_columns(context))[0],
    ):
        with pytest.raises(hsb.InputError, match=words):
            attempt()
    assert policy.digest() == before
    policy.learn(decision, reward=1)


def hsb_columns(context):
    return {name: [value] for name, value in context.items()}


class Liar(Point):
    def split(self, value):
        return value


@pytest.mark.parametrize("given", [[1.0, 2.0], {"lat": 1.0, "height": 2.0}, 7])
def test_a_split_that_gives_something_else_than_its_parts_is_refused(given):
    policy = own(hsb.Features(place=Liar()))
    with pytest.raises(hsb.InputError, match=r"Liar\(\) must split a value into a dict of its parts, 'lat', 'lon'; given"):
        policy.decide({"place": given})
    assert policy.decide({"place": {"lat": 1.0}}).arm in ("a", "b")


def kind_with(parts):
    class Odd(hsb.Composite):
        def split(self, value):
            return value

    Odd.parts = parts
    return Odd()


@pytest.mark.parametrize("parts", [{}, None, ["lat"], {3: hsb.Number()}])
def test_parts_that_are_none_are_refused(parts):
    with pytest.raises(hsb.InputError, match="Odd needs parts, a dict of names and kinds"):
        hsb.Features(place=kind_with(parts))


@pytest.mark.parametrize("part", [hsb.Number, "number", None, Point()])
def test_a_part_must_be_a_kind_that_exists(part):
    with pytest.raises(hsb.InputError, match="Part 'lat' of Odd needs a built-in kind"):
        hsb.Features(place=kind_with({"lat": part}))


def test_names_that_clash_with_parts_and_settings_that_no_file_holds_are_refused():
    for declared in ({"place.lat": hsb.Number(), "place": Point()}, {"place": Point(), "place.lat": hsb.Number()}):
        with pytest.raises(hsb.InputError, match=r"'place.lat' is declared twice"):
            hsb.Features(declared)
    with pytest.raises(hsb.InputError, match=r"Settings of Trip must be text, numbers.*unit is"):
        hsb.Features(trip=Trip(unit=[1]))
    with pytest.raises(hsb.InputError, match=r"needs a kind, Point\(\)"):
        hsb.Features(place=Point)
    with pytest.raises(TypeError, match="abstract"):
        hsb.Features(place=type("Bare", (hsb.Composite,), {})())


def tables(rows):
    columns = {"place": [row["place"] for row in rows], "device": [row["device"] for row in rows]}
    frame = pd.DataFrame({"place": pd.Series(columns["place"], dtype=object), "device": columns["device"]})
    parts = [as_parts(row) for row in rows]
    return {
        "dicts": rows,
        "columns": columns,
        "rows": [list(row.values()) for row in rows],
        "an array of objects": frame.to_numpy(),
        "pandas": frame,
        "polars": pl.DataFrame(
            {"place": [None if p is None else list(p) for p in columns["place"]], "device": columns["device"]}
        ),
        "parts by name": {name: [part[name] for part in parts] for name in parts[0]},
    }


@pytest.mark.parametrize("held", list(tables(contexts(3))))
def test_tables_of_any_holder_are_read_as_their_rows_are(held):
    rows = contexts(40)
    reader = own().learner.reader
    table = reader.table(tables(rows)[held])
    for row in rows:
        reader.admit(row)
    raw, news = reader.read_part(table, 3, 40)
    assert np.array_equal(raw, np.array([reader.read(row) for row in rows[3:]]), equal_nan=True)
    assert not news.any()
    assert np.array_equal(reader.read_part(reader.table(table).take(slice(3, 40)), 0, 37)[0], raw, equal_nan=True)


def test_a_column_of_pairs_can_be_an_array_with_two_columns():
    reader = own(hsb.Features(place=Point())).learner.reader
    table = reader.table({"place": np.array([[1.0, 2.0], [3.0, 4.0]])})
    assert reader.read_part(table, 0, 2)[0].tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_decide_many_and_simulate_play_as_one_by_one():
    rows = contexts(60)
    losses = np.array([[1 - reward_of(row, arm) for arm in "ab"] for row in rows])
    results = []
    for given in (rows, tables(rows)["columns"], tables(rows)["pandas"]):
        policy = own()
        results.append((hsb.simulate(policy, given, losses=losses).arms.tolist(), policy.digest()))
    assert results[0] == results[1] == results[2]
    policy = learned(own(), rows)
    batch = policy.decide_many(tables(rows)["pandas"])
    assert len(batch) == 60
    policy.learn_many(batch, rewards=[reward_of(row, arm) for row, arm in zip(rows, batch.arms, strict=True)])
    assert policy.rounds == 120
    with pytest.raises(hsb.InputError, match=r"Row 1: .*cannot split 7"):
        policy.decide_many({"place": [(1.0, 2.0), 7], "device": ["web", "web"]})


def test_saved_and_loaded_it_goes_on_bit_for_bit(tmp_path):
    policy = learned(own(), contexts(50))
    policy.save(tmp_path / "policy.hsb")
    twins = [hsb.load(tmp_path / "policy.hsb"), policy.copy(), pickle.loads(pickle.dumps(policy))]
    for twin in twins:
        assert twin.digest() == policy.digest()
        assert twin.learner.reader.features == PLACE
        assert learned(twin, contexts(5)).rounds == 55
    trip = hsb.Features(trip=Trip(unit=3.0), age=hsb.Number()).limit(text=20)
    assert hsb.Features.from_dict(json.loads(json.dumps(trip.to_dict()))) == trip
    assert hsb.Features(trip=Trip(unit=4.0), age=hsb.Number()).limit(text=20) != trip
    assert repr(trip) == "Features(trip=Trip(unit=3.0), age=Number()).limit(text=20)"


def test_a_process_without_the_class_imports_nothing_and_says_what_to_do(tmp_path):
    policy = learned(own(), contexts(5))
    policy.save(tmp_path / "policy.hsb")
    (tmp_path / f"{__name__}.py").write_text("raise SystemExit('it was imported')")
    read = "import sys, hsb\ntry:\n    hsb.load(sys.argv[1])\nexcept hsb.FileError as error:\n    print(error)"
    done = subprocess.run(
        [sys.executable, "-c", read, "policy.hsb"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=300
    )
    assert "a feature is of the kind 'Point'" in done.stdout
    assert "Define or import that class first." in done.stdout
    assert "not a whole" not in done.stdout  # the file is sound


def test_a_class_that_has_changed_since_is_refused(tmp_path, monkeypatch):
    learned(own(hsb.Features(trip=Trip())), []).save(tmp_path / "trip.hsb")
    policy = learned(own(), contexts(5))
    policy.save(tmp_path / "policy.hsb")
    monkeypatch.setattr(Point, "parts", {"lat": hsb.Number(), "lon": hsb.Cycle(360)})
    with pytest.raises(hsb.FileError, match=r"Point\(\) has other parts here than in the file. Define the class as it was"):
        hsb.load(tmp_path / "policy.hsb")
    monkeypatch.setitem(composite.Composite.own, "Trip", Half)
    with pytest.raises(hsb.FileError, match=r"settings of Half are \[\] here"):
        hsb.load(tmp_path / "trip.hsb")


@pytest.mark.parametrize(
    "kind",
    [
        {"kind": "Point", "settings": {"x": 1}, "parts": []},
        {"kind": "Point", "settings": [], "parts": []},
        {"kind": "Point", "settings": {}, "parts": 3},
        {"kind": "Trip", "settings": {"unit": {}}, "parts": []},
        {"kind": ["Point"], "settings": {}, "parts": []},
        {"kind": "os:system", "settings": {}, "parts": []},
        {"kind": "Composite", "settings": {}, "parts": []},
        {"kind": "Composite"},
    ],
)
def test_files_cannot_say_more_of_it_than_there_is(kind):
    data = PLACE.to_dict()
    data["kinds"][0][1] = kind
    with pytest.raises(hsb.InputError):
        hsb.Features.from_dict(data)


def test_explanations_speak_of_the_parts():
    policy = learned(own(), contexts(800))
    explanation = policy.explain(contexts=contexts(200), effort=0.2)
    assert "place.lat" in str(explanation)
    assert [column.name for column in explanation.columns] == ["place.lat", "place.lon", "device"]
    assert explanation.arm_at(GOOD) == "a"
    assert max(explanation.importance, key=explanation.importance.get) == "place.lat"


def test_logs_and_encoders_take_the_parts_by_name():
    rows = contexts(80)
    table = tables(rows)["parts by name"] | {"shown": ["a", "b"] * 40, "p": [0.5] * 80}
    table["click"] = [reward_of(row, arm) for row, arm in zip(rows, table["shown"], strict=True)]
    how = {"arm": "shown", "propensity": "p", "reward": "click"}
    policy = own()
    log = hsb.logs.open(table, context=["place.lat", "place.lon", "device"], **how)
    hsb.learn_from(policy, log)
    assert policy.rounds == 80
    whole = hsb.logs.open({**table, "place": [row["place"] for row in rows]}, context=["place", "device"], **how)
    with pytest.raises(
        hsb.InputError, match=r"The policy takes the columns place.lat, place.lon, device; the log has no place.lat"
    ):
        hsb.learn_from(own(), whole)
    encoder, same = (
        hsb.features.encoders.Columns(PLACE).fit(rows),
        hsb.features.encoders.Columns(PARTS).fit([as_parts(row) for row in rows]),
    )
    assert encoder.names == same.names
    assert np.array_equal(encoder.transform(tables(rows)["pandas"]), same.transform([as_parts(row) for row in rows]))
    assert hsb.features.encoders.from_dict(encoder.to_dict()).declared == PLACE
