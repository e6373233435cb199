"""HSB without a structure: one round at a time, tables, logs, files and late feedback are the same policy, bit for bit."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.featured_cases import ARMS, loop, world

import hsb
import hsb.logs
from hsb.engine.kernels.words import state as state_words
from hsb.engine.state import State, make_tree
from hsb.engine.state.views import TreeView
from hsb.files.policy_file import described
from hsb.learners.feature_state import MOST_ROWS
from hsb.learners.mixture import Mixture


def state(policy) -> dict[str, Any]:
    arrays = {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in policy.to_arrays().items()}
    return {**arrays, "settings": policy.settings(), "rounds": policy.rounds, "rng": str(policy.rng.bit_generator.state)}


def assert_same(one, other) -> None:
    ours, theirs = state(one), state(other)
    assert ours.keys() == theirs.keys()
    assert [name for name in ours if ours[name] != theirs[name]] == []


# -- tables ----------------------------------------------------------------------------------------------------------------


def as_columns(contexts) -> dict[str, list[Any]]:
    names = ["size", "kind", "member", "hour"]
    return {name: [result.get(name) for result in contexts] for name in names}


def tables(form: str, contexts) -> tuple[Any, list[Any]]:
    """A table, and its rows as a loop is given them."""
    columns = as_columns(contexts)
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    if form == "dicts":
        return contexts, contexts
    if form == "columns":
        return columns, rows
    if form == "frame":
        pandas = pytest.importorskip("pandas")
        return pandas.DataFrame(columns), rows
    table = np.array([[np.nan if v is None else float(v) for v in (row["size"], row["member"], row["hour"])] for row in rows])
    return table, list(table)


@pytest.mark.parametrize("form", ["dicts", "columns", "frame", "array"])
@pytest.mark.parametrize("how", [{}, {"floor": 0.2}, {"masks": True}, {"harsh": True}, {"loss_range": "auto"}], ids=str)
def test_a_table_is_a_loop(form, how):
    how = dict(how)
    masked, harsh = how.pop("masks", False), how.pop("harsh", False)
    contexts, losses = world(700, harsh=harsh)
    losses = losses * 7.0 if how.get("loss_range") == "auto" else losses
    masks = None
    if masked:
        masks = np.random.default_rng(5).random((700, 3)) < 0.7
        masks[~masks.any(axis=1), 1] = True
    table, rows = tables(form, contexts)
    ours, theirs = hsb.HSB(arms=ARMS, seed=3, **how), hsb.HSB(arms=ARMS, seed=3, **how)
    first = hsb.simulate(
        ours,
        table[:300] if form in ("dicts", "array") else tables(form, contexts[:300])[0],
        losses[:300],
        available=None if masks is None else masks[:300],
    )
    rest = table[300:] if form in ("dicts", "array") else tables(form, contexts[300:])[0]
    second = hsb.simulate(ours, rest, losses[300:], available=None if masks is None else masks[300:])
    arms, probabilities = loop(theirs, rows, losses, masks)
    assert [*first.arms, *second.arms] == arms
    assert [*first.propensities, *second.propensities] == probabilities
    assert_same(ours, theirs)
    assert harsh == (ours.learner.baseline.shift > 0)
    assert ours.learner.reader.columns > 5 or form == "array"


def test_what_comes_after_a_table_is_as_after_a_loop():
    """Also a decision that was made before it, whose context the reader now sees otherwise."""
    contexts, losses = world(500)
    ours, theirs = hsb.HSB(arms=ARMS, seed=3), hsb.HSB(arms=ARMS, seed=3)
    late = []
    for policy in (ours, theirs):
        loop(policy, contexts[:100], losses[:100])
        late.append(policy.decide(contexts[100], u=0.3))
    hsb.simulate(ours, contexts[101:400], losses[101:400])
    loop(theirs, contexts[101:400], losses[101:400])
    for policy, decision in zip((ours, theirs), late, strict=True):
        policy.learn(decision, loss=1.0)
        loop(policy, contexts[400:], losses[400:])
    assert_same(ours, theirs)


def test_a_decision_right_before_a_table_without_news():
    """The last thing located was this decision's context: its z is that of the scales of now when it is learned."""
    rng = np.random.default_rng(0)
    table, losses = rng.normal(size=(200, 2)) * [1.0, 50.0], rng.random((200, 3))
    ours, theirs = hsb.HSB(arms=ARMS, seed=3), hsb.HSB(arms=ARMS, seed=3)
    late = []
    for policy in (ours, theirs):
        hsb.simulate(policy, table[:9], losses[:9])
        late.append(policy.decide(table[9], u=0.3))
    hsb.simulate(ours, table[10:], losses[10:])
    loop(theirs, table[10:], losses[10:])
    for policy, decision in zip((ours, theirs), late, strict=True):
        policy.learn(decision, loss=1.0)
    assert_same(ours, theirs)


