"""A class of the user's own, named "module:Class" in a file that the user wrote. Nothing else is ever imported by name."""

import importlib
import inspect
import os
import sys
from typing import Any

from ..errors import InputError


def imported(name: str, base: type) -> Any:
    """The class "module:Class", a subclass of `base`, from Python's path or, after that, from the current directory.

    Importing runs the module's code. The current directory stays on the path, so that the module may import what lies beside it.

    >>> imported("hsb.problems:Smooth", __import__("hsb").problems.Problem).__name__
    'Smooth'
    """
    module_name, _, class_name = name.partition(":")
    here = os.getcwd()
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)
    importlib.invalidate_caches()
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise InputError(f"{name!r}: importing {module_name} failed: {error}.") from None
        reason = f"there is no module {error.name!r} in {here} or on Python's path"
        raise InputError(f"{name!r}: {reason}. Run hsb where {error.name}.py is.") from None
    except (ImportError, SyntaxError, TypeError, ValueError) as error:
        raise InputError(f"{name!r}: importing {module_name!r} failed: {type(error).__name__}: {error}.") from None
    kind = getattr(module, class_name, None)
    if not isinstance(kind, type) or not issubclass(kind, base):
        kinds = [each for each, value in vars(module).items() if isinstance(value, type) and issubclass(value, base)]
        where = getattr(module, "__file__", None) or module_name
        lacking = f"no subclass of hsb's {base.__name__} of the name {class_name!r}"
        raise InputError(f"{name!r}: {where} has {lacking}; it has {', '.join(sorted(kinds)) or 'none at all'}.")
    if inspect.isabstract(kind):
        raise InputError(f"{name!r} is not complete: it must define {', '.join(sorted(vars(kind)['__abstractmethods__']))}.")
    return kind
