"""Real `hsb serve` processes: two on one file, starts that are refused, the demo. Kills and other faults: test_faults_*.py."""

import signal
import subprocess

import pytest
from support.serve.processes import Process, command
from support.waiting import LIMIT


def test_it_goes_on_where_it_was(tmp_path):
    path = tmp_path / "hsb.db"
    first = Process(path)
    first.make()
    response = first.ask("POST", "/v1/policies/home/decisions", {"context": 1, "id": "one"})[1]
    second = subprocess.run(command("serve", "--db", str(path), "--port", "0"), capture_output=True, text=True, timeout=LIMIT)
    assert second.returncode == 2 and f"in use by another process, number {first.process.pid}" in second.stderr
    other = command("serve", "--db", str(tmp_path / "b.db"), "--port", str(first.port))
    taken = subprocess.run(other, capture_output=True, text=True, timeout=LIMIT)
    assert taken.returncode == 2 and "in use" in taken.stderr
    first.stop()
    again = Process(path)
    assert again.ask("POST", "/v1/policies/home/decisions", {"context": 1, "id": "one"}) == (200, response)
    assert again.ask("POST", "/v1/decisions/one/reward", {"reward": 1})[0] == 200
    again.stop()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--no-auth", "--host", "0.0.0.0"], "--public"),
        (["--db", "no/such/folder/hsb.db"], "folder"),
        (["--port", "70000"], "port"),
    ],
)
def test_starts_that_are_refused(tmp_path, options, said):
    done = subprocess.run(
        command("serve", "--port", "0", *options), capture_output=True, text=True, timeout=LIMIT, cwd=tmp_path
    )
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "hsb.db").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_may_be_stopped_as_soon_as_it_has_greeted(tmp_path, number):
    line = command("serve", "--db", str(tmp_path / "hsb.db"), "--port", "0")
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert "http://" in process.stdout.readline()
        process.send_signal(number)
        try:
            assert process.wait(LIMIT) == 0
        finally:
            process.kill()
