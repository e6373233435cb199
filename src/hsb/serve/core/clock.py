"""A wall clock that is trusted while it keeps step with a monotonic clock."""

from .messages import Now

MOST = 5 * 60 * 1_000_000  # microseconds by which the two clocks may differ


class Clock:
    """Hold deadlines while the wall clock is more than five minutes off, until it returns or is confirmed.

    Rows written meanwhile get the time without the jump, so no decision closes early once the clock is set right.

    >>> clock = Clock(Now(1_000_000_000, 0), last=0)
    >>> clock.see(Now(1_060_000_000, 60_000_000)), clock.see(Now(90_000_000_000, 61_000_000)), clock.see(Now(1_062_000_000, 62_000_000))
    (False, True, False)
    """

    def __init__(self, now: Now, last: int) -> None:
        self.apart = now.wall - now.mono
        self.back = max(0, last - now.wall)  # how far the clock is behind the last row of the journal
        self.held = self.back > MOST

    def see(self, now: Now) -> bool:
        """Read the clocks. Returns whether deadlines are held."""
        self.held = abs(now.wall - now.mono - self.apart - self.back) > MOST
        return self.held

    def time(self, now: Now) -> int:
        """Return the time: of the wall clock or, while that is not trusted, of the monotonic one counted from before the jump."""
        return now.mono + self.apart + self.back if self.held else now.wall

    def confirm(self, now: Now) -> None:
        """Trust the wall clock from now on."""
        self.apart, self.back, self.held = now.wall - now.mono, 0, False
