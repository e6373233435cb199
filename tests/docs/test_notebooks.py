"""Every notebook runs from top to bottom; none is kept with what it printed."""

import json
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore"),
]  # of the kernel's own libraries; the kernel's process has its own


def run(notebook, folder):
    """In a kernel of its own, in that folder; the notebook with its outputs."""
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    return client.execute()


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == ["1-first-decisions", "2-logs-to-choice", "3-when-the-world-changes"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_from_top_to_bottom(path, tmp_path, monkeypatch):
    done = run(nbformat.read(path, as_version=4), tmp_path)
    outputs = [output for cell in done.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output.text for output in outputs if output.output_type == "stream" and output.name == "stderr"]
    assert sum("image/png" in output.get("data", {}) for output in outputs) >= 2
    assert not list(tmp_path.iterdir())  # nothing is left behind


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_kept_without_outputs(path):
    assert not kept(json.loads(path.read_text(encoding="utf-8")))
    nbformat.validate(nbformat.read(path, as_version=4))


def kept(notebook):
    """Cells that hold outputs or counts."""
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [cell["source"] for cell in code if cell["outputs"] or cell["execution_count"] is not None]


# -- the controls --------------------------------------------------------------------------------------------------------


def test_an_exception_fails(tmp_path):
    broken = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("assert 1 + 1 == 3")])
    with pytest.raises(nbclient.exceptions.CellExecutionError, match="AssertionError"):
        run(broken, tmp_path)


def test_outputs_would_be_noticed(tmp_path):
    done = run(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 + 1")]), tmp_path)
    assert kept(json.loads(nbformat.writes(done))) == [["1 + 1"]]
