"""Generators of bad logs: mutated lines of every format, damaged and forged Parquet files, bombs. Each returns the number tried."""

import gzip
import json
import time
from collections import Counter
from contextlib import suppress
from hashlib import blake2b

import numpy as np

import hsb
import hsb.logs
from hsb.logs import Batch
from hsb.logs.formats.native_checks import digest

ALLOWED = (hsb.FileError, hsb.InputError)


def batch(rng, n, d=3, m=4, binary=False, uniform=False, times=True, arms=None):
    """A batch with pools of all kinds."""
    available = rng.random((n, m)) < 0.6
    arm = rng.integers(0, m, n)
    available[np.arange(n), arm] = True
    available[np.arange(n), (arm + 1) % m] = True
    return Batch.of(
        contexts=rng.integers(0, 2, (n, d)) if binary else rng.normal(size=(n, d)).round(3),
        arm=arm,
        reward=rng.random(n).round(3),
        propensity=1 / available.sum(axis=1) if uniform else rng.uniform(0.1, 1.0, n).round(3),
        available=available,
        timestamp=1.7e9 + np.arange(n) if times else None,
        arms=arms or [f"a{k}" for k in range(m)],
    )


def told(batches):
    """Return the content of batches row by row, however they are cut."""
    return [
        (
            one.contexts[i].tobytes(),
            one.arms[one.arm[i]],
            one.reward[i],
            one.propensity[i],
            str(one.timestamp[i]),
            available(one, i),
        )
        for one in batches
        for i in range(len(one))
    ]


def available(one, i):
    """Return the available arms of row i of a batch."""
    return tuple(one.arms[k] for k in one.pools[one.pool[i]])


def sound(batches):
    """Check that `Batch.of` would build every batch."""
    for one in batches:
        assert np.isfinite(one.contexts).all() and np.isfinite(one.reward).all()
        assert ((one.propensity > 0) & (one.propensity <= 1)).all()
        assert not len(one) or (one.arm.min() >= 0 and one.arm.max() < len(one.arms) and one.pool.max() < len(one.pools.sizes))
        for k in range(len(one.pools.sizes)):
            pool = one.pools[k]
            assert len(pool) and (np.diff(pool) > 0).all() and pool[0] >= 0 and pool[-1] < len(one.arms)
        assert one.available[np.arange(len(one)), one.arm].all()


def mutated(rng, raw: bytes, words: list[bytes]) -> bytes:
    """Return the bytes with one to three changes: flipped, cut, doubled, moved, or with something nasty inserted."""
    data = bytearray(raw)
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(0, max(1, len(data))))
        size = int(rng.integers(1, 12))
        kind = rng.integers(0, 8)
        if kind == 0 and data:
            data[at % len(data)] ^= 1 << int(rng.integers(0, 8))
        elif kind == 1:
            data[at : at + size] = b""
        elif kind == 2:
            data[at:at] = data[at : at + size]
        elif kind == 3:
            data[at:at] = words[int(rng.integers(0, len(words)))]
        elif kind == 4:
            data[at : at + size] = words[int(rng.integers(0, len(words)))]
        elif kind == 5:
            data[at : at + size] = rng.bytes(size)
        elif kind == 6:
            del data[at:]
        else:
            other = int(rng.integers(0, max(1, len(data))))
            data[other:other] = data[at : at + size]
    return bytes(data)


# -- Parquet -------------------------------------------------------------------------------------------------------------


def parquet_files(rng, folder):
    """Return small files of all kinds, and their content."""
    values = {}
    for name, options in {
        "binary": {"binary": True, "uniform": True, "d": 20},
        "numbers": {"uniform": True},
        "skewed": {"times": False, "m": 7},
        "one": {"d": 1, "m": 2, "arms": [1, 2.5]},
    }.items():
        path = folder / f"{name}.parquet"
        hsb.logs.write(path, [batch(rng, 40, **options), batch(rng, 25, **options)], "parquet")
        values[name] = path.read_bytes(), told(hsb.logs.open(path))
    return values