def test_decide_many_is_a_loop_of_decide():
    """Few rows and many, which have a kernel of their own; learned in another order."""
    contexts, losses = world(1300)
    ours, theirs = hsb.HSB(arms=ARMS, seed=3), hsb.HSB(arms=ARMS, seed=3)
    for part in (slice(0, 100), slice(100, 1300)):
        results = list(ours.decide_many(contexts[part]))
        each = [theirs.decide(context) for context in contexts[part]]
        for mine, its in zip(results, each, strict=True):
            assert (mine.arm, mine.propensity, mine.memo.advice, mine.context) == (
                its.arm,
                its.propensity,
                its.memo.advice,
                its.context,
            )
            assert list(mine.memo.cells) == list(its.memo.cells)
        feedback = [float(losses[part][t, ARMS.index(d.arm)]) for t, d in enumerate(results)]
        assert ours.learn_many(results[::-1], losses=feedback[::-1]) == len(results)
        for decision, loss in zip(each[::-1], feedback[::-1], strict=True):
            theirs.learn(decision, loss=loss)
        assert_same(ours, theirs)


def test_learn_many_is_all_or_nothing_also_where_contexts_contradict_each_other():
    """Each alone could be learned; after the first, the second has text where a number was."""
    policy = hsb.HSB(arms=ARMS, seed=0)
    decisions = [policy.decide({"age": 31}), policy.decide({"age": "old"})]
    before = state(policy)
    with pytest.raises(hsb.InputError, match=r"Row 1: .*age"):
        policy.learn_many(decisions, losses=[0.0, 1.0])
    assert state(policy) == before
    assert policy.learn_many(decisions[:1], losses=[0.0]) == 1


# -- logs --------------------------------------------------------------------------------------------------------------------


def logged(rows: int, parts: int, seed: int = 0) -> list[hsb.logs.Batch]:
    """A log drawn uniformly from three arms, with contexts of two numbers, the second far from 0."""
    rng = np.random.default_rng([seed, 9])
    contexts = rng.normal(size=(rows, 2)) * [1.0, 30.0] + [0.0, 500.0]
    arm = rng.integers(3, size=rows)
    reward = (rng.random(rows) < np.where((contexts[:, 0] > 0) == (arm == 1), 0.8, 0.2)).astype(float)
    return [
        hsb.logs.Batch.of(
            contexts=contexts[some], arm=arm[some], reward=reward[some], propensity=np.full(len(some), 1 / 3), arms=ARMS
        )
        for some in np.array_split(np.arange(rows), parts)
    ]


def named(table: np.ndarray) -> list[dict[str, Any]]:
    """What a log's numbers stand for: a number, and a category that grows with time, missing at times."""
    return [{"x": x, "y": None if y > 560 else f"y{int(y) % 9}"} for x, y in table.tolist()]


