"""Errors. Each message says what was given, what is needed and how to fix it; the object it was raised from is unchanged."""


class InputError(ValueError):
    """An argument cannot be used as given."""


class BudgetError(InputError):
    """What was asked for is legal but costs more than the library is willing to start."""


class FileError(ValueError):
    """A file is damaged, foreign, or written by a newer version."""


class BrokenState(RuntimeError):
    """The numbers that a policy has learned were changed from outside and mean nothing any more."""


class StaleDecision(RuntimeError):
    """A decision was asked for something that the policy, having learned since, can no longer tell."""
