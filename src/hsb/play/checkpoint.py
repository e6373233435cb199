"""Where a replay is: in a file, so that one that was stopped goes on."""

import io
import json
import math
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .. import storage
from ..errors import FileError, InputError
from ..logs import Batch
from ..policy import Policy
from .batches import Play

FORMAT, VERSION = "hsb-replay", 1


@dataclass
class Progressed:
    """Events seen, those passed over to make the log fair, and the sum of all rewards."""

    rounds: int = 0
    rejected: int = 0
    logged: float = 0.0


class Checkpoint:
    """A zip with a JSON header and every policy as `hsb.load` reads it; written whole or not at all.

    It says what the policies were when the replay began: another policy, another seed or another log is refused.
    """

    def __init__(self, path: Path, every: int, policies: Mapping[str, Policy], options: dict[str, Any]) -> None:
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise InputError(f"every must be a whole number of events, at least 1; given {every!r}.")
        if not path.parent.is_dir():
            raise InputError(f"There is no folder {path.parent} for the checkpoint. Make it first.")
        self.path, self.every = path, every
        described = {name: storage.described(each) for name, each in policies.items()}
        self.begun = json.loads(json.dumps({**options, "policies": described}))
        self.at = Progressed()  # where the file is
        self.last = 0

    def resume(self, plays: Mapping[str, Play], thinning: np.random.Generator) -> Progressed:
        """Take over what the file holds, if there is one."""
        if not self.path.exists():
            return Progressed()
        try:
            with zipfile.ZipFile(io.BytesIO(self.path.read_bytes())) as archive:
                header = json.loads(archive.read("header.json"))
                if header["format"] != FORMAT or header["version"] > VERSION:
                    raise ValueError("of another kind or a newer version")
                if header["begun"] != self.begun:
                    raise FileError(
                        f"{self.path} is the checkpoint of a replay that began with another policy, seed or floor. "
                        "Begin as that one did, or remove the file."
                    )
                at = Progressed(**header["at"])
                for k, (name, play) in enumerate(plays.items()):
                    given = {asked: getattr(play.policy, asked) for asked in play.policy.asked_again}
                    play.policy.become(storage.unpack(archive.read(f"{k}.hsb"), given))
                    play.matched, play.total, play.squares = header["sums"][name]
                thinning.bit_generator.state = storage.from_plain(header["thinning"])
        except storage.DAMAGE as error:
            if isinstance(error, FileError):
                raise
            raise FileError(f"{self.path} is not a whole checkpoint ({error}). Remove it to begin anew.") from error
        self.at, self.last = at, at.rounds
        return Progressed(**asdict(at))

    def rest(self, log: Iterable[Batch]) -> Iterator[Batch]:
        """The batches that are still to come. Those before must have the rewards that were seen then."""
        left, logged = self.at.rounds, 0.0
        for batch in log:
            if left > 0:
                logged += float(batch.reward[:left].sum())
                left -= len(batch)
                if left <= 0 and not self._same(logged):
                    break
                if left < 0:
                    yield batch.take(slice(len(batch) + left, None))
            else:
                yield batch
        if left > 0 or not self._same(logged):
            raise FileError(f"{self.path} is the checkpoint of a replay of another log. Give that one, or remove the file.")

    def _same(self, logged: float) -> bool:
        """Are these the rewards seen then, but for rounding where batches are cut otherwise?"""
        return math.isclose(logged, self.at.logged, rel_tol=1e-9, abs_tol=1e-9)

    def write(self, plays: Mapping[str, Play], thinning: np.random.Generator, at: Progressed) -> None:
        """Keep where the replay is, if it is time."""
        if at.rounds - self.last < self.every:
            return
        header = {
            "format": FORMAT,
            "version": VERSION,
            "begun": self.begun,
            "at": asdict(at),
            "sums": {name: [play.matched, play.total, play.squares] for name, play in plays.items()},
            "thinning": storage.plain(thinning.bit_generator.state),
        }
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("header.json", json.dumps(header))
            for k, play in enumerate(plays.values()):
                archive.writestr(f"{k}.hsb", storage.pack(play.policy))
        storage.write_atomically(self.path, buffer.getvalue())
        self.last = at.rounds

    def remove(self) -> None:
        """The replay is over."""
        self.path.unlink(missing_ok=True)
