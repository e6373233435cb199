"""Argument types of a kernel, declared beside it: a word for each, as in `@kernel("D1 L1 C1 d")`.

A letter is a type: d float64, l int64, u uint64, b bool, c uint8, a int8, i int32. A capital with a number is an array of that many dimensions,
contiguous, or of any layout with a star behind. A name with words in brackets is a NamedTuple of that name in the kernel's module.
"""


def split(words: str) -> list[str]:
    """Return the words of a declaration; a NamedTuple with its brackets is one.

    >>> split("D1 Rounds(L2 d) l")
    ['D1', 'Rounds(L2 d)', 'l']
    """
    result, depth, begin = [], 0, 0
    for end, letter in enumerate(words + " "):
        depth += (letter == "(") - (letter == ")")
        if letter == " " and depth == 0:
            if end > begin:
                result.append(words[begin:end])
            begin = end + 1
    return result
