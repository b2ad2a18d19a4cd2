"""What holds for every test: a busy machine is no failure, so hypothesis judges results and not time."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("daxsim", deadline=None)
settings.load_profile("daxsim")
