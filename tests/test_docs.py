"""Every snippet of README runs, and says what it says it does."""

import re
from pathlib import Path

import hsb

ROOT = Path(__file__).parent.parent


def test_readme_snippets_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    snippets = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert len(snippets) >= 3
    names: dict[str, object] = {}
    for snippet in snippets:
        exec(compile(snippet, "README.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "play 'a'" in printed
    assert "play 'c'" in printed
    assert (tmp_path / "policy.hsb").exists()


def test_every_public_name_is_documented():
    for name in hsb.__all__:
        assert getattr(hsb, name).__doc__, name


def test_readme_names_every_structure():
    text = (ROOT / "README.md").read_text()
    for name in hsb.structures.Structure.kinds:
        assert f"`{name}(" in text, name
