"""Checkpoints of a replay: its progress in a file, so that an interrupted replay can resume."""

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
from .seen import LogDigest, context_digest, policy_digest

FORMAT, VERSION = "hsb-replay", 3
ROUNDING = 1.0 + 1e-9


@dataclass
class ReplayProgress:
    """Events seen, events skipped to thin the log (`rejected`), and the sum of all rewards (`logged`)."""

    rounds: int = 0
    rejected: int = 0
    logged: float = 0.0


class Checkpoint:
    """A zip file with a JSON header and every policy as `hsb.load` reads it; written whole or not at all.

    It holds digests of the policies at the start of the replay, of the encoding of contexts, and of the rows read. `resume` raises `FileError`
    for another policy, encoding, seed or log, and for a file that was changed.
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
            raise InputError(f"The checkpoint {path} exists and is not a file. Give another path.")
        self.path, self.every = path, every
        self.begun: dict[str, Any] = {**options, "context": context_digest(context)}
        self.begun["policies"] = {str(name): policy_digest(policy) for name, policy in policies.items()}
        self.seen = LogDigest(context)
        self.at = ReplayProgress()  # the progress in the file
        self.read = ""  # the digest of the rows read until then
        self.last = 0
        self._before: list[tuple[Policy, bytes, dict[str, Any]]] = []

    def resume(self, plays: Mapping[str, Play], thinning: np.random.Generator) -> ReplayProgress:
        """Restore policies, sums and random numbers from the file, if there is one. Returns the progress."""
        if not self.path.exists():
            return ReplayProgress()
        try:
            header, packed = _unpack(self.path.read_bytes())
            if header["begun"] != self.begun:
                raise FileError(
                    f"{self.path} is the checkpoint of a replay with another policy, encoding, seed or floor. "
                    "Start with the same ones, or remove the file."
                )
            progress, drawn = _read_progress(header["at"]), _read_generator(header["thinning"])
            if len(packed) != len(plays):
                raise ValueError("its number of policies differs")
            restored = [
                _policy(data, play, progress, header["sums"][name])
                for data, (name, play) in zip(packed, plays.items(), strict=True)
            ]
            self.read = str(header["read"])
        except policy_file.DAMAGE as error:
            if isinstance(error, FileError) and str(self.path) in str(error):
                raise
            raise FileError(f"{self.path} is damaged or not a checkpoint ({error}). Remove it to start again.") from error
        self._before = [(play.policy, policy_file.pack(play.policy), _unsaved(play.policy)) for play in plays.values()]
        for play, policy in zip(plays.values(), restored, strict=True):
            adopt(play.policy, policy)
        for name, play in plays.items():
            play.matched, play.total, play.squares = header["sums"][name]
        thinning.bit_generator.state = drawn
        self.at, self.last = progress, progress.rounds
        return ReplayProgress(**asdict(progress))

    def rest(self, log: Iterable[Batch]) -> Iterator[tuple[Batch, str]]:
        """Yield the batches after the checkpoint, each with the digest of all rows up to its end. Raises `FileError` if earlier rows differ."""
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
            for policy, packed, unsaved in self._before:  # undo `resume`
                adopt(policy, policy_file.unpack(packed, unsaved))
            raise FileError(f"{self.path} is the checkpoint of a replay of another log. Give that log, or remove the file.")

    def write(self, plays: Mapping[str, Play], thinning: np.random.Generator, progress: ReplayProgress, read: str) -> None:
        """Write the `progress` if `every` events have passed since the last time. `read` is the digest of the log until here."""
        if progress.rounds - self.last < self.every:
            return
        header = {
            "format": FORMAT,
            "version": VERSION,
            "begun": self.begun,
            "at": asdict(progress),
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
        self.last = progress.rounds

    def remove(self) -> None:
        """Remove the file at the end of the replay."""
        self.path.unlink(missing_ok=True)


def _digest(header: dict[str, Any], packed: list[bytes]) -> str:
    total = blake2b(json.dumps(header, sort_keys=True).encode(), digest_size=16)
    for data in packed:
        total.update(blake2b(data, digest_size=16).digest())
    return total.hexdigest()


def _unpack(data: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """Return the header and the policies' files. No entry is compressed, so a forged file cannot expand."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        listed = {entry.filename: entry for entry in archive.infolist()}
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in listed.values()):
            raise ValueError("an entry is compressed")
        header = json.loads(archive.read("header.json"))
        if not isinstance(header, dict) or header["format"] != FORMAT or header["version"] != VERSION:
            raise ValueError("of another kind or another version")
        packed = [archive.read(f"{k}.hsb") for k in range(len(listed) - 1)]
    if header.pop("digest") != _digest(header, packed):
        raise ValueError("its digest does not match: it was changed")
    return header, packed


def _read_progress(stored: Any) -> ReplayProgress:
    if set(stored) != set(ReplayProgress.__dataclass_fields__):
        raise ValueError("its counts are not valid")
    progress = ReplayProgress(**stored)
    counts = type(progress.rounds) is int and type(progress.rejected) is int and 0 <= progress.rejected <= progress.rounds
    if not counts or not isinstance(progress.logged, float) or not math.isfinite(progress.logged):
        raise ValueError("its counts are not valid")
    return progress


def _policy(data: bytes, play: Play, progress: ReplayProgress, sums: Any) -> Policy:
    """Read the policy of `play` as it was at the checkpoint, and check that it fits the `sums` (matched, total, squares)."""
    before = play.policy
    matched, total, squares = sums
    if type(matched) is not int or not 0 <= matched <= progress.rounds - progress.rejected:
        raise ValueError("its sums are impossible")
    if not all(isinstance(each, float) and math.isfinite(each) for each in (total, squares)):
        raise ValueError("its sums are not finite")
    if squares < 0.0 or total * total > matched * squares * ROUNDING or (not matched and (total or squares)):
        raise ValueError("its sums are impossible")
    policy = policy_file.unpack(data, _unsaved(before))
    if type(policy) is not type(before) or policy.arms[: len(before.arms)] != before.arms:
        raise ValueError("it holds another policy")
    if _settings(policy) != _settings(before):
        raise ValueError("it holds another policy")
    if policy.rounds != before.rounds + matched:
        raise ValueError("its policy has learned a different number of rounds")
    return policy


def _settings(policy: Policy) -> str:
    """Return the settings that a policy was made with, without those that change as it learns."""
    changing = policy.learner.changing_settings
    return json.dumps({name: value for name, value in policy.settings().items() if name not in changing}, sort_keys=True)


def _unsaved(policy: Policy) -> dict[str, Any]:
    """Return the settings that a policy's file cannot hold."""
    return {name: getattr(policy, name) for name in policy.load_arguments}


def _read_generator(stored: Any) -> dict[str, Any]:
    """Check the state of the random generator that thins the log, and return it."""
    inner = stored["state"]
    numbers = (inner["state"], inner["inc"], stored["has_uint32"], stored["uinteger"])
    if stored["bit_generator"] != "PCG64" or not all(type(number) is int and number >= 0 for number in numbers):
        raise ValueError("its random generator is not valid")
    generator = np.random.PCG64()
    generator.state = stored
    return dict(generator.state)
