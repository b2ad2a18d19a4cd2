"""What `daxsim up` is told about keys and certificates: files in, settings out.

A credentials file is a JSON object of secret keys by access key id. A certificate is given as two PEM files,
or made and kept where the next start finds it again, so that a client that trusts it needs to be told once.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click
import orjson

from cluster.runtime.certificates import LOCAL_NAMES, ensure_certificate
from cluster.runtime.live import LiveClock

MADE_CERTIFICATES = Path.home() / ".daxsim"


def read_credentials(path: Path) -> Mapping[str, str]:
    """The secret keys by access key id. Raises BadParameter for a file that is not that."""
    try:
        parsed = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise click.BadParameter(f"{path}: {error}", param_hint="--credentials") from error
    if not isinstance(parsed, dict) or not parsed or not all(isinstance(key, str) for key in parsed.values()):
        raise click.BadParameter(
            f'{path} is not {{"access key id": "secret access key", ...}}', param_hint="--credentials"
        )
    return parsed


def made_certificate(host: str, advertise: str | None, directory: Path) -> tuple[str, str]:
    """The files of a certificate for this host, made in `directory` where there is none that serves."""
    names = dict.fromkeys((*LOCAL_NAMES, host, *((advertise,) if advertise else ())))
    try:
        certificate, key = ensure_certificate(directory, names, LiveClock().now())
    except OSError as error:
        raise click.ClickException(f"no certificate could be made in {directory}: {error}") from error
    return str(certificate), str(key)
