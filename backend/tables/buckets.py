"""Two ways of limiting a rate on the injected clock: units saved up for bursts, and units in each second.

Rules: asking changes nothing but the passing of time, taking is separate, so that a request over several
limits takes from all of them or from none. A request larger than a limit ever allows is admitted when the
limit is at its best, and is paid off afterwards: else it would never be.
"""

from __future__ import annotations

from math import floor

_EPSILON = 1e-9


class TokenBucket:
    """`rate` units a second; what is not used is kept for up to `seconds` seconds.

    A new bucket holds one second's units: nothing has been left unused yet.
    """

    __slots__ = ("_at", "level", "rate", "seconds")

    def __init__(self, rate: float, seconds: float, now: float) -> None:
        self.rate = rate
        self.seconds = max(seconds, 1.0)
        self.level = rate
        self._at = now

    def has(self, units: float, now: float) -> bool:
        """Whether that many units, or a whole second's, are there."""
        self._settle(now)
        return self.level + _EPSILON >= min(units, self.rate)

    def take(self, units: float) -> None:
        """Use units that `has` has seen; a large request leaves a debt."""
        self.level -= units

    def resize(self, rate: float, now: float) -> None:
        """Go on at another rate, with what has been saved as far as it fits."""
        self._settle(now)
        self.rate = rate
        self.level = min(max(self.level, rate), rate * self.seconds) if self.level >= 0 else self.level

    def _settle(self, now: float) -> None:
        elapsed = now - self._at
        if elapsed > 0:
            self.level = min(self.level + elapsed * self.rate, self.rate * self.seconds)
            self._at = now


class SecondWindow:
    """At most `limit` units in each whole second of the clock: nothing is saved up."""

    __slots__ = ("_second", "limit", "used")

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.used = 0.0
        self._second = 0

    def has(self, units: float, now: float) -> bool:
        """Whether that many units are left in this second, or nothing of it has been used."""
        second = floor(now)
        if second > self._second:
            self.used = max(0.0, self.used - self.limit * (second - self._second))
            self._second = second
        return self.used + units <= self.limit + _EPSILON or self.used <= 0

    def take(self, units: float) -> None:
        """Use units that `has` has seen; what is over the limit burdens the seconds that follow."""
        self.used += units
