"""Where the `daxsim` program begins: it imports nothing yet, so that Ctrl-C finds it ready from the start."""

from __future__ import annotations

import sys


def main() -> None:
    """The console script: run the command line and exit."""
    try:
        from cluster.cli.main import run
    except KeyboardInterrupt:
        print("\ndaxsim: interrupted", file=sys.stderr)
        sys.exit(130)
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
