"""Shared options: a dataclass holds them, and a command takes it as one parameter."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_type_hints

KEYWORD = inspect.Parameter.KEYWORD_ONLY


def flatten_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with every dataclass parameter replaced by the fields of that dataclass, as the parser needs it.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Size:
    ...     depth: int
    ...     arms: int = 3
    >>> def show(name: str, size: Size) -> None:
    ...     print(name, size)
    >>> flatten_options(show)(name="a", depth=2, arms=4), inspect.signature(flatten_options(show))
    a Size(depth=2, arms=4)
    (None, <Signature (*, name: str, depth: int, arms: int = 3)>)
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name not in groups:
            parameters.append(parameter.replace(annotation=hints[name], kind=KEYWORD))
            continue
        inner = get_type_hints(groups[name], include_extras=True)
        for field in fields(groups[name]):
            default = inspect.Parameter.empty if field.default is MISSING else field.default
            parameters.append(inspect.Parameter(field.name, KEYWORD, default=default, annotation=inner[field.name]))

    @functools.wraps(command)
    def called(**arguments: Any) -> None:
        for name, group in groups.items():
            arguments[name] = group(**{field.name: arguments.pop(field.name) for field in fields(group)})
        command(**arguments)

    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called
