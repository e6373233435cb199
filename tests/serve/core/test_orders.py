"""Orders of a batch, and the changes that it makes: each batch begins with none."""

import pytest

from hsb.serve.core.apply import needs
from hsb.serve.core.orders import Fact, JournalChanges, NewReward, OrderBatch, Outcome, Rules
from hsb.serve.core.rows import RewardRow


def test_changes_begin_empty_and_are_not_shared():
    one, other = JournalChanges(), JournalChanges()
    for table in JournalChanges.__slots__:
        assert not one.of(table) and one.of(table) is getattr(one, table)
        assert one.of(table) is not other.of(table)
    one.decisions.append("row")
    one.undone.add("d1")
    assert other.decisions == [] and other.undone == set()
    with pytest.raises(AttributeError):
        one.of("key")


def test_facts_of_an_unknown_decision():
    one, other = Fact(), Fact()
    one.rewards["1"] = RewardRow("d1", "1", 0.5, False, 9)
    assert (other.row, other.rewards, other.count, other.pending, other.closed) == (None, {}, 0, None, None)


def test_an_outcome_has_no_rows_unless_they_are_named():
    outcome = Outcome("unknown")
    assert outcome[1:] == (None, None, (), None, None, 0, None, False, "", 0)


@pytest.mark.parametrize("on_arrival", [False, True])
def test_a_batch_needs_the_facts_of_its_rewards(on_arrival):
    rules = {1: Rules(60, None, "first", on_arrival, 0.0, 1.0, False)}
    facts = needs(OrderBatch(1, 9, [NewReward("d1", "a", 1.0, None), NewReward("d2", "b", 0.0, None)], rules))
    assert facts.decisions == {"d1", "d2"} and facts.rewards == {("d1", "a"), ("d2", "b")}
    assert facts.due == [] and not facts.creates and facts.arriving == (frozenset({1}) if on_arrival else frozenset())
