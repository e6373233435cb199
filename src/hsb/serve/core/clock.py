"""A wall clock that is believed while it keeps step with one that never jumps."""

from .messages import Now

MOST = 5 * 60 * 1_000_000  # microseconds by which the two may part


class Clock:
    """Holds deadlines while the wall clock is more than five minutes from where it should be, until it is back or confirmed.

    What is written meanwhile has the time that it would be without the jump, so that nothing closes early when the clock is put right.

    >>> clock = Clock(Now(1_000_000_000, 0), last=0)
    >>> clock.see(Now(1_060_000_000, 60_000_000)), clock.see(Now(90_000_000_000, 61_000_000)), clock.see(Now(1_062_000_000, 62_000_000))
    (False, True, False)
    """

    def __init__(self, now: Now, last: int) -> None:
        self.apart = now.wall - now.mono
        self.back = max(0, last - now.wall)  # it is behind the journal, whose last row says when it was written
        self.held = self.back > MOST

    def see(self, now: Now) -> bool:
        """Are deadlines held at this moment?"""
        self.held = abs(now.wall - now.mono - self.apart - self.back) > MOST
        return self.held

    def time(self, now: Now) -> int:
        """What time it is: by the wall clock, or, while that is not believed, by the other one from where it was."""
        return now.mono + self.apart + self.back if self.held else now.wall

    def confirm(self, now: Now) -> None:
        """The wall clock is right."""
        self.apart, self.back, self.held = now.wall - now.mono, 0, False