@pytest.mark.parametrize("encode", [None, named], ids=["numbers", "dicts"])
def test_learn_from_is_a_loop_of_logged_decisions(encode):
    log = logged(600, 4)
    ours, theirs = hsb.HSB(arms=ARMS, seed=1), hsb.HSB(arms=ARMS, seed=1)
    assert hsb.learn_from(ours, log, context=encode, fit=False) == 600
    for batch in log:
        rows = list(batch.contexts) if encode is None else encode(batch.contexts)
        for row, arm, reward, probability in zip(rows, batch.labels(), batch.reward, batch.propensity, strict=True):
            theirs.learn(hsb.Decision(context=row, arm=arm, propensity=float(probability)), reward=float(reward))
    assert_same(ours, theirs)


@pytest.mark.parametrize("encode", [None, named], ids=["numbers", "dicts"])
def test_replay_is_a_loop_that_learns_where_it_agrees(encode):
    log = logged(900, 3)
    ours, theirs = hsb.HSB(arms=ARMS, seed=1), hsb.HSB(arms=ARMS, seed=1)
    matched = hsb.replay(ours, log, context=encode).matched
    for batch in log:
        rows = list(batch.contexts) if encode is None else encode(batch.contexts)
        for row, arm, reward in zip(rows, batch.labels(), batch.reward, strict=True):
            decision = theirs.decide(row)
            if decision.arm == arm:
                theirs.learn(decision, reward=float(reward))
    assert matched == theirs.rounds > 200
    assert_same(ours, theirs)


def test_a_replay_that_was_interrupted_goes_on(tmp_path):
    log, seen = logged(900, 9), []

    def stop(done: int, total: int | None) -> None:
        seen.append(done)
        if len(seen) == 5:
            raise KeyboardInterrupt

    policy, whole = hsb.HSB(arms=ARMS, seed=1), hsb.HSB(arms=ARMS, seed=1)
    right = hsb.replay(whole, log, context=named)
    with pytest.raises(KeyboardInterrupt):
        hsb.replay(policy, log, context=named, progress=stop, checkpoint=tmp_path / "kept", every=1)
    again = hsb.HSB(arms=ARMS, seed=1)
    assert hsb.replay(again, log, context=named, checkpoint=tmp_path / "kept", every=1) == right
    assert_same(again, whole)


# -- copies and files ----------------------------------------------------------------------------------------------------------


def saved(policy, folder):
    policy.save(folder / "policy.hsb")
    return hsb.load(folder / "policy.hsb")


WAYS = {
    "save": saved,
    "copy": lambda policy, folder: policy.copy(),
    "pickle": lambda policy, folder: pickle.loads(pickle.dumps(policy)),
    "deepcopy": lambda policy, folder: copy.deepcopy(policy),
}


@pytest.mark.parametrize("way", WAYS)
def test_one_that_was_away_goes_on_as_if_it_had_not_been(way, tmp_path):
    """Several times on the way: with nothing known, a little, and much; after an arm was added and another removed."""
    contexts, losses = world(600, harsh=True)
    losses = np.column_stack([losses, 1.0 - losses[:, 0]])
    ours, theirs = hsb.HSB(arms=ARMS, seed=3), hsb.HSB(arms=ARMS, seed=3)
    for start, stop in ((0, 3), (3, 120), (120, 400), (400, 600)):
        digest = ours.learner.mixture.state.digest()
        ours = WAYS[way](ours, tmp_path)
        assert ours.learner.mixture.state.digest() == digest and described(ours) == described(theirs)
        if start == 120:
            for policy in (ours, theirs):
                policy.add_arm("d")
                policy.remove_arm("b")
        for policy in (ours, theirs):
            loop(policy, contexts[start:stop], losses[start:stop])
        assert_same(ours, theirs)
    assert ours.certificate() == theirs.certificate() and ours.regret_bound(1e4) == theirs.regret_bound(1e4)


