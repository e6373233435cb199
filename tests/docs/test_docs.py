"""The documentation without its builder: every snippet runs, every link leads somewhere, every page and every public name has its place."""

import importlib
import re
import sys
from pathlib import Path

import pytest
from support import pages

import hsb
from hsb import cli

ROOT, DOCS = pages.ROOT, pages.DOCS
sys.path.insert(0, str(DOCS / "_tools"))
public = importlib.import_module("public")

APART = {  # run by tests that also look at what comes of it
    DOCS / "deploying.md": "tests/docs/test_deploying.py",
    DOCS / "logs.md": "below",
    DOCS / "off_policy.md": "tests/evaluate/off_policy/test_compare.py",
}
FIRST = {ROOT / "README.md", DOCS / "quickstart.md"}
WITH_SNIPPETS = [path for path in pages.pages() if path not in APART and [*pages.blocks(path.read_text(), "python")]]


@pytest.fixture(autouse=True)
def a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")


# -- snippets ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [path if path in FIRST else pytest.param(path, marks=pytest.mark.long) for path in WITH_SNIPPETS],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_the_snippets_of_a_page_run(path, capsys):
    pages.run(path.read_text(), str(path))


def test_the_page_of_logs_runs(tmp_path, capsys):
    """Its Python, then its commands, then its file of settings; the command makes the policy that Python made."""
    text = (DOCS / "logs.md").read_text()
    pages.run(text, "docs/logs.md")
    printed = capsys.readouterr().out
    assert "{'country': 'category', 'hour': 'number', 'is_member': 'flag', 'spend': 'number'}" in printed
    assert "'country=FR'" in printed and "'spend is missing'" in printed
    right = hsb.load("policy.hsb").digest()
    lines = "\n".join(pages.blocks(text, "sh")).split("\n")
    for command in filter(None, lines):
        assert cli.main(command.split()[1:]) == 0, command
    assert hsb.load("policy.hsb").digest() == right
    assert hsb.load("offers.hsb").learner.takes_requests and hsb.load("offers.hsb").rounds == 1500
    (tmp_path / "policy.toml").write_text(*pages.blocks(text, "toml"))
    train = next(filter(None, lines)).split()[1:]
    assert cli.main([*train, "--config", "policy.toml"]) == 0
    assert hsb.load("policy.hsb").floor == 0.05


def test_a_snippet_that_fails_is_noticed_in_its_own_line():
    text = "# A page\n\n```python\nx = 1\n```\n\n<!-- not run here: it needs a service -->\n```python\nno_such_name\n```\n"
    assert pages.run(text, "page.md")["x"] == 1
    with pytest.raises(NameError) as raised:
        pages.run(text, "page.md", all_of_them=True)
    assert raised.traceback[-1].lineno == 8  # counted from 0
    assert [*pages.blocks(text, "sh")] == []


def test_output_that_is_not_printed_is_noticed():
    text = "```python\nprint('a', 1.0)\n```\n\n```output\na 1.04\n```\n"
    pages.run(text, "page.md")
    for wrong in ("a 1.2", "b 1.0", "a"):
        with pytest.raises(AssertionError, match="it prints"):
            pages.run(text.replace("a 1.04", wrong), "page.md")
    assert pages.rewritten(text.replace("a 1.04", "b 2"), "page.md") == text.replace("a 1.04", "a 1.0")


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("lost 0.25", "lost 0.255", True),
        ("lost 0.25", "lost 0.27", False),
        ("1,000 rounds", "1,049 rounds", True),
        ("1,000 rounds", "1,100 rounds", False),
        ("a 1", "a 1 2", False),
        ("-0.30", "+0.30", False),
    ],
)
def test_numbers_are_compared_with_a_tolerance(shown, printed, same):
    assert pages.alike(shown, printed) is same


def test_what_a_page_defines_is_gone_with_it():
    code = "import hsb\nclass Mine(hsb.Policy):\n    pass\nassert 'Mine' in hsb.Policy.kinds\n"
    pages.run(f"```python\n{code}```\n", "page.md")
    assert "Mine" not in hsb.Policy.kinds


# -- links and pages -----------------------------------------------------------------------------------------------------

