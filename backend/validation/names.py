"""Names of tables and indexes.

Where an operation takes a table name it also takes the table's ARN, such as
`arn:aws:dynamodb:us-east-1:123456789012:table/users`.
Responses echo what the caller wrote; everything keyed by table uses `table_name`.
"""

from __future__ import annotations

import re

NAME_PATTERN = "[a-zA-Z0-9_.-]+"
MIN_NAME, MAX_NAME = 3, 255
MAX_ARN = 1024

_NAME = re.compile(f"{NAME_PATTERN}")
_VALID_NAME = re.compile(f"[a-zA-Z0-9_.-]{{{MIN_NAME},{MAX_NAME}}}")
_TABLE_ARN = re.compile(r"arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:\d{12}:table/([a-zA-Z0-9_.-]{3,255})")


def table_name(name_or_arn: str) -> str:
    """The bare name of the table that a request names directly or by ARN."""
    if ":" not in name_or_arn:
        return name_or_arn
    arn = _TABLE_ARN.fullmatch(name_or_arn)
    return arn.group(1) if arn else name_or_arn


def is_table_reference(text: str) -> bool:
    """Whether the text is a well-formed table name or table ARN."""
    return _VALID_NAME.fullmatch(text) is not None or (
        len(text) <= MAX_ARN and _TABLE_ARN.fullmatch(text) is not None
    )


def name_violations(text: str) -> list[str]:
    """What is wrong with a table or index name, in the service's words and order; empty when nothing is."""
    violations = []
    if _NAME.fullmatch(text) is None:
        violations.append(f"Member must satisfy regular expression pattern: {NAME_PATTERN}")
    if len(text) < MIN_NAME:
        violations.append(f"Member must have length greater than or equal to {MIN_NAME}")
    if len(text) > MAX_NAME:
        violations.append(f"Member must have length less than or equal to {MAX_NAME}")
    return violations
