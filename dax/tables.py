"""The keys of the store's tables, as a node believes them.

A schema is learned from DescribeTable by the first request for a table and believed for a while. It is
dropped when the store says that the table is gone, or when a key does not fit it: the table may have been
made anew. A schema that comes back different empties what is cached under the old one. An ARN is put to the
store as it is before it is taken for the table of that name: it may be one of elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable

from backend.errors import ServiceError
from backend.model.keys import KeyAttribute, KeySchema
from backend.model.values import type_of
from backend.protocol import Backend, Item, Response
from dax.world import Clock


def table_name(name_or_arn: str) -> str:
    """The name of a table that a request names by name or by ARN."""
    return name_or_arn.rsplit(":table/", 1)[-1] if name_or_arn.startswith("arn:") else name_or_arn


class Tables:
    """Key schemas by the name or ARN of a table. `ttl`: seconds.

    `on_change(table)`: a table's schema is not what it was.
    """

    def __init__(self, backend: Backend, clock: Clock, ttl: float, on_change: Callable[[str], None]) -> None:
        self._backend = backend
        self._clock = clock
        self._ttl = ttl
        self._on_change = on_change
        self._current: dict[str, tuple[KeySchema, float]] = {}
        self._last: dict[str, KeySchema] = {}
        self._keys: dict[str, frozenset[str]] = {}
        self._accepted: set[str] = set()

    async def schema(self, named: str) -> KeySchema:
        """The key schema of a table. Raises what DescribeTable raises, unless an older answer is known."""
        known = self._current.get(named)
        if known is not None and self._clock.now() < known[1]:
            return known[0]
        try:
            described = await self._backend.execute("DescribeTable", {"TableName": named})
        except ServiceError as error:
            if error.code == "ResourceNotFoundException" or known is None:
                self.forget(named)
                raise
            return known[0]
        schema = _key_schema(described)
        self._current[named] = (schema, self._clock.now() + self._ttl)
        self._accepted.add(named)
        table = table_name(named)
        before = self._last.get(table)
        self._last[table] = schema
        definitions = described["Table"]["AttributeDefinitions"]
        self._keys[table] = frozenset(each["AttributeName"] for each in definitions)
        if before is not None and before != schema:
            self._on_change(table)
        return schema

    def known(self, named: str) -> KeySchema | None:
        """The schema as last learned, without asking; None as long as the store has not taken that ARN."""
        return self._last.get(table_name(named)) if named in self._accepted else None

    def key_attributes(self, named: str) -> frozenset[str]:
        """The attributes that are keys of the table or of an index, as last learned."""
        return self._keys.get(table_name(named), frozenset())

    def forget(self, named: str | None) -> None:
        """Ask again at the next use of a table, under whichever name; None: of every table."""
        if named is None:
            self._current.clear()
            return
        table = table_name(named)
        for each in [each for each in self._current if table_name(each) == table]:
            del self._current[each]


def possible_schemas(key: Item) -> list[KeySchema]:
    """The schemas that a primary key may have been made for: one, or two that differ in their order."""
    attributes = [KeyAttribute(name, type_of(value)) for name, value in key.items() if len(value) == 1]
    match attributes:
        case [partition]:
            return [KeySchema(partition)]
        case [first, second]:
            return [KeySchema(first, second), KeySchema(second, first)]
    return []


def _key_schema(described: Response) -> KeySchema:
    table = described["Table"]
    types = {each["AttributeName"]: each["AttributeType"] for each in table["AttributeDefinitions"]}
    roles = {each["KeyType"]: each["AttributeName"] for each in table["KeySchema"]}
    sort = roles.get("RANGE")
    return KeySchema(
        KeyAttribute(roles["HASH"], types[roles["HASH"]]),
        None if sort is None else KeyAttribute(sort, types[sort]),
    )
