"""Every recipe runs from top to bottom in an empty folder, prints what it shows, and names commands and pages that there are."""

import re
import shlex
from pathlib import Path

import pytest
from markdown_blocks import alike, blocks, rewritten, run_blocks

import hsb
from hsb import cli

FOLDER = Path(__file__).parent.parent / "docs" / "recipes"
PAGES = sorted(path.stem for path in FOLDER.glob("*.md") if path.stem != "index")
each_page = pytest.mark.parametrize("page", PAGES)


@each_page
def test_a_recipe_runs_and_prints_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.setenv("HSB_QUIET", "1")
    monkeypatch.setenv("MPLBACKEND", "agg")
    path = FOLDER / f"{page}.md"
    if page == "to-the-service":
        pytest.importorskip("uvicorn")
    ran = run_blocks(path, tmp_path)
    assert ran and any(each.block.shown for each in ran), "a recipe has code that runs, and shows what one sees"
    for each in ran:
        assert each.true, f"{path}, line {each.block.line}: printed\n{each.printed}\nshown\n{each.block.shown}"


@each_page
def test_a_recipe_is_short_and_its_links_lead_somewhere(page):
    text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
    assert 60 <= text.count("\n") <= 160
    assert re.match(r'# .+\n\n\*".+"\*\n', text), "it starts with the problem, in a person's words"
    assert "## What to watch for" in text or "## What is promised" in text
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        assert (FOLDER / target).is_file(), target


def test_the_index_has_every_recipe():
    text = (FOLDER / "index.md").read_text(encoding="utf-8")
    [tree] = re.findall(r"```\{toctree\}\n(?::\w+:\n)*\n(.*?)```", text, flags=re.DOTALL)
    assert sorted(tree.split()) == PAGES
    assert sorted(re.findall(r"\(([\w-]+)\.md\)", text)) == PAGES


def commands():
    for page in PAGES:
        text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
        for block in re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL):
            for line in block.splitlines():
                if line.startswith("hsb "):
                    yield pytest.param(shlex.split(line, comments=True), id=line)


@pytest.mark.parametrize("words", list(commands()))
def test_commands_have_these_options(words, capsys):
    assert cli.main([words[1], "--help"]) == 0
    said = capsys.readouterr().out
    for word in words[2:]:
        assert not word.startswith("--") or f"{word} " in said, word


# -- the controls: what would go wrong is noticed ------------------------------------------------------------------------


def page_of(tmp_path, text):
    path = tmp_path / "page.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_broken_snippet_is_noticed_with_its_line(tmp_path):
    path = page_of(tmp_path, "# A\n\n```python\nx = 1\n```\n\nwords\n\n```python\nx += 1\nassert x == 3, x\n```\n")
    with pytest.raises(AssertionError, match="2") as caught:
        run_blocks(path, tmp_path)
    last = caught.traceback[-1]
    assert str(last.path) == str(path) and last.lineno + 1 == 11


def test_an_output_that_is_not_true_is_noticed(tmp_path):
    text = "```python\nprint('lost', 0.25)\n```\n\n```output\nlost 0.31\n```\n"
    [ran] = run_blocks(page_of(tmp_path, text), tmp_path)
    assert not ran.true
    mended = rewritten(text, [ran])
    assert mended == text.replace("0.31", "0.25")
    [again] = run_blocks(page_of(tmp_path, mended), tmp_path)
    assert again.true


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("lost 0.25", "lost 0.255", True),
        ("lost 0.25", "lost 0.27", False),
        ("1,000 rounds", "1,049 rounds", True),
        ("1,000 rounds", "1,100 rounds", False),
        ("a wins", "b wins", False),
        ("a 1", "a 1 2", False),
        ("-0.30", "+0.30", False),
        ("", "", True),
    ],
)
def test_numbers_are_compared_with_a_tolerance(shown, printed, same):
    assert alike(shown, printed) is same


def test_a_page_runs_where_it_is_told_to_and_leaves_nothing_else(tmp_path):
    code = "import hsb\nclass Mine(hsb.Policy):\n    pass\nassert 'Mine' in hsb.Policy.kinds\nopen('here.txt', 'w').close()\n"
    path = page_of(tmp_path, f"```python\n{code}```\n")
    (tmp_path / "inside").mkdir()
    before = Path.cwd()
    run_blocks(path, tmp_path / "inside")
    assert (tmp_path / "inside" / "here.txt").exists() and Path.cwd() == before and "Mine" not in hsb.Policy.kinds
    assert not blocks(page_of(tmp_path, "```sh\nls\n```\n"))
