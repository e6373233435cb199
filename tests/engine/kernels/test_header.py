"""The words of a member's header: no two share an entry, and the limits fit each other."""

import math

from support.kernel_cases import numbers_of

from hsb.engine.kernels import header as h

KINDS = {"DENSE", "COMPRESSED", "INTERVALS", "GRAPH", "ONE_OF", "ADVISOR", "HEAD", "ENSEMBLE", "GIVEN"}
STATUSES = {"DONE", "DUE", "SHORT", "BROKEN"}
LIMITS = {"SMALL", "FEW", "BLOCK", "HEADER", "REST"}


def test_each_word_kind_and_status_has_a_number_of_its_own():
    numbers = numbers_of(h)
    words = [value for name, value in numbers.items() if name not in KINDS | STATUSES | LIMITS]
    assert sorted(words) == list(range(12))  # the words from 12 on are those of the kinds
    assert sorted(numbers[name] for name in KINDS) == list(range(1, 10))
    assert [numbers[name] for name in ("DONE", "DUE", "SHORT", "BROKEN")] == [0, 1, 2, 3]  # compared by size


def test_the_smallest_weights_stay_in_the_range_of_a_double():
    assert math.log(h.ARM_TINY) == h.LOG_ARM_TINY and math.log(h.BASE) == h.LOG_BASE
    assert h.OPTION_TINY * h.BASE == 1.0
    assert h.ARM_LOW * math.exp(-h.STEP) > h.ARM_TINY  # a step from the lowest total does not hide its largest weight
    assert math.inf > h.ARM_HIGH * h.ARM_HIGH