def test_copies_share_nothing():
    contexts, losses = world(300)
    policy = hsb.HSB(arms=ARMS, seed=3)
    loop(policy, contexts[:150], losses[:150])
    before, twin = state(policy), policy.copy()
    loop(twin, contexts[150:], losses[150:])
    twin.add_arm("d")
    assert state(policy) == before


def test_a_decision_that_was_written_down_is_learned_as_itself():
    """Also where the reader knows more by then."""
    contexts, losses = world(300)
    policy = hsb.HSB(arms=ARMS, seed=3)
    loop(policy, contexts[:60], losses[:60])
    decision = policy.decide({"size": 1.5, "kind": "never seen", "member": True})
    written = hsb.Decision.from_dict(decision.to_dict())
    twin = pickle.loads(pickle.dumps(policy))
    loop(policy, contexts[60:], losses[60:])
    twin = pickle.loads(pickle.dumps(policy))
    policy.learn(decision, loss=1.0)
    twin.learn(written, loss=1.0)
    assert_same(policy, twin)
    with pytest.raises(hsb.InputError, match=r"twice|already|once"):
        twin.learn(hsb.Decision.from_dict(decision.to_dict()), loss=1.0)


# -- late feedback ---------------------------------------------------------------------------------------------------------------


def test_late_feedback_is_learned_in_the_cells_that_were_seen():
    """Every tree, recomputed by itself from the cells that decisions saw: contexts in random order, up to 40 rounds late."""
    contexts, losses = world(500)
    policy = hsb.HSB(arms=ARMS, seed=3, learning_rate=0.05)
    rng, waiting, trees = np.random.default_rng(0), [], []
    moved = 0
    for t, context in enumerate(contexts):
        decision = policy.decide(context)
        waiting.append((decision, list(decision.memo.cells), float(losses[t, ARMS.index(decision.arm)])))
        while len(waiting) > 40 or (waiting and t == len(contexts) - 1) or (waiting and rng.random() < 0.4):
            decision, seen, loss = waiting.pop(int(rng.integers(len(waiting))))
            pace, inputs = policy.learner.mixture.state.F[: state_words.LOST].tolist(), policy.learner.reader.inputs
            policy.learn(decision, loss=loss)
            for kind, size in policy.learner.reader.shapes[len(trees) :]:
                most = {"most_rows": MOST_ROWS} if kind == "bits" else {}
                tree = make_tree(size, 1, 3, 0.5) if kind == "kary" else make_tree(2, size, 3, 0.5, **most)
                trees.append(State([tree], [1]))
            now = policy.learner.keys.read(decision.context).cells
            moved += list(now[: len(seen)]) != seen
            for number, tree in enumerate(trees):
                cell = seen[number] if number < len(seen) else 0
                tree.set_pace(pace[0], gamma=pace[1], drift=pace[2])
                key = np.array([cell << int(policy.learner.keys.shifts[number])])
                tree.update(key, None, ARMS.index(decision.arm), loss, decision.propensity)
            assert inputs <= policy.learner.reader.inputs
    assert moved > 100  # the reader would see many of them otherwise by now
    for number, tree in enumerate(trees):
        view, twin = TreeView(policy.learner.mixture.state.members[3 + number]), TreeView(tree.members[0])
        rows = view.capacity if view.dense else view.used
        assert view.used == twin.used and np.allclose(view.rows[:rows], twin.rows[:rows], rtol=1e-9, atol=0.0)


def test_a_new_category_is_learned_by_trees_where_it_was_decided(monkeypatch):
    """Unknown then, so in the cell of all that is new; and the decision's own record of it stays as it is."""
    policy = hsb.HSB(arms=ARMS, seed=3)
    contexts, losses = world(30)
    loop(policy, contexts, losses)
    decision = policy.decide({"size": 1.0, "kind": "new"})
    decided = decision.memo.cells.copy()
    learn, keys = Mixture.learn, []

    def watched(self: Mixture, key: Any, *how: Any) -> None:
        keys.append(key.copy())
        learn(self, key, *how)

    monkeypatch.setattr(Mixture, "learn", watched)
    policy.learn(decision, loss=1.0)
    (learned,) = policy.learner.keys.cells_of(np.array(keys))
    kind = policy.learner.reader.tree_inputs.index(1)
    assert decided[kind] == 1 and np.array_equal(decision.memo.cells, decided) and np.array_equal(learned, decided)
    assert policy.decide({"size": 1.0, "kind": "new"}).memo.cells[kind] > 1


