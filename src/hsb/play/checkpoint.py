"""Where a replay is: in a file, so that one that was stopped goes on."""

import io
import json
import math
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FileError, InputError, quoted
from ..files import policy_file
from ..logs import Batch
from ..policy import Policy
from ..policy.copying import adopt
from ..types import Floats
from .batches import Play
from .seen import Seen, context_digest, policy_digest

FORMAT, VERSION = "hsb-replay", 3
ROUNDING = 1.0 + 1e-9


@dataclass
class Progressed:
    """Events seen, those passed over to make the log fair, and the sum of all rewards."""

    rounds: int = 0
    rejected: int = 0
    logged: float = 0.0


class Checkpoint:
    """A zip with a JSON header and every policy as `hsb.load` reads it; written whole or not at all.

    It says by digest what the policies were when the replay began, how contexts are encoded and what was read of the log: another policy,
    another encoding, another seed or another log is refused. So is a file that was changed.
    """

    def __init__(
        self,
        path: Path,
        every: int,
        policies: Mapping[str, Policy],
        options: dict[str, Any],
        context: Callable[[Floats], Any] | None = None,
    ) -> None:
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise InputError(f"every must be a whole number of events, at least 1; given {quoted(every)}.")
        if not path.parent.is_dir():
            raise InputError(f"There is no folder {path.parent} for the checkpoint. Make it first.")
        if path.exists() and not path.is_file():
            raise InputError(f"A checkpoint is a file; {path} is something else. Give another path.")
        self.path, self.every = path, every
        self.begun: dict[str, Any] = {**options, "context": context_digest(context)}
        self.begun["policies"] = {str(name): policy_digest(each) for name, each in policies.items()}
        self.seen = Seen(context)
        self.at = Progressed()  # where the file is
        self.read = ""  # the digest of what was read of the log until there
        self.last = 0
        self._before: list[tuple[Policy, bytes, dict[str, Any]]] = []

    def resume(self, plays: Mapping[str, Play], thinning: np.random.Generator) -> Progressed:
        """Take over what the file holds, if there is one."""
        if not self.path.exists():
            return Progressed()
        try:
            header, packed = _opened(self.path.read_bytes())
            if header["begun"] != self.begun:
                raise FileError(
                    f"{self.path} is the checkpoint of a replay that began with another policy, encoding, seed or floor. "
                    "Begin as that one did, or remove the file."
                )
            at, drawn = _at(header["at"]), _drawn(header["thinning"])
            if len(packed) != len(plays):
                raise ValueError("it does not hold a policy for each")
            found = [
                _policy(data, play, at, header["sums"][name]) for data, (name, play) in zip(packed, plays.items(), strict=True)
            ]
            self.read = str(header["read"])
        except policy_file.DAMAGE as error:
            if isinstance(error, FileError) and str(self.path) in str(error):
                raise
            raise FileError(f"{self.path} is not a whole checkpoint ({error}). Remove it to begin anew.") from error
        self._before = [(play.policy, policy_file.pack(play.policy), _asked(play.policy)) for play in plays.values()]
        for play, policy in zip(plays.values(), found, strict=True):
            adopt(play.policy, policy)
        for name, play in plays.items():
            play.matched, play.total, play.squares = header["sums"][name]
        thinning.bit_generator.state = drawn
        self.at, self.last = at, at.rounds
        return Progressed(**asdict(at))

    def rest(self, log: Iterable[Batch]) -> Iterator[tuple[Batch, str]]:
        """The batches that are still to come, each with the digest of all until its end. Those before must be what was read then."""
        left, is_same, logged = self.at.rounds, not self.at.rounds, 0.0
        for batch in log:
            if left > 0:
                logged += float(batch.reward[:left].sum())
                self.seen.add(batch.take(slice(left)))
                left, batch = left - len(batch), batch.take(slice(left, None))
                if left > 0:
                    continue
                is_same = self.seen.digest() == self.read and math.isclose(logged, self.at.logged, rel_tol=1e-9, abs_tol=1e-9)
                if not is_same:
                    break
            self.seen.add(batch)
            yield batch, self.seen.digest()
        if not is_same:
            for policy, packed, given in self._before:  # as if nothing had been taken over
                adopt(policy, policy_file.unpack(packed, given))
            raise FileError(f"{self.path} is the checkpoint of a replay of another log. Give that one, or remove the file.")

    def write(self, plays: Mapping[str, Play], thinning: np.random.Generator, at: Progressed, read: str) -> None:
        """Keep where the replay is, if it is time. `read` is the digest of the log until here."""
        if at.rounds - self.last < self.every:
            return
        header = {
            "format": FORMAT,
            "version": VERSION,
            "begun": self.begun,
            "at": asdict(at),
            "read": read,
            "sums": {name: [play.matched, play.total, play.squares] for name, play in plays.items()},
            "thinning": policy_file.plain(thinning.bit_generator.state),
        }
        packed = [policy_file.pack(play.policy) for play in plays.values()]
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("header.json", json.dumps(header | {"digest": _digest(header, packed)}))
            for k, data in enumerate(packed):
                archive.writestr(f"{k}.hsb", data)
        policy_file.write_atomically(self.path, buffer.getvalue())
        self.last = at.rounds

    def remove(self) -> None:
        """The replay is over."""
        self.path.unlink(missing_ok=True)


