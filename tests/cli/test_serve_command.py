"""The command `hsb serve`: what it refuses before it listens, in one line, and without a file left behind."""

import sys

import pytest
from support.cli_cases import fails


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def service():
    pytest.importorskip("uvicorn")


@pytest.mark.usefixtures("service")
def test_everyone_is_let_in_only_if_that_is_meant(capsys):
    words = "--no-auth on 0.0.0.0 lets in everyone who reaches this machine. Add --public"
    fails(capsys, ["serve", "--no-auth", "--host", "0.0.0.0"], words)


@pytest.mark.usefixtures("service")
@pytest.mark.parametrize("site", ["shop.example", "https://shop.example/path", "*", "ftp://shop.example"])
def test_a_site_is_an_origin(capsys, site):
    fails(capsys, ["serve", "--cors", site], "https://shop.example")


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_a_port_is_a_number(capsys, port):
    fails(capsys, ["serve", "--port", port], "--port")


def test_without_its_packages_it_says_how_to_install_them(capsys, monkeypatch):
    for name in ("command", "server"):  # imported anew
        monkeypatch.delitem(sys.modules, f"hsb.serve.http.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    fails(capsys, ["serve"], r"hsb serve needs uvicorn.*, which is not installed\. Run: pip install 'hsb\[serve\]'")
