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
    """Lay out a node with a row of `row` words, and with the reach and ratio of its options."""
    layout = Layout(kind, arms, 1)
    layout.header[one_of_words.OPTIONS] = options
    layout.floats(one_of_words.NODE, row)
    layout.floats(one_of_words.CHILD_REACH, options)
    layout.floats(one_of_words.CHILD_RATIO, options)
    layout.afford(arms)
    return layout


def make_one_of(options: int, arms: int) -> Member:
    """Make the root of `OneOf`: stop, or one of the other options, each with prior 1 / options."""
    member = _layout(h.ONE_OF, options, 1 + 2 * options + arm_block(arms)[2] + arms, arms).make()
    OptionsView(member).weights[:] = 1.0 / options
    fill_blocks(member)
    return member


def make_head(prior: Sequence[float], arms: int) -> Member:
    """Make a head, which never stops: option o has prior weight prior[o]."""
    options = len(prior)
    layout = _layout(h.HEAD, options, 1 + 2 * options, arms)
    layout.floats(one_of_words.PRIOR, options)
    member = layout.make()
    head = OptionsView(member)
    head.weights[:] = head.prior[:] = prior
    return member


def add_options(head: Member, source: int, shares: Sequence[float]) -> Member:
    """Return a head with more options, split off option `source`: each in turn takes its share of the weight of `source`.

    All other options stay. So a new option costs the same as if it had existed from the start and had played like `source`.
    """
    before = OptionsView(head)
    prior, weights, counts = before.prior.tolist(), before.weights.tolist(), before.counts.tolist()
    for share in shares:
        for values in (prior, weights):
            values.append(share * values[source])
            values[source] *= 1.0 - share
        counts.append(counts[source])
    wider = make_head(prior, head.arms)
    after = OptionsView(wider)
    after.flag[:] = before.flag
    after.weights[:], after.counts[:] = weights, counts
    return wider


def hang(members: Sequence[Member], option: int, offset: int) -> list[Member]:
    """Link the members of a structure, which begin at index `offset`, below member 0 as one of its options."""
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
        """Take the options' weights, and the arms if there are any."""
        node = OptionsView(own)
        return take_options(own, F, np.array([node.row]), node.options) and take_blocks(own, F, self.blocks(own)) is not None


class Root(_Options):
    """The root of `OneOf`, which has an arm block."""

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
    """The head of a mixture, which has no arm block."""

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
