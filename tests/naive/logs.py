"""Slow, simple versions of the readers, of the writers and of replay."""

import re

import numpy as np

NUMBER = r"(?:0|[1-9][0-9]{0,17})"
DECIMAL = r"-?[0-9]+(?:\.[0-9]+)?"


def parse_line(line, r6a):
    """Return (time, shown, click, context, pool) of one line without its newline; None if it is malformed."""
    label = NUMBER if r6a else f"id-{NUMBER}"
    line = line.removesuffix("\r")
    result = re.fullmatch(rf" *({NUMBER}) +({label}) +([01]) +\|user((?: +[^ |\r]+)*) *((?:\|[^|]*)*)", line)
    if not result or (result[5] and not re.search(r" \|", line[line.index("|user") :])):
        return None
    features = result[4].split()
    context = np.full(6 if r6a else 136, np.nan)
    for word in features:
        pair = re.fullmatch(rf"({NUMBER}):({DECIMAL})" if r6a else f"({NUMBER})()", word)
        if not pair or not 1 <= int(pair[1]) <= len(context):
            return None
        if r6a and not is_short(pair[2]):
            return None
        if r6a and not np.isnan(context[int(pair[1]) - 1]):
            return None
        context[int(pair[1]) - 1] = float(pair[2]) if r6a else 1.0
    pool = []
    pieces = result[5].split("|")[1:]
    for k, piece in enumerate(pieces):
        words = re.fullmatch(rf"({label})((?: +{NUMBER}:{DECIMAL})*)( *)" if r6a else rf"({label})()( *)", piece)
        if not words or (k < len(pieces) - 1 and not piece.endswith(" ")):
            return None
        if not all(is_short(word.split(":")[1]) for word in words[2].split()):
            return None
        pool.append(words[1])
    if not features or not pool or len(set(pool)) < len(pool) or result[2] not in pool:
        return None
    return int(result[1]), result[2], int(result[3]), np.nan_to_num(context), pool


def is_short(word):
    digits = re.sub(r"[-.]", "", word)
    return len(digits) <= 18 and int(digits) < 2**53


def parse(data, r6a):
    """The rows of a file's bytes and the numbers of its malformed lines."""
    lines = data.decode("latin-1").split("\n")
    if lines[-1] == "":
        lines.pop()
    rows = [parse_line(line, r6a) for line in lines]
    return [row for row in rows if row is not None], [k + 1 for k, row in enumerate(rows) if row is None]


def rows_of(batches):
    """The same of batches."""
    return [
        (
            int(batch.timestamp[i]),
            batch.arms[batch.arm[i]],
            int(batch.reward[i]),
            batch.contexts[i],
            {batch.arms[a] for a in batch.pools[batch.pool[i]]},
            float(batch.propensity[i]),
        )
        for batch in batches
        for i in range(len(batch))
    ]


def format_row(row, r6a):
    """A line, newline included."""
    time, shown, click, context, pool, _ = row
    words = [f"{k}:{context[k - 1]:.6f}" for k in (2, 3, 4, 5, 6, 1)] if r6a else [str(k + 1) for k in range(136) if context[k]]
    user = " ".join(words)
    end = " 1:1.000000" if r6a else ""
    return f"{time} {shown} {click} |user {user}" + "".join(f" |{arm}{end}" for arm in pool) + "\n"


def replay(policy, batches, context=lambda row: row):
    """Algorithm 2 with decide and learn: events seen, matched, sum of rewards."""
    seen = matched = 0
    total = 0.0
    for batch in batches:
        for i in range(len(batch)):
            available = [batch.arms[a] for a in batch.pools[batch.pool[i]]]
            for arm in available:
                if arm not in policy.arms:
                    policy.add_arm(arm)
            seen += 1
            decision = policy.decide(context(batch.contexts[i]), available=available)
            if decision.arm == batch.arms[batch.arm[i]]:
                policy.learn(decision, reward=float(batch.reward[i]))
                matched += 1
                total += float(batch.reward[i])
    return seen, matched, total
