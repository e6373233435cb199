"""Policies that turn a context into a key before anything else."""

from typing import Any, ClassVar

from numpy.typing import ArrayLike, NDArray

from ..learners.keys import Keys, Nowhere
from ..policy import Policy


class Located(Policy, listed=False):
    """A policy with a locator; `self.locator.key` is the key of the located context."""

    locator: Keys | Nowhere
    _visited = False  # was the last thing done a visit of the nodes of the located context, every arm being offered?
    _own: ClassVar[tuple[str, ...]] = ("locator",)  # what two policies must not share; the rest is never written to

    def _locate(self, context: Any, *, count: bool) -> None:
        if context is not self.locator.located:
            self._visited = False
            clipped = self.locator.locate(context)
            if count:
                self.clipped += clipped

    def _forget(self) -> None:
        super()._forget()
        self._visited = False

    def check(self, contexts: ArrayLike) -> tuple[NDArray[Any], int]:
        return self.locator.check(contexts)

    def _detach(self) -> None:
        for name in self._own:
            setattr(self, name, getattr(self, name).copy())