# -- nothing happens by asking ------------------------------------------------------------------------------------------------------


def test_asking_changes_nothing():
    contexts, losses = world(300)
    policy = hsb.HSB(arms=ARMS, seed=3)
    loop(policy, contexts[:200], losses[:200])
    before = state(policy)
    news = {"size": None, "kind": "new", "colour": "red"}
    for context in (*contexts[200:], news, {}):
        arm = policy.decide(context, u=0.4).arm
        p = policy.probabilities(context)
        assert policy.decide(context, u=0.4).arm == arm
        assert abs(p.sum() - 1.0) < 1e-12
    policy.decide_many([*contexts[200:], news], u=np.full(101, 0.5))
    policy.certificate(), policy.regret_bound(1000), policy.explain()
    assert state(policy) == before


def test_what_a_caller_does_with_a_context_later_is_no_matter():
    policy, twin = hsb.HSB(arms=ARMS, seed=3), hsb.HSB(arms=ARMS, seed=3)
    context = {"size": 1.0, "kind": "a"}
    decision, other = policy.decide(context), twin.decide(dict(context))
    context["kind"] = "b"
    policy.learn(decision, loss=1.0)
    twin.learn(other, loss=1.0)
    assert_same(policy, twin)


BAD = {
    "text where numbers were": ({"size": "large"}, "size"),
    "a number where a category was": ({"kind": [1, {}]}, "kind"),
    "a dict": ({"member": {"yes": 1}}, "member"),
    "a name that is none": ({3: 1.0}, "3"),
    "a row": ([1.0, 2.0], "names with values"),
    "a number": (0.5, "names with values"),
    "a table": (np.ones((2, 2)), "shape"),
    "an object": (object(), "context"),
    "a long name": ({"x" * 300: 1.0}, "xxx"),
}


@pytest.mark.parametrize("bad", BAD)
def test_bad_contexts_are_refused_by_name_and_change_nothing(bad):
    context, name = BAD[bad]
    contexts, losses = world(120)
    policy, twin = hsb.HSB(arms=ARMS, seed=3), hsb.HSB(arms=ARMS, seed=3)
    for each in (policy, twin):
        loop(each, contexts[:80], losses[:80])
    decision, other = policy.decide(contexts[80]), twin.decide(contexts[80])
    before = state(policy)
    rows = "rows of values without names" if bad == "a table" else name  # probabilities take tables: its rows are refused
    for attempt, words in (
        (lambda: policy.decide(context), name),
        (lambda: policy.probabilities(context), rows),
        (lambda: policy.decide_many([contexts[0], context]), name),
        (lambda: policy.learn(hsb.Decision(context=context, arm="a", propensity=0.5), loss=1.0), name),
        (lambda: hsb.simulate(policy, [*contexts[:5], context], losses[:6]), name),
    ):
        with pytest.raises(hsb.InputError, match=words):
            attempt()
    assert state(policy) == before
    policy.learn(decision, loss=1.0)
    twin.learn(other, loss=1.0)
    hsb.simulate(policy, contexts[81:], losses[81:])
    loop(twin, contexts[81:], losses[81:])
    assert_same(policy, twin)


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**400), 10**400),
    st.floats(),
    st.text(max_size=3),
    st.lists(st.text(max_size=2), max_size=3),
    st.sets(st.text(max_size=1), max_size=2),
    st.datetimes(),
    st.dates(),
    st.binary(max_size=2),
    st.complex_numbers(),
    st.dictionaries(st.text(max_size=1), st.integers(), max_size=1),
)
CONTEXTS = st.one_of(
    st.dictionaries(st.sampled_from(["a", "b", "c", ""]), VALUES, max_size=4),
    st.dictionaries(st.text(max_size=2), VALUES, max_size=2),
)
STREAMS = st.lists(st.tuples(CONTEXTS, st.integers(1, 7), st.floats(0, 1, exclude_max=True), st.floats(0, 1)), max_size=12)


