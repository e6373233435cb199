"""Every snippet of README runs, and says what it says it does."""

import re
from pathlib import Path

import hsb
from hsb import cli

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


def test_the_page_of_logs_runs(tmp_path, monkeypatch, capsys):
    """Its Python, then its commands, then its file of settings; the command makes the policy that Python made."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "logs.md").read_text()
    names: dict[str, object] = {}
    for snippet in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        exec(compile(snippet, "docs/logs.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "{'country': 'category', 'hour': 'number', 'is_member': 'flag', 'spend': 'number'}" in printed
    assert "'country=FR'" in printed and "'spend is missing'" in printed
    right = hsb.load("policy.hsb").digest()
    [commands] = re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
    for command in commands.splitlines():
        assert cli.main(command.split()[1:]) == 0, command
    assert hsb.load("policy.hsb").digest() == right
    (tmp_path / "policy.toml").write_text(*re.findall(r"```toml\n(.*?)```", text, flags=re.DOTALL))
    train = commands.splitlines()[0].split()[1:]
    assert cli.main([*train, "--config", "policy.toml"]) == 0
    assert hsb.load("policy.hsb").floor == 0.05


def test_every_public_name_is_documented():
    for name in hsb.__all__:
        assert getattr(hsb, name).__doc__, name


def test_readme_names_every_structure():
    text = (ROOT / "README.md").read_text()
    for name in hsb.structures.Structure.kinds:
        assert f"`{name}(" in text, name
