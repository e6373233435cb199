"""What docs/serving.md shows is run."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from http_cases import running

TEXT = (Path(__file__).parents[2] / "docs" / "serving.md").read_text()


def test_the_first_lines_run(tmp_path):
    with running(tmp_path / "hsb.db") as one:
        url = f"http://127.0.0.1:{one.port}"
        [commands] = re.findall(r"```sh\n(.*?)```", TEXT, flags=re.DOTALL)
        if shutil.which("curl"):
            env = os.environ | {"URL": url, "KEY": one.key}
            said = [subprocess.check_output(["sh", "-c", line], env=env) for line in commands.splitlines()]
            assert json.loads(said[1])["arm"] in "abc" and json.loads(said[2])["status"] == "learned"
        else:
            one.make(policy={"kind": "HSB"})
        [snippet] = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
        names = {"url": url, "key": one.key}
        exec(compile(snippet, "docs/serving.md", "exec"), names)
        names["policy"].close()
        assert one.get(f"/v1/policies/home/decisions/{names['decision'].id}").json["state"] == "learned"


@pytest.mark.parametrize("name", ["HSB_ADMIN_KEY", "--no-auth", "--public", "--demo"])
def test_options_are_named(name):
    assert name in TEXT
