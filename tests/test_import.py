"""What `import hsb` brings, what it only promises, and what it does not load."""

import subprocess
import sys

import pytest

import hsb

HEAVY = ("numba", "matplotlib", "sklearn", "pandas", "polars", "pyarrow", "scipy", "joblib", "coba", "river", "mabwiser")
INNER = (
    "checks",
    "client",
    "e_values",
    "engine",
    "errors",
    "files",
    "interop",
    "learners",
    "play",
    "plotting",
    "policy",
    "reproducible_math",
    "specs",
    "types",
)


def said(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_nothing_heavy_is_loaded_nor_by_looking():
    loaded = f"[name for name in {HEAVY} if name in sys.modules]"
    assert said(f"import sys, hsb; dir(hsb); print({loaded})") == "[]"
    promised = ("hsb.problems", "hsb.evaluate", "hsb.interop", "hsb.experiments", "hsb.plotting.explanations", "hsb.serve")
    lazy = f"[name for name in {promised} if name in sys.modules]"
    assert said(f"import sys, hsb; dir(hsb); print({lazy})") == "[]"
    assert said(f"import sys, hsb; hsb.problems, hsb.evaluate, hsb.adapters; print({loaded})") == "[]"


@pytest.mark.parametrize("name", ["problems", "evaluate", "adapters", "HSBClassifier"])
def test_a_bare_import_is_enough(name):
    assert said(f"import hsb; print(hsb.{name}.__name__)") == {"HSBClassifier": "HSBClassifier", "adapters": "hsb.interop"}.get(
        name, f"hsb.{name}"
    )


def test_what_is_listed_is_what_a_user_needs():
    import hsb.cli
    import hsb.experiments

    listed = dir(hsb)
    assert {"HSB", "HSBClassifier", "adapters", "evaluate", "logs", "problems", "simulate"} <= set(listed)
    assert not {"cli", "experiments", *INNER} & set(listed)
    assert set(hsb.__all__) | {"HSBClassifier", "__version__"} == set(listed)
    for name in hsb.__all__:
        assert getattr(hsb, name) is not None


def test_import_star_does_without_scikit_learn():
    code = (
        "import sys; sys.modules['sklearn'] = None\nfrom hsb import *\nprint(problems.__name__, 'HSBClassifier' in globals())"
    )
    assert said(code) == "hsb.problems False"


def test_what_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'moon'"):
        hsb.moon  # noqa: B018
