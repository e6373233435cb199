"""Words that are forgotten: a row of the stream has hashes of them under the policy's secret, and every fold replaces what has such a hash."""

import hashlib
from collections.abc import Callable, Iterable

PERSON = b"hsb forgotten"


def hash_of(secret: bytes, word: str) -> str:
    """What stands for a word: nobody without the secret can tell which.

    >>> hash_of(b"secret" * 4, "alice") == hash_of(b"secret" * 4, "alice") != hash_of(b"Secret" * 4, "alice")
    True
    """
    return hashlib.blake2b(word.encode("utf-8", "surrogatepass"), key=secret, digest_size=16, person=PERSON).hexdigest()


def renaming(secret: bytes, hashes: Iterable[str]) -> Callable[[str, int], str | None]:
    """What words with these hashes are called instead.

    >>> rename = renaming(b"secret" * 4, [hash_of(b"secret" * 4, "alice")])
    >>> rename("bob", 0), rename("alice", 0) == rename("alice", 0) != rename("alice", 1), rename("alice", 0)[16:]
    (None, True, ' (forgotten)')
    """
    known = frozenset(hashes)

    def rename(word: str, tries: int) -> str | None:
        found = hash_of(secret, word)
        if found not in known:
            return None
        return hashlib.blake2b(f"{found} {tries}".encode(), digest_size=8).hexdigest() + " (forgotten)"

    return rename
