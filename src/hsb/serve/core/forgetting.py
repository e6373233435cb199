"""Forgotten words. A row of the stream holds their hashes under the policy's secret; every replay replaces words with such a hash."""

import hashlib
from collections.abc import Callable, Iterable

PERSON = b"hsb forgotten"


def hash_of(secret: bytes, word: str) -> str:
    """Return the hash of a word. Without the secret, nobody can find out the word.

    >>> hash_of(b"secret" * 4, "alice") == hash_of(b"secret" * 4, "alice") != hash_of(b"Secret" * 4, "alice")
    True
    """
    return hashlib.blake2b(word.encode("utf-8", "surrogatepass"), key=secret, digest_size=16, person=PERSON).hexdigest()


def renaming(secret: bytes, hashes: Iterable[str]) -> Callable[[str, int], str | None]:
    """Return a function that renames words with these hashes, and returns None for all others.

    >>> rename = renaming(b"secret" * 4, [hash_of(b"secret" * 4, "alice")])
    >>> rename("bob", 0), rename("alice", 0) == rename("alice", 0) != rename("alice", 1), rename("alice", 0)[16:]
    (None, True, ' (forgotten)')
    """
    known = frozenset(hashes)

    def rename(word: str, tries: int) -> str | None:
        hash = hash_of(secret, word)
        if hash not in known:
            return None
        return hashlib.blake2b(f"{hash} {tries}".encode(), digest_size=8).hexdigest() + " (forgotten)"

    return rename
