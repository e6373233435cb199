"""What stands beside the code: one version, links that lead somewhere, a README that is short."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import hsb

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
RELATIVE = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "VISION.md")]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = SETTINGS["project"]
WORDS, LINES = 900, 130


def links(text):
    """Where Markdown links and pictures lead, and those of HTML."""
    return re.findall(r"\]\(([^)\s]+)", text) + re.findall(r'(?:src|href|srcset)="([^"]+)"', text)


def astray(text, root=ROOT):
    """Links that do not work in a clone: absolute ones, and those that lead to no file of the repository."""
    return [
        link for link in links(text) if not link.startswith("#") and (":" in link or not (root / link.split("#")[0]).exists())
    ]


def as_built(text):
    """README as the package's metadata has it: the substitutions of pyproject.toml, in their order."""
    for each in SETTINGS["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(each["pattern"], each["replacement"], text)
    return text


def test_one_version():
    assert "version" in PROJECT["dynamic"] and "version" not in PROJECT
    (cited,) = re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert cited == hsb.__version__


@pytest.mark.parametrize("path", RELATIVE, ids=lambda path: path.name)
def test_links_work_in_any_clone(path):
    assert astray(path.read_text()) == []


@pytest.mark.parametrize("wrong", ["[a](docs/a.md)", "[a](https://example.org/docs/index.md)", '<img src="docs/a.png">'])
def test_a_wrong_link_is_noticed(wrong):
    assert astray(wrong) != []


def test_a_built_readme_has_no_link_that_an_index_cannot_follow():
    assert len(links(README)) >= 10 and links(as_built(README)) == []
    assert (
        "[quick start](docs/quickstart.md)" in README.lower() and "quick start (docs/quickstart.md)" in as_built(README).lower()
    )
    assert as_built("a\n\n![p](docs/p.png)\n\nb [c](d.md) [e](https://example.org) [f](#g)") == (
        "a\n\nb c (d.md) [e](https://example.org) [f](#g)"
    )


def test_no_address_is_invented():
    assert "urls" not in PROJECT and "repository-code" not in (ROOT / "CITATION.cff").read_text()


def test_readme_is_short():
    words = [word for word in README.split() if any(letter.isalnum() for letter in word)]  # a table's bars are not words
    assert len(words) <= WORDS and len(README.splitlines()) <= LINES


def test_the_workflow_runs_what_everyone_runs():
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    assert "run: .ci/run ${{ matrix.tier }}" in text and text.count("tier: [unit]") == text.count("tier: all") == 1
    assert all(f'"3.{minor}"' in text for minor in (11, 12, 13, 14))
    assert all(name in text for name in ("ubuntu", "macos", "windows"))


def test_phrases_are_found_in_prose_and_not_in_code(tmp_path):
    page, module = tmp_path / "page.md", tmp_path / "module.py"
    page.write_text("# anew\n\nIt begins anew, where there is `anew`.\n\n```text\nanew\n```\n[a](b.md#anew)\n")
    module.write_text('anew = 1  # it begins anew\n"""What is none."""\n')
    command = [sys.executable, ROOT / ".ci" / "phrases.py"]
    result = subprocess.run([*command, "3", page, module], capture_output=True, text=True, check=False)
    assert result.returncode == 1 and f"{page}:3: 'anew'" in result.stdout and "4 turns of phrase" in result.stdout, result
    assert subprocess.run([*command, "4", tmp_path], capture_output=True, check=False).returncode == 0


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
