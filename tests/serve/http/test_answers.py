"""Types of answers: what does not apply is left out, what is unknown is null, and each type has a description for OpenAPI."""

import inspect

import msgspec
import pytest

from hsb.serve.http import answers
from hsb.serve.http.wire import ProblemAnswer

TYPES = [kind for _, kind in inspect.getmembers(answers, inspect.isclass) if kind.__module__ == answers.__name__]


def plain(answer):
    return msgspec.json.decode(msgspec.json.encode(answer))


def test_what_does_not_apply_is_left_out():
    assert plain(answers.RewardAnswer("d1", "accepted", None, None)) == {
        "decision": "d1",
        "status": "accepted",
        "policy": None,
        "learned_at_version": None,
    }
    assert plain(answers.CandidateAnswer("new", value=None)) == {"name": "new", "value": None}


def test_a_row_of_a_batch_has_a_result_or_a_problem():
    problem = ProblemAnswer("/problems/refused", "Invalid request", 422, "No.")
    batch = answers.RewardBatchAnswer(
        [
            answers.RewardRowAnswer(200, answers.RewardAnswer("d1", "learned", "home", 7)),
            answers.RewardRowAnswer(422, problem=problem),
        ]
    )
    first, second = plain(batch)["rows"]
    assert set(first) == {"status", "result"} and set(second) == {"status", "problem"} and second["problem"]["status"] == 422


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.__name__)
def test_each_type_is_described(kind):
    assert issubclass(kind, msgspec.Struct) and kind.__doc__ and kind.__doc__.endswith(".")
    schema = msgspec.json.schema(kind)
    required = schema["$defs"][kind.__name__].get("required", [])
    assert [name for name in kind.__struct_fields__ if name in required] == list(required)
