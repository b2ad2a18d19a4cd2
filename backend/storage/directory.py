"""The data directory: whose it is, in what format, and that one process at a time uses it.

Rules:

* a directory that is missing or empty becomes ours; any other must hold our marker, or it is refused;
* what is refused stays as it was, byte for byte, and the refusal is one line for a person;
* the marker says `new` until everything else is in place: what a start that was cut short left behind has
  never acknowledged anything, and is made anew;
* the lock is the operating system's, on the directory itself: it ends with the process, however that ends.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import orjson

FORMAT = 2
MARKER = "daxsim.json"
_NEXT_MARKER = "daxsim.json.next"


class DirectoryRefused(Exception):
    """A data directory that cannot be used, and why, in one line."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"the data directory {path} {why}")


class DataDirectory:
    """A directory, locked. `is_new`: nothing has ever been kept in it."""

    def __init__(self, path: Path) -> None:
        """Raises DirectoryRefused."""
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._descriptor = _lock(path)
        except FileExistsError as failure:
            raise DirectoryRefused(path, "is no directory") from failure
        except OSError as failure:
            raise DirectoryRefused(path, f"cannot be used: {failure.strerror}") from failure
        try:
            self.is_new = self._recognise()
        except OSError as failure:
            self.close()
            raise DirectoryRefused(path, f"cannot be used: {failure.strerror}") from failure
        except DirectoryRefused:
            self.close()
            raise

    def _recognise(self) -> bool:
        names = set(os.listdir(self.path))
        if MARKER not in names:
            if names - {_NEXT_MARKER}:
                raise DirectoryRefused(self.path, "is not empty and not daxsim's; give an empty or a new one")
            self._mark("new")
            return True
        marker = self._marker()
        if marker.get("format") != FORMAT:
            raise DirectoryRefused(
                self.path,
                f"has format {marker.get('format')}, and this daxsim reads format {FORMAT}: "
                "use the daxsim that made it, or give an empty or a new one",
            )
        return marker.get("state") == "new"

    def _marker(self) -> dict[str, Any]:
        try:
            marker = orjson.loads((self.path / MARKER).read_bytes())
        except ValueError:
            marker = None
        if not isinstance(marker, dict) or marker.get("daxsim") != "data directory":
            raise DirectoryRefused(self.path, f"is damaged: {MARKER} is not what daxsim wrote")
        return marker

    def mark_ready(self) -> None:
        """From now on what is in the directory counts."""
        self._mark("ready")
        self.is_new = False

    def _mark(self, state: str) -> None:
        written = self.path / _NEXT_MARKER
        with written.open("wb") as file:
            file.write(orjson.dumps({"daxsim": "data directory", "format": FORMAT, "state": state}) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        written.replace(self.path / MARKER)
        os.fsync(self._descriptor)

    def close(self) -> None:
        """Give the lock back. Closing twice is harmless."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _lock(path: Path) -> int:
    try:
        import fcntl
    except ImportError:
        raise DirectoryRefused(path, "cannot be locked: this system has no fcntl") from None
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise DirectoryRefused(path, "is in use by another process") from None
    return descriptor