def parquet_storm(seed, count, folder):
    """Try damaged files: each is read unchanged, or raises an error."""
    rng = np.random.default_rng(seed)
    files, path, outcome = parquet_files(rng, folder), folder / "damaged.parquet", Counter()
    for i in range(count):
        name = list(files)[i % len(files)]
        raw, right = files[name]
        data = bytearray(raw)
        for _ in range(rng.integers(1, 4)):
            at, size, kind = int(rng.integers(0, len(data))), int(rng.integers(1, 9)), rng.integers(0, 5)
            if kind <= 1:
                data[at] ^= 1 << int(rng.integers(0, 8))
            elif kind == 2:
                data[at : at + size] = rng.bytes(len(data[at : at + size]))
            elif kind == 3:
                data[at : at + size] = bytes(len(data[at : at + size]))
            else:
                other = int(rng.integers(0, len(data) - size))
                data[at : at + size] = data[other : other + len(data[at : at + size])]
        path.write_bytes(data)
        try:
            result = told(hsb.logs.open(path))
        except ALLOWED as error:
            outcome[type(error).__name__] += 1
        else:
            assert result == right, f"seed {seed}, file {i} ({name}) was read with other data"
            outcome["equal"] += 1
    return outcome


FORGED = {
    "features": [0, -1, 1.5, True, None, "3", 10**9, 10**400, [3], 4],
    "uniform": [1.5, "yes", [True], {}, 7],
    "arms": [None, 5, {}, ["a"], ["a", "a", "b", "c"], [["a"]] * 4, [None] * 4, [float("nan"), 1, 2, 3], [{}] * 4],
    "version": [0, 1, 3, None, "2", 1.5, [1]],
    "rows": [0, -1, 31, None, "30", 1.5, True],
    "groups": [None, [], "x", 3, [None], [1, 2]],
}