@settings(max_examples=60)
@given(STREAMS)
def test_any_stream_of_dicts_is_learned_or_refused(stream):
    """Any keys and values, of types that change; late now and then. Probabilities are those of the arms on offer, and no warning is given."""
    policy, waiting = hsb.HSB(arms=ARMS, seed=0), []
    for context, mask, u, loss in stream:
        available = [arm for k, arm in enumerate(ARMS) if mask >> k & 1]
        before = state(policy)
        try:
            decision = policy.decide(context, available=available, u=u)
            p = policy.probabilities(context, available=available)
        except hsb.InputError:
            assert state(policy) == before
            continue
        assert abs(p.sum() - 1.0) < 1e-12 and all(p[ARMS.index(arm)] == 0 for arm in ARMS if arm not in available)
        assert p[ARMS.index(decision.arm)] == pytest.approx(decision.propensity)
        waiting.append((decision, loss))
        while waiting and u < 0.7:
            decision, loss = waiting.pop()
            before = state(policy)
            try:
                policy.learn(decision, loss=loss)
            except hsb.InputError:
                assert state(policy) == before


def test_numbers_may_grow_beyond_all_bounds():
    policy = hsb.HSB(arms=ARMS, seed=0)
    for t in range(60):
        decision = policy.decide({"x": (-1.0) ** t * 10.0 ** (5 * t), "y": t / 7})
        policy.learn(decision, loss=t % 3 / 2)
        p = policy.probabilities({"x": 0.0, "y": 3})
        assert np.isfinite(p).all() and abs(p.sum() - 1) < 1e-12


def test_arms_come_and_go():
    """An arm that is added is played where it is good; one that is removed never is, until it is back with what it learned."""
    policy = hsb.HSB(arms=["a", "b"], seed=0)

    def play(rounds: int, best: Any) -> list[Any]:
        played = []
        for t in range(rounds):
            decision = policy.decide({"side": "left" if t % 2 else "right", "x": t % 5})
            policy.learn(decision, loss=0.1 if decision.arm == best(t) else 0.9)
            played.append(decision.arm)
        return played

    play(300, lambda t: "ab"[t % 2])
    policy.add_arm("c")
    played = play(600, lambda t: "c" if t % 2 else "a")
    assert np.mean([arm == ("c" if t % 2 else "a") for t, arm in enumerate(played)][300:]) > 0.9
    policy.remove_arm("c")
    assert "c" not in play(50, lambda t: "ab"[t % 2])
    policy.add_arm("c")
    assert (
        policy.arms == ["a", "b", "c"]
        and np.mean([arm == "c" for arm in play(40, lambda t: "c" if t % 2 else "a")][1::2]) > 0.8
    )


def test_rows_are_not_read_again_for_every_new_category(monkeypatch):
    """Contexts with many new categories: each row is read a few times, not once for each that is new."""
    from hsb.features import FeatureReader

    rng, reads, look = np.random.default_rng(0), [0], FeatureReader.look

    def counted(self: FeatureReader, context: Any) -> Any:
        reads[0] += 1
        return look(self, context)

    monkeypatch.setattr(FeatureReader, "look", counted)
    rows = [
        {name: f"{name}{k}" for name, k in zip("abcd", each, strict=True)}
        for each in (rng.zipf(1.3, (3000, 4)) % 1000).tolist()
    ]
    hsb.simulate(hsb.HSB(arms=2, seed=0), rows, np.zeros((3000, 2)))
    assert reads[0] < 10 * len(rows)
