"""The check of .ci/test_layout.py, on a small package, and on this one."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("test_layout_script", ROOT / ".ci" / "test_layout.py")
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)


@pytest.fixture
def package(tmp_path):
    for name in ("src/__init__.py", "src/one.py", "src/deep/__init__.py", "src/deep/two.py", "src/deep/three.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (tmp_path / "tests" / "deep").mkdir(parents=True)
    return tmp_path


def test_a_module_counts_if_its_test_lies_in_the_same_folder(package):
    (package / "tests" / "test_one.py").write_text("")
    (package / "tests" / "test_two.py").write_text("")  # its module is deeper
    (package / "tests" / "deep" / "test_three.py").write_text("")
    layout = script.read_layout(package / "src", package / "tests")
    assert [str(path) for path in layout.tested] == ["deep/three.py", "one.py"]
    assert [str(path) for path in layout.untested] == ["deep/two.py"]
    assert layout.share == pytest.approx(200 / 3) and not layout.crossing


@pytest.mark.parametrize(
    "line", ["from test_one import helper", "import test_one", "from tests.test_one import x", "def f():\n    import test_one"]
)
def test_a_test_module_that_imports_another_is_named(package, line):
    (package / "tests" / "test_one.py").write_text("import pytest\nfrom support.cases import test_one_helper\n")
    (package / "tests" / "deep" / "test_three.py").write_text(line + "\n")
    (crossing,) = script.read_layout(package / "src", package / "tests").crossing
    assert crossing.startswith("deep/test_three.py:") and "test_one" in crossing


def test_no_test_module_here_imports_another():
    assert script.read_layout(ROOT / "src" / "hsb", ROOT / "tests").crossing == []