def parquet_forgeries(seed, count, folder):
    """Well-formed files whose columns or footers lie, and whose digests are right for that: sound batches, or refused."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, path, outcome = np.random.default_rng(seed), folder / "forged.parquet", Counter()
    hsb.logs.write(path, [batch(rng, 30)], "parquet")
    table, facts = pq.read_table(path), json.loads(pq.ParquetFile(path).metadata.metadata[b"hsb"])
    del facts["digest"]
    for i in range(count):
        answer, changed = dict(facts), table
        if i % 3 == 0:
            key = list(FORGED)[int(rng.integers(0, len(FORGED)))]
            answer[key] = FORGED[key][int(rng.integers(0, len(FORGED[key])))]
        elif i % 3 == 1:
            changed = _forged_column(pa, rng, table)
        else:
            answer["uniform"] = True
            changed = _forged_column(pa, rng, table)
        if changed is not table:
            with suppress(ValueError, TypeError, AttributeError, OverflowError, pa.ArrowException):  # of what has no digest
                answer["groups"] = [digest(changed, facts["features"])]
        answer["digest"] = blake2b(json.dumps(answer, sort_keys=True).encode(), digest_size=16).hexdigest()
        pq.write_table(changed.replace_schema_metadata({"hsb": json.dumps(answer)}), path)
        try:
            sound(hsb.logs.open(path))
        except ALLOWED as error:
            outcome[type(error).__name__] += 1
        else:
            outcome["sound"] += 1
    return outcome


def _forged_column(pa, rng, table):
    name = table.schema.names[int(rng.integers(0, len(table.schema.names)))]
    index, kind = table.schema.get_field_index(name), table.schema.field(name).type
    values = table[name].to_pylist()
    for _ in range(rng.integers(1, 4)):
        i = int(rng.integers(0, len(values)))
        nasty = {
            "arm": [0, 1, 2, 3, -1, 4, 2**31 - 1, None],
            "pool": [0, 1, -1, 999, 2**31 - 1, None],
            "offers": [[], None, [0, 0], [1, 0], [0, 9], [-1], [None], [0], [0, 1, 2, 3]],
            "bits": [None, b"\xff"],
            "contexts": [None, [float("nan")] * 3, [1e308] * 3, [None] * 3],
        }.get(name, [0.0, -1.0, 2.0, float("nan"), float("inf"), None, 5e-324])
        values[i] = nasty[int(rng.integers(0, len(nasty)))]
    if rng.random() < 0.2:
        kind, values = [(pa.string(), ["x"] * len(values)), (pa.int64(), [1] * len(values)), (pa.null(), [None] * len(values))][
            int(rng.integers(0, 3))
        ]
    return table.set_column(index, pa.field(name, kind), pa.array(values, kind))


# -- lines ---------------------------------------------------------------------------------------------------------------

TABLE = {"context": ["x", "y"], "arm": "shown", "propensity": "p", "reward": "r"}
WORDS = [
    b"\n",
    b"\r",
    b"\0",
    b'"',
    b"'",
    b",",
    b"|",
    b":",
    b" ",
    b"-1",
    b"0",
    b"1e999",
    b"nan",
    b"NaN",
    b"inf",
    b"1_0",
    b"\xff",
    b"\xef\xbb\xbf",
]
WORDS += [
    b"{",
    b"}",
    b"[",
    b"]",
    b"null",
    b"true",
    b"1e-320",
    b"99999999999999999999999",
    b"\xe2\x80\xa8",
    b"id-4",
    b"|user",
    b"\\ud800",
    b"[" * 200,
]


def text_files(rng, folder):
    """Return a good file of every text format: its lines, and the function that opens it."""
    values = {}
    small = batch(rng, 60, d=3, m=4)
    for format in ("vw", "dsjson"):
        hsb.logs.write(folder / f"good.{format}", [small], format)
        values[format] = (folder / f"good.{format}").read_bytes().splitlines(keepends=True), {"format": format}
    six = batch(rng, 60, d=6, m=5, uniform=True, arms=[str(k) for k in range(100, 105)])
    six = Batch.of(contexts=six.contexts, arm=six.arm, reward=six.reward.round(), propensity=six.propensity, arms=six.arms,
                   available=six.available, timestamp=six.timestamp)  # fmt: skip
    hsb.logs.write(folder / "good.r6a", [six], "yahoo-r6a")
    values["yahoo-r6a"] = (folder / "good.r6a").read_bytes().splitlines(keepends=True), {"format": "yahoo-r6a"}
    hsb.logs.write(folder / "good.r6b", hsb.logs.SyntheticToday(40, seed=3), "yahoo-r6b")
    values["yahoo-r6b"] = (folder / "good.r6b").read_bytes().splitlines(keepends=True), {"format": "yahoo-r6b"}
    rows = [f"{i},{a:.3f},{b:.3f},a{k},{p:.2f},{r},a0|a1|a2,2026-01-0{1 + i % 9}\n" for i, (a, b, k, p, r) in enumerate(
        zip(rng.normal(size=60), rng.normal(size=60), rng.integers(0, 3, 60), rng.uniform(0.1, 1, 60), rng.integers(0, 2, 60), strict=True)
    )]  # fmt: skip
    options = TABLE | {"available": "offer", "timestamp": "t", "id": "id", "format": "csv"}
    values["csv"] = [b"id,x,y,shown,p,r,offer,t\n", *(row.encode() for row in rows)], options
    users = ",".join(f"user_feature_{k}" for k in range(4))
    rows = [f"2019-11-24 00:00:0{i % 10}+00:00,{i % 7},1,0,0.25,{i % 3},b{i % 2},c,d\n" for i in range(60)]
    head = f"timestamp,item_id,position,click,propensity_score,{users}\n"
    values["obd"] = [head.encode(), *(row.encode() for row in rows)], {"format": "obd"}
    return values


def line_storm(seed, count, folder):
    """Files of about 60 lines of which most are mutated: sound batches, problems, or refused; nothing else, and never slowly."""
    rng, outcome, slowest = np.random.default_rng(seed), Counter(), 0.0
    files, done = text_files(rng, folder), 0
    while done < count:
        for name, (lines, options) in files.items():
            skip = 1 if name in ("csv", "obd") else 0
            new = [*lines[:skip], *(mutated(rng, line, WORDS) if rng.random() < 0.7 else line for line in lines[skip:])]
            path = folder / f"mutated.{name}"
            path.write_bytes(b"".join(new))
            begin = time.perf_counter()
            try:
                log = hsb.logs.open(path, **options)
                results = list(log)
            except ALLOWED as error:
                outcome[f"{name} {type(error).__name__}"] += 1
            else:
                sound(results)
                outcome[f"{name} rows"] += sum(map(len, results))
                outcome[f"{name} problems"] += len(log.problems)
            slowest = max(slowest, time.perf_counter() - begin)
            done += len(new) - skip
    assert slowest < 20.0
    return outcome | Counter(lines=done)


# -- bombs ---------------------------------------------------------------------------------------------------------------


def bombs(folder, size):
    """Compressed files that give `size` bytes each: name, path, how it is opened."""
    lines = {"newlines": b"\n", "spaces": b" \n", "words": b"x\n", "one line": b"x", "quotes": b'"\n', "zeros": b"\0"}
    for name, piece in lines.items():
        path = folder / f"{name.replace(' ', '_')}.gz"
        with gzip.open(path, "wb", compresslevel=9) as file:
            file.write(b"id,x,y,shown,p,r\n")
            block = piece * ((1 << 20) // len(piece))
            for _ in range(size >> 20):
                file.write(block)
        for format in ("yahoo-r6b", "dsjson", "vw", "csv"):
            yield f"{name}, {format}", path, {"format": format} | (TABLE if format == "csv" else {})
