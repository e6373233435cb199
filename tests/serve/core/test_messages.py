"""Messages to the core: a request has an id that its answer carries, and every status of an answer is one of HTTP."""

from http import HTTPStatus
from typing import get_args

import pytest

from hsb.serve.core import messages
from hsb.serve.http.problem import TITLES, TYPES

REPORTS = (messages.Committed, messages.Failed, messages.Followed, messages.Packed, messages.Tick)
REQUESTS = [kind for kind in get_args(messages.Message) if kind not in REPORTS]


@pytest.mark.parametrize("kind", REQUESTS, ids=lambda kind: kind.__name__)
def test_a_request_begins_with_its_id(kind):
    assert kind._fields[0] == "request" and "request" not in kind._field_defaults


def test_changes_are_requests():
    assert set(get_args(messages.Admin)) < set(REQUESTS)
    assert set(REQUESTS) - set(get_args(messages.Admin)) == {
        messages.Decide,
        messages.Reward,
        messages.Activate,
        messages.Void,
        messages.ConfirmClock,
    }


def test_statuses_are_those_of_http():
    for word, status in messages.STATUS.items():
        assert HTTPStatus(status)
        assert (status >= 400) == (word in TYPES), word
        assert status < 400 or status in TITLES


def test_a_decision_leaves_most_to_defaults():
    plain = messages.Decide("r1", "home", "d1", {"age": 31})
    assert (plain.available, plain.baseline, plain.activate, plain.min_version) == (None, None, True, 0)
    assert not plain.fresh and not plain.receipt and not plain.sticky
