"""What stands beside the code: one version, links that lead somewhere, a README that is short."""

import re
import tomllib
from pathlib import Path

import pytest

import hsb

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HOME = PROJECT["urls"]["Source"]
WORDS, LINES = 900, 130


def links(text):
    """Where Markdown links and pictures lead, and those of HTML."""
    return re.findall(r"\]\(([^)\s]+)", text) + re.findall(r'(?:src|href|srcset)="([^"]+)"', text)


def astray(text, root=ROOT):
    """Links of a README that an index could not follow, or that lead to no file of the repository."""
    found = []
    for link in links(text):
        inside = re.match(re.escape(HOME) + r"/(?:blob|tree|raw)/main/([^#]+)", link)
        raw = re.match(r"https://raw\.githubusercontent\.com/[^/]+/[^/]+/main/(.+)", link)
        place = inside or raw
        if not link.startswith(("https://", "#")) or (place and not (root / place[1]).exists()):
            found.append(link)
    return found


def test_one_version():
    assert "version" in PROJECT["dynamic"] and "version" not in PROJECT
    (cited,) = re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert cited == hsb.__version__


def test_readme_leads_somewhere():
    assert len(links(README)) >= 10
    assert astray(README) == []


@pytest.mark.parametrize("wrong", ["[a](docs/a.md)", f"[a]({HOME}/blob/main/docs/none.md)", '<img src="docs/a.png">'])
def test_a_wrong_link_is_noticed(wrong):
    assert astray(wrong) != []


def test_readme_is_short():
    assert len(README.split()) <= WORDS and len(README.splitlines()) <= LINES


def test_the_workflow_runs_what_everyone_runs():
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    assert "run: .ci/run ${{ matrix.tier }}" in text and text.count("tier: [unit]") == text.count("tier: all") == 1
    assert all(f'"3.{minor}"' in text for minor in (11, 12, 13, 14))
    assert all(name in text for name in ("ubuntu", "macos", "windows"))


def test_addresses_agree():
    assert all(url.startswith(HOME) for url in PROJECT["urls"].values())
    assert f'repository-code: "{HOME}"' in (ROOT / "CITATION.cff").read_text()


# The first version without the holes that are known: llhttp's request smuggling (CVE-2024-27982); a sandbox that is left through `|attr`
# (CVE-2025-27516); ranges in quadratic time and a Host that is not validated (CVE-2025-62727, CVE-2026-48710, CVE-2026-54282);
# a dashboard that pages of other sites may use, and that gives files away (CVE-2025-62593, CVE-2026-27482, CVE-2026-32981).
SOUND = {"httptools": (0, 6, 4), "jinja2": (3, 1, 6), "starlette": (1, 3, 1), "ray": (2, 55)}


@pytest.mark.parametrize("name", SOUND)
def test_no_extra_admits_a_version_with_a_known_hole(name):
    (least,) = [
        re.fullmatch(rf"{name}>=([0-9.]+)", each)[1]
        for extra in PROJECT["optional-dependencies"].values()
        for each in extra
        if re.match(rf"{name}\b", each)
    ]
    assert tuple(map(int, least.split("."))) >= SOUND[name]


def test_constraints_are_within_the_bounds_of_what_the_service_needs():
    """Every package that its extras name is pinned, to a version that they allow."""
    requirements = pytest.importorskip("packaging.requirements")
    lines = (ROOT / "constraints.txt").read_text().splitlines()[1:]
    pinned = dict(line.split("==") for line in lines)
    assert len(pinned) == len(lines)
    extras = PROJECT["optional-dependencies"]
    for text in [*PROJECT["dependencies"], *extras["plot"], *extras["cli"], *extras["serve"]]:
        needed = requirements.Requirement(text)
        assert needed.name == "hsb" or needed.specifier.contains(pinned[needed.name]), text
