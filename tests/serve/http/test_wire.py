"""Bodies of requests: unknown fields are rejected, what is left out differs from null."""

import msgspec
import pytest
from msgspec import UNSET

from hsb.serve.http import wire


def read(text, kind):
    return msgspec.json.decode(text, type=kind)


@pytest.mark.parametrize("kind", [wire.DecideBody, wire.RewardBody, wire.ChangeBody, wire.SessionBody, wire.EvaluationBody])
def test_unknown_fields_are_rejected(kind):
    with pytest.raises(msgspec.ValidationError, match="unknown field `contxt`"):
        read(b'{"contxt": 1}', kind)


def test_what_is_left_out_differs_from_null():
    change = read(b'{"baseline": null, "floor": 0.1}', wire.ChangeBody)
    assert (change.baseline, change.floor, change.ramp, change.feedback) == (None, 0.1, UNSET, UNSET)
    assert read(b'{"default_reward": null}', wire.FeedbackBody).default_reward is None
    assert read(b"{}", wire.FeedbackBody).default_reward is UNSET


def test_defaults_of_a_decision():
    decision = read(b"{}", wire.DecideBody)
    assert (decision.context, decision.id, decision.available, decision.baseline) == (None, None, None, None)
    assert decision.activate is True and decision.min_version == 0


def test_events_and_flags_may_have_more_fields():
    event = b'{"specversion": "1.0", "id": "e", "source": "/s", "type": "t", "subject": "d1", "time": 5, "data": {"loss": 1, "x": 2}}'
    assert read(event, wire.Event).data == wire.EventData(loss=1.0)
    assert read(b'{"context": {"age": 3}, "more": 1}', wire.FlagBody).context == {"age": 3}
    for wrong in (event.replace(b"1.0", b"0.3"), event.replace(b'"e"', b'""'), event.replace(b'"subject"', b'"object"')):
        with pytest.raises(msgspec.ValidationError):
            read(wrong, wire.Event)


def test_fields_of_flags_are_in_camel_case():
    problem = wire.FlagProblem("It is archived.", "GENERAL")
    assert msgspec.to_builtins(problem) == {"errorDetails": "It is archived.", "errorCode": "GENERAL"}