def _digest(header: dict[str, Any], packed: list[bytes]) -> str:
    total = blake2b(json.dumps(header, sort_keys=True).encode(), digest_size=16)
    for data in packed:
        total.update(blake2b(data, digest_size=16).digest())
    return total.hexdigest()


def _opened(data: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """The header and the policies' files. Nothing in a checkpoint is compressed, so it gives no more than it takes."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        listed = {entry.filename: entry for entry in archive.infolist()}
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in listed.values()):
            raise ValueError("an entry is compressed")
        header = json.loads(archive.read("header.json"))
        if not isinstance(header, dict) or header["format"] != FORMAT or header["version"] != VERSION:
            raise ValueError("of another kind or another version")
        packed = [archive.read(f"{k}.hsb") for k in range(len(listed) - 1)]
    if header.pop("digest") != _digest(header, packed):
        raise ValueError("its digest is another: it was changed")
    return header, packed


def _at(given: Any) -> Progressed:
    if set(given) != set(Progressed.__dataclass_fields__):
        raise ValueError("its counts are none")
    at = Progressed(**given)
    counts = type(at.rounds) is int and type(at.rejected) is int and 0 <= at.rejected <= at.rounds
    if not counts or not isinstance(at.logged, float) or not math.isfinite(at.logged):
        raise ValueError("its counts are none")
    return at


def _policy(data: bytes, play: Play, at: Progressed, sums: Any) -> Policy:
    """The policy as it was then: what `play`'s would be after `sums`."""
    before = play.policy
    matched, total, squares = sums
    if type(matched) is not int or not 0 <= matched <= at.rounds - at.rejected:
        raise ValueError("its sums cannot be")
    if not all(isinstance(each, float) and math.isfinite(each) for each in (total, squares)):
        raise ValueError("its sums are not finite")
    if squares < 0.0 or total * total > matched * squares * ROUNDING or (not matched and (total or squares)):
        raise ValueError("its sums cannot be")
    policy = policy_file.unpack(data, _asked(before))
    if type(policy) is not type(before) or policy.arms[: len(before.arms)] != before.arms:
        raise ValueError("it holds another policy")
    if _given(policy) != _given(before):
        raise ValueError("it holds another policy")
    if policy.rounds != before.rounds + matched:
        raise ValueError("its policy has learned another number of rounds")
    return policy


def _given(policy: Policy) -> str:
    """The settings that a policy was made with."""
    changing = policy.learner.changing_settings
    return json.dumps({name: value for name, value in policy.settings().items() if name not in changing}, sort_keys=True)


def _asked(policy: Policy) -> dict[str, Any]:
    """What a policy's file cannot hold."""
    return {name: getattr(policy, name) for name in policy.load_arguments}


def _drawn(given: Any) -> dict[str, Any]:
    """The state of the generator that thins: whole numbers, and nothing else."""
    inner = given["state"]
    numbers = (inner["state"], inner["inc"], given["has_uint32"], given["uinteger"])
    if given["bit_generator"] != "PCG64" or not all(type(number) is int and number >= 0 for number in numbers):
        raise ValueError("its random generator is none")
    generator = np.random.PCG64()
    generator.state = given
    return dict(generator.state)
