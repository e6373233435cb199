"""Nodes whose options are whole members: the root of `OneOf`, and the head of a mixture with advisors beside it."""

from collections.abc import Sequence

import numpy as np

from ...types import Floats, Ints
from ..kernels import header as h
from ..kernels.words import one_of as one_of_words
from .member import Kind, Layout, Member, Walk, arm_block, fill_blocks, flatten_blocks, flatten_options
from .sound import take_blocks, take_options
from .views import OptionsView


def _layout(kind: int, options: int, row: int, arms: int) -> Layout:
    """A node with a row of `row` words, and what its options' members reach and return."""
    layout = Layout(kind, arms, 1)
    layout.header[one_of_words.OPTIONS] = options
    layout.floats(one_of_words.NODE, row)
    layout.floats(one_of_words.CHILD_REACH, options)
    layout.floats(one_of_words.CHILD_RATIO, options)
    layout.afford(arms)
    return layout


def make_one_of(options: int, arms: int) -> Member:
    """The root of `OneOf`: stop, or one of the other options, each with prior 1 / options."""
    member = _layout(h.ONE_OF, options, 1 + 2 * options + arm_block(arms)[2] + arms, arms).make()
    OptionsView(member).weights[:] = 1.0 / options
    fill_blocks(member)
    return member


def make_head(prior: Sequence[float], arms: int) -> Member:
    """A head that never stops itself: option o has prior weight prior[o]."""
    options = len(prior)
    layout = _layout(h.HEAD, options, 1 + 2 * options, arms)
    layout.floats(one_of_words.PRIOR, options)
    member = layout.make()
    head = OptionsView(member)
    head.weights[:] = head.prior[:] = prior
    return member


def add_options(head: Member, source: int, shares: Sequence[float]) -> Member:
    """A head with more options, which had been part of option `source` so far: one after the other takes such a share of what that has.

    Every option before it is left as it is. So a new one costs what it would have cost had it been there and done as `source` did.
    """
    before = OptionsView(head)
    prior, weights, counts = before.prior.tolist(), before.weights.tolist(), before.counts.tolist()
    for share in shares:
        for each in (prior, weights):
            each.append(share * each[source])
            each[source] *= 1.0 - share
        counts.append(counts[source])
    wider = make_head(prior, head.arms)
    after = OptionsView(wider)
    after.flag[:] = before.flag
    after.weights[:], after.counts[:] = weights, counts
    return wider


def hang(members: Sequence[Member], option: int, offset: int) -> list[Member]:
    """The members of a structure, to stand from place `offset` on, below the member at place 0, as that option of it."""
    for member in members:
        if member.parent < 0:
            member.I[h.PARENT], member.I[h.OPTION] = 0, option
        else:
            member.I[h.PARENT] += offset
    return list(members)


class _Options(Kind):
    def scratch(self, member: Member) -> list[tuple[int, int]]:
        node = OptionsView(member)
        return [*super().scratch(member), (node.reach_at, node.options), (node.ratio_at, node.options)]

    def take(self, own: Member, F: Floats) -> bool:
        """The options' weights, and the arms if there are any."""
        node = OptionsView(own)
        return take_options(own, F, np.array([node.row]), node.options) and take_blocks(own, F, self.blocks(own)) is not None


class Root(_Options):
    """The root of `OneOf` has arms of its own."""

    def blocks(self, member: Member) -> Ints:
        return np.array([OptionsView(member).block])

    def flatten(self, member: Member, r: float, below: dict[int, float], walk: Walk | None) -> float:
        node = OptionsView(member)
        n = node.options
        own = flatten_blocks(member, self.blocks(member), r)[0]
        each = np.array([[own, *(below[option] for option in range(1, n))]])
        return float(flatten_options(member, np.array([node.row]), np.full(n, 1.0 / n), r, each)[0])

    def widened(self, member: Member) -> Member:
        return make_one_of(OptionsView(member).options, member.arms + 1)

    def ahead(self, member: Member, blocks: Ints) -> Ints:
        return blocks - OptionsView(member).row


class Head(_Options):
    """The head has none: it stays as it is."""

    def fits(self, F: Floats, I: Ints, fresh: Member) -> bool:
        return super().fits(F, I, fresh) and np.array_equal(OptionsView(Member(F, I)).prior, OptionsView(fresh).prior)

    def flatten(self, member: Member, r: float, below: dict[int, float], walk: Walk | None) -> float:
        head = OptionsView(member)
        each = np.array([[below[option] for option in range(head.options)]])
        return float(flatten_options(member, np.array([head.row]), head.prior, r, each)[0])

    def add_arm(self, member: Member) -> Member:
        before = OptionsView(member)
        wider = make_head(before.prior.tolist(), member.arms + 1)
        after = OptionsView(wider)
        after.flag[:], after.weights[:], after.counts[:] = before.flag, before.weights, before.counts
        return wider


Root(h.ONE_OF)
Head(h.HEAD)
