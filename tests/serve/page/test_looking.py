"""A request for a view is answered as HTML or as JSON, with the same figures."""

import json

import pytest

pytest.importorskip("jinja2")

from support.serve.core_cases import At, fill

from hsb.serve.page.looking import SECTIONS, Look, answer
from hsb.serve.page.sheets import TallyCache, sheet


@pytest.fixture
def at(tmp_path):
    local = At(tmp_path / "hsb.db")
    fill(local, 20, policy={"kind": "Exp3"}, feedback={"learn": "on_arrival"})
    yield local
    local.close()


def shown(at, section, **more):
    pages = (sheet(at.core, at.home, at.wall),)
    look = Look(section, pages, {}, {"synthetic": False}, json=True, part=False)._replace(**more)
    return json.loads(answer(at.store, TallyCache(), look))


def test_all_policies_as_json(at):
    view = shown(at, "policies")
    assert (
        view["section"] == "policies" and [policy["name"] for policy in view["policies"]] == ["home"] and "version" not in view
    )
    assert shown(at, "policies", pages=())["policies"] == []


@pytest.mark.parametrize("section", ["overview", "arms", "feedback", "candidates"])
def test_a_section_as_json_names_its_policy(at, section):
    view = shown(at, section, shown={"synthetic": True})
    assert (view["section"], view["policy"], view["version"], view["synthetic"]) == (section, "home", at.home.version, True)


def test_data_that_are_not_in_the_journal_come_with_the_request(at):
    assert shown(at, "rules", extra={"rules": {"why": "Too few updates."}})["why"] == "Too few updates."


def test_sections_have_titles_of_their_own():
    assert len({section.title for section in SECTIONS.values()}) == len(SECTIONS)
    assert [name for name, section in SECTIONS.items() if not section.refreshes] == ["map", "settings"]
