"""Requests made from the OpenAPI description, right and wrong ones: every answer is one that it documents, none is a fault."""

import time
import warnings
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from support.serve.http_cases import QUICK, running
from support.serve.sizes import figures, size

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    schemathesis = pytest.importorskip("schemathesis")
    from schemathesis import GenerationMode
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance, status_code_conformance

CASES = size("cases")
CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance, status_code_conformance]
pytestmark = [pytest.mark.long, pytest.mark.sized, pytest.mark.filterwarnings("ignore")]


def test_every_answer_is_documented(tmp_path):
    with running(tmp_path / "hsb.db") as one:
        one.make()
        one.make("other", policy=QUICK, feedback={"wait": 60, "default_reward": 0})
        one.post("/v1/policies/home/candidates", {"name": "slow", "policy": QUICK})
        for k in range(3):
            one.post("/v1/policies/home/decisions", {"id": f"d{k}", "context": k})
        schema = schemathesis.openapi.from_url(f"http://127.0.0.1:{one.port}/openapi.json")
        operations = sorted(
            (result.ok() for result in schema.get_all_operations()), key=lambda each: each.method.lower() == "delete"
        )
        assert len(operations) > 40
        asked, began = [], time.monotonic()
        for turn in range(5):  # of some there are few different ones to be made; others make up for them
            count = max(6 if turn == 0 else 0, -(-(CASES - len(asked)) // max(1, len(operations))))
            if count > 0:
                operations = [each for each in operations if attack(one, each, count, asked, turn) >= count]
        statuses = set(asked)
        assert {200, 201, 204, 404, 422} <= statuses and 500 not in statuses
        one.connections.one.close()  # it was idle for long, and is closed on the other side
        assert one.get("/readyz", key=None).status == 200 and len(asked) >= CASES
    figures("requests from the description", cases=len(asked), undocumented=0, seconds=round(time.monotonic() - began, 1))


def attack(one, operation, count, asked, turn):
    """Ask as much of one operation, as far as it goes; how many."""
    before = len(asked)
    modes = [operation.as_strategy(generation_mode=mode) for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)]
    known = {"policy": ["home", "other"], "id": ["d0", "d1", "d2"], "candidate": ["slow"], "arm": ["a", "d"], "file": ["1.hsb"]}

    @settings(max_examples=count, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @seed(turn)
    @given(case=st.one_of(modes), data=st.data())
    def run(case, data):
        for name in case.path_parameters or {}:
            if name in known and not operation.path.startswith("/v1/keys") and data.draw(st.integers(0, 3)):
                case.path_parameters[name] = data.draw(st.sampled_from(known[name]))
        answer = case.call(headers={"Authorization": f"Bearer {one.key}"}, timeout=30)
        asked.append(answer.status_code)
        case.validate_response(answer, checks=CHECKS)

    with suppress(Unsatisfiable):  # nothing is wrong enough, e.g. of a path without parameters
        run()
    return len(asked) - before
