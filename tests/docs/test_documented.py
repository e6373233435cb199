"""Everything public says what it is; a method that overrides another may leave that to the one it overrides."""

import importlib
import inspect
import pkgutil

import pytest

import hsb

MODULES = [
    name
    for _, name, _ in pkgutil.walk_packages(hsb.__path__, "hsb.")
    if not name.startswith(("hsb.engine.kernels.", "hsb.experiments.paper.kernels.", "hsb.__main__"))
]


def undocumented(module) -> list[str]:
    """Public classes, functions and methods of a module without a docstring of their own or of what they override."""
    missing = []
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        if (inspect.isclass(value) or inspect.isfunction(value)) and not inspect.getdoc(value):
            missing.append(name)
        if inspect.isclass(value):
            for method, inner in vars(value).items():
                function = inner.fget if isinstance(inner, property) else getattr(inner, "__func__", inner)
                if not method.startswith("_") and inspect.isfunction(function) and not inspect.getdoc(getattr(value, method)):
                    missing.append(f"{name}.{method}")
    return missing


@pytest.mark.parametrize("name", MODULES)
def test_everything_public_is_documented(name):
    try:
        module = importlib.import_module(name)
    except ImportError as error:  # an extra that is not installed
        pytest.skip(str(error))
    assert not undocumented(module)


def test_what_says_nothing_is_noticed():
    module = type(hsb)("hsb.mute")

    class Mute:
        """Said."""

        def word(self):
            return 1

    Mute.__module__ = "hsb.mute"
    module.Mute = Mute
    assert undocumented(module) == ["Mute.word"]