FENCED = re.compile(r"^(`{3,})(?!\{toctree\}).*?^\1", re.M | re.S)
LINK = re.compile(r"(?<!\\)\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
ENTRY = re.compile(r"^`{3,}\{toctree\}\n(.*?)^`{3,}", re.M | re.S)


def anchors(text: str) -> set[str]:
    """The places that headings make, as GitHub and the site name them."""
    result: set[str] = set()
    for heading in re.findall(r"^#{1,6}\s+(.+?)\s*$", FENCED.sub("", text), flags=re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "").strip().lower()
        slug = "".join(letter for letter in plain.replace(" ", "-") if letter.isalnum() or letter in "-_")
        name, k = slug, 0
        while name in result:
            k += 1
            name = f"{slug}-{k}"
        result.add(name)
    return result | set(re.findall(r"^\(([\w-]+)\)=$", text, flags=re.M))


def broken(path: Path, text: str) -> list[str]:
    """Links of a page to files or headings that are not there; what the build makes, and other hosts, apart."""
    results = []
    for link in LINK.findall(re.sub(r"`[^`\n]+`", "", FENCED.sub("", text))):
        if re.match(r"[a-z]+:", link) or "_made/" in link:
            continue
        file, _, place = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        if not target.exists() or (place and target.suffix == ".md" and place not in anchors(target.read_text())):
            results.append(link)
    return results


@pytest.mark.parametrize("path", pages.pages(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path):
    assert broken(path, path.read_text()) == []


def test_a_broken_link_is_noticed():
    here = DOCS / "index.md"
    text = "[a](no_such.md) [b](proofs.md#no-such-place) [c](proofs.md#1-one-theorem) [d](https://example.org) `[e](no.md)` [f](#x)\n"
    assert broken(here, text) == ["no_such.md", "proofs.md#no-such-place", "#x"]


def listed(text: str, folder: Path) -> set[Path]:
    """The pages that a page's tables of contents name."""
    result: set[Path] = set()
    for block in ENTRY.findall(text):
        for line in block.splitlines():
            entry = re.sub(r"^.*<(.+)>$", r"\1", line.strip())
            if entry and not entry.startswith(":"):
                name = entry if entry.endswith(".md") else f"{entry}.md"
                result |= {path.resolve() for path in folder.glob(name)} if "*" in name else {(folder / name).resolve()}
    return result


def test_every_page_has_its_place():
    """From the index, by tables of contents, every page is reached; and each that is named exists or is made by the build."""
    reached, waiting = set(), [DOCS / "index.md"]
    while waiting:
        path = waiting.pop()
        if path in reached or "_made" in path.parts:
            continue
        assert path.exists(), f"a table of contents names {path}, which is not there"
        reached.add(path)
        waiting += listed(path.read_text(), path.parent)
    assert reached == {path.resolve() for path in pages.pages()} - {ROOT / "README.md"}


# -- the reference -------------------------------------------------------------------------------------------------------


def test_every_public_name_is_documented():
    for name in public.names():
        value = public.value(name)
        assert isinstance(value, (tuple, list, dict)) or value.__doc__, name


def test_every_public_name_is_in_the_reference():
    assert sorted(set(public.names()) - public.documented(DOCS / "api")) == []


def test_what_the_reference_shows_exists():
    for name in public.documented(DOCS / "api"):
        public.value(name)


def test_a_name_that_is_nowhere_is_noticed(monkeypatch):
    monkeypatch.setattr(hsb.theory, "__all__", [*hsb.theory.__all__, "greet"])
    monkeypatch.setattr(hsb.theory, "greet", lambda: None, raising=False)
    assert set(public.names()) - public.documented(DOCS / "api") == {"hsb.theory.greet"}


def test_the_page_of_choices_names_every_structure_and_policy():
    text = (DOCS / "choosing.md").read_text()
    for name in hsb.structures.Structure.kinds:
        assert f"`{name}(" in text, name
    for name, value in vars(hsb).items():
        if isinstance(value, type) and issubclass(value, hsb.Policy) and value is not hsb.Policy:
            assert f"`{name}(" in text or f"`{name}." in text, name
