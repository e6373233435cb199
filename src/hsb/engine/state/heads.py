"""Nodes whose options are whole members: the root of `OneOf`, and the head of a mixture with advisors beside it."""

from collections.abc import Sequence

import numpy as np

from ...types import Floats, Ints
from ..kernels import header as h
from ..kernels.words import one_of as one_of_words
from .member import Kind, Layout, Member, Walk, arm_block, fill_blocks, flatten_blocks, flatten_options
from .sound import take_blocks, take_options


def _layout(kind: int, options: int, row: int, arms: int) -> Layout:
    """A node with a row of `row` words, and what its options' members reach and return."""
    layout = Layout(kind, arms, 1)
    layout.header[one_of_words.OPTIONS] = options
    layout.floats(one_of_words.NODE, row)
    layout.floats(one_of_words.CHILD_REACH, options)
    layout.floats(one_of_words.CHILD_RATIO, options)
    return layout


def make_one_of(options: int, arms: int) -> Member:
    """The root of `OneOf`: stop, or one of the other options, each with prior 1 / options."""
    F, I = member = _layout(h.ONE_OF, options, 1 + 2 * options + arm_block(arms)[2] + arms, arms).make()
    F[I[one_of_words.NODE] + 1 : I[one_of_words.NODE] + 1 + options] = 1.0 / options
    fill_blocks(member)
    return member


def make_head(prior: Sequence[float], arms: int) -> Member:
    """A head that never stops itself: option o has prior weight prior[o]."""
    options = len(prior)
    layout = _layout(h.HEAD, options, 1 + 2 * options, arms)
    layout.floats(one_of_words.PRIOR, options)
    F, I = member = layout.make()
    F[I[one_of_words.NODE] + 1 : I[one_of_words.NODE] + 1 + options] = F[
        I[one_of_words.PRIOR] : I[one_of_words.PRIOR] + options
    ] = prior
    return member


def add_options(head: Member, source: int, more: int) -> Member:
    """A head with more options, which had been part of option `source` so far: of n beside the first, it gives each 1/(n + 1) of its own.

    Every option before it is left as it is. So a new one costs what it would have cost had it been there and done as `source` did.
    """
    F, I = head
    n = int(I[one_of_words.OPTIONS])
    prior = F[I[one_of_words.PRIOR] : I[one_of_words.PRIOR] + n].tolist()
    weights, hidden = (
        F[I[one_of_words.NODE] + 1 : I[one_of_words.NODE] + 1 + n].tolist(),
        F[I[one_of_words.NODE] + 1 + n : I[one_of_words.NODE] + 1 + 2 * n].tolist(),
    )
    for _ in range(more):
        share = 1.0 / len(prior)
        for each in (prior, weights):
            each.append(share * each[source])
            each[source] *= 1.0 - share
        hidden.append(hidden[source])
    wider = make_head(prior, int(I[h.ARMS]))
    row = int(wider.I[one_of_words.NODE])
    wider.F[row] = F[I[one_of_words.NODE]]
    wider.F[row + 1 : row + 1 + len(prior)] = weights
    wider.F[row + 1 + len(prior) : row + 1 + 2 * len(prior)] = hidden
    return wider


def hang(members: Sequence[Member], option: int, offset: int) -> list[Member]:
    """The members of a structure, to stand from place `offset` on, below the member at place 0, as that option of it."""
    for member in members:
        if member.I[h.PARENT] < 0:
            member.I[h.PARENT], member.I[h.OPTION] = 0, option
        else:
            member.I[h.PARENT] += offset
    return list(members)


class _Options(Kind):
    def scratch(self, member: Member) -> list[tuple[int, int]]:
        I = member.I
        return [
            *super().scratch(member),
            *((int(I[at]), int(I[one_of_words.OPTIONS])) for at in (one_of_words.CHILD_REACH, one_of_words.CHILD_RATIO)),
        ]

    def take(self, own: Member, F: Floats) -> bool:
        """The options' weights, and the arms if there are any."""
        return (
            take_options(own, F, own.I[[one_of_words.NODE]], int(own.I[one_of_words.OPTIONS]))
            and take_blocks(own, F, self.blocks(own)) is not None
        )


class Root(_Options):
    """The root of `OneOf` has arms of its own."""

    def blocks(self, member: Member) -> Ints:
        return np.array([member.I[one_of_words.NODE] + 1 + 2 * member.I[one_of_words.OPTIONS]])

    def flatten(self, member: Member, r: float, below: dict[int, float], walk: Walk | None) -> float:
        I, n = member.I, int(member.I[one_of_words.OPTIONS])
        own = flatten_blocks(member, self.blocks(member), r)[0]
        each = np.array([[own, *(below[option] for option in range(1, n))]])
        return float(flatten_options(member, I[[one_of_words.NODE]], np.full(n, 1.0 / n), r, each)[0])

    def widened(self, member: Member) -> Member:
        return make_one_of(int(member.I[one_of_words.OPTIONS]), int(member.I[h.ARMS]) + 1)

    def ahead(self, member: Member, blocks: Ints) -> Ints:
        return np.array([1 + 2 * member.I[one_of_words.OPTIONS]])


class Head(_Options):
    """The head has none: it stays as it is."""

    def fits(self, F: Floats, I: Ints, fresh: Member) -> bool:
        prior = slice(int(fresh.I[one_of_words.PRIOR]), int(fresh.I[one_of_words.PRIOR] + fresh.I[one_of_words.OPTIONS]))
        return super().fits(F, I, fresh) and np.array_equal(F[prior], fresh.F[prior])

    def flatten(self, member: Member, r: float, below: dict[int, float], walk: Walk | None) -> float:
        F, I = member
        prior = F[I[one_of_words.PRIOR] : I[one_of_words.PRIOR] + I[one_of_words.OPTIONS]]
        each = np.array([[below[option] for option in range(len(prior))]])
        return float(flatten_options(member, I[[one_of_words.NODE]], prior, r, each)[0])

    def add_arm(self, member: Member) -> Member:
        F, I = member
        prior = slice(int(I[one_of_words.PRIOR]), int(I[one_of_words.PRIOR] + I[one_of_words.OPTIONS]))
        wider = make_head(F[prior].tolist(), int(I[h.ARMS]) + 1)
        row = 1 + 2 * int(I[one_of_words.OPTIONS])
        wider.F[wider.I[one_of_words.NODE] : wider.I[one_of_words.NODE] + row] = F[
            I[one_of_words.NODE] : I[one_of_words.NODE] + row
        ]
        return wider


Root(h.ONE_OF)
Head(h.HEAD)
