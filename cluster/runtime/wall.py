"""The time of the world outside, whatever a cluster's own clock has been set to.

Signatures and certificates are dated by others, who know nothing of a clock that an experiment has put
forward.
"""

from __future__ import annotations

import time
from collections.abc import Callable

wall_time: Callable[[], float] = time.time
"""Seconds since the epoch."""
