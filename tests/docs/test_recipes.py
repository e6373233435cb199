"""Every recipe has the same form and names commands that there are. That it runs and prints what it shows is seen to by test_docs.py."""

import re
import shlex
from pathlib import Path

import pytest
from support import pages

from hsb import cli

FOLDER = Path(__file__).parents[2] / "docs" / "recipes"
PAGES = sorted(path.stem for path in FOLDER.glob("*.md") if path.stem != "index")
each_page = pytest.mark.parametrize("page", PAGES)


@each_page
def test_a_recipe_shows_what_one_sees(page):
    text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
    assert [*pages.blocks(text, "python")] and [*pages.blocks(text, "output")]


@each_page
def test_a_recipe_is_short_and_begins_with_a_problem(page):
    text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
    assert 25 <= text.count("\n") <= 160
    assert re.match(r'# .+\n\n\*".+"\*\n', text), "it starts with the problem, in a person's words"
    assert "## What to watch for" in text or "## What is promised" in text


def test_the_index_has_every_recipe():
    text = (FOLDER / "index.md").read_text(encoding="utf-8")
    [tree] = re.findall(r"```\{toctree\}\n(?::\w+:\n)*\n(.*?)```", text, flags=re.DOTALL)
    assert sorted(each for each in tree.split() if not each.startswith("../")) == PAGES
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
    answer = capsys.readouterr().out
    for word in words[2:]:
        assert not word.startswith("--") or f"{word} " in answer, word
