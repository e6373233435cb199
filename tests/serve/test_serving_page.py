"""What docs/serving.md shows is run."""

import json
import os
import shlex
import shutil
import subprocess

import pytest
from support import pages
from support.serve.http_cases import running

from hsb import cli

TEXT = (pages.DOCS / "serving.md").read_text()


def test_its_commands_and_snippets_run(tmp_path, monkeypatch):
    with running(tmp_path / "hsb.db") as one:
        url = f"http://127.0.0.1:{one.port}"
        commands, with_arms, later = (each.strip() for each in pages.blocks(TEXT, "sh"))
        if shutil.which("curl"):
            env = os.environ | {"URL": url, "KEY": one.key}
            messages = [
                subprocess.check_output(["sh", "-c", line], env=env)
                for line in [*commands.splitlines(), *with_arms.splitlines()]
            ]
            assert json.loads(messages[4])["arm"] in ("a17", "b3") and json.loads(messages[5])["status"] == "learned"
            assert json.loads(messages[1])["arm"] in "abc" and json.loads(messages[2])["status"] == "learned"
        else:
            one.make(policy={"kind": "HSB"})
            one.make("teasers", policy={"kind": "HSB"}, arms={"open": {}})
        names = pages.run(TEXT, "docs/serving.md", {"url": url, "key": one.key}, all_of_them=True)
        names["policy"].close()
        names["teasers"].close()
        assert one.get("/v1/policies/teasers").json["updates"] >= 1
        assert one.get(f"/v1/policies/home/decisions/{names['decision'].id}").json["state"] == "learned"
        monkeypatch.chdir(tmp_path)
        for line in later.splitlines():
            assert cli.main(shlex.split(line, comments=True)[1:]) == 0, line
        assert (tmp_path / "hsb-monday.db").exists() and (tmp_path / "home.dsjson").exists()


@pytest.mark.parametrize("name", ["HSB_ADMIN_KEY", "--no-auth", "--public", "--demo"])
def test_options_are_named(name):
    assert name in TEXT
