"""Options that several commands share are the fields of one dataclass, and a command takes it as one parameter."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_type_hints

KEYWORD = inspect.Parameter.KEYWORD_ONLY


def flat(command: Callable[..., None]) -> Callable[..., None]:
    """The command as the parser wants it: every parameter that is a dataclass replaced by that dataclass's fields.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Size:
    ...     depth: int
    ...     arms: int = 3
    >>> def tell(name: str, size: Size) -> None:
    ...     print(name, size)
    >>> flat(tell)(name="a", depth=2, arms=4), inspect.signature(flat(tell))
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
    def called(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called
