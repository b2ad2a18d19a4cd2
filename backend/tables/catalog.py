"""The tables of one account in one region, by name or ARN, and their coming and going on the engine's clock.

Rules: a table that is being deleted keeps its name until its time is over; nothing but the passing of the
clock moves a status, and whoever asks next sees it moved. What the storage held when the catalog was made is
there again; whoever changes a table beside its items saves it.
"""

from __future__ import annotations

import re
from uuid import UUID

from backend.errors import ServiceError, resource_not_found, validation_error
from backend.protocol import Entropy, Now
from backend.settings import EngineSettings
from backend.storage.base import Storage
from backend.tables.definitions import TableDefinition
from backend.tables.records import record_of, table_of
from backend.tables.table import Table

_TABLE_ARN = re.compile(r"arn:([^:]+):dynamodb:([^:]+):([^:]+):table/(.+)")


class TableCatalog:
    """All tables of an engine."""

    def __init__(self, now: Now, entropy: Entropy, settings: EngineSettings, storage: Storage) -> None:
        self._now = now
        self._entropy = entropy
        self._settings = settings
        self._storage = storage
        self._rows = storage.open("tables")
        self._tables: dict[str, Table] = {
            name.decode(): table_of(row, settings, storage) for name, (row, _) in self._rows.range()
        }

    def create(self, definition: TableDefinition) -> Table:
        """A new, empty table. Raises ResourceInUseException when the name is taken."""
        if self.find(definition.name) is not None:
            raise ServiceError("ResourceInUseException", f"Table already exists: {definition.name}")
        identifier = str(UUID(bytes=self._entropy(16), version=4))
        table = Table(definition, identifier, self._now(), self._settings, self._storage)
        self._tables[definition.name] = table
        self.save(table)
        return table

    def save(self, table: Table) -> None:
        """Keep what is known of a table beside its items, in a storage transaction of its own."""
        with self._storage.transaction():
            self._rows.put(table.name.encode(), (record_of(table), 0))

    def find(self, name: str) -> Table | None:
        """The table of that name or ARN, in whatever status, or None. Refuses ARNs of elsewhere."""
        table = self._tables.get(self.name_of(name))
        if table is not None and table.deleted_from is not None and self._is_gone(table):
            self._forget(table)
            return None
        return table

    def get(self, name: str) -> Table:
        """The table that serves items under that name or ARN. Raises ResourceNotFoundException.

        A table still CREATING or already DELETING is not found, as the data plane of the service has it.
        """
        table = self._tables.get(name) or self.find(name)
        if table is None or not table.serves(self._now()):
            raise resource_not_found()
        return table

    def describe_target(self, name: str) -> Table:
        """The table of that name or ARN in whatever status, for operations on the table itself.

        Raises ResourceNotFoundException with the text that names the table.
        """
        table = self.find(name)
        if table is None:
            raise resource_not_found(f"Requested resource not found: Table: {self.name_of(name)} not found")
        return table

    def drop(self, table: Table) -> None:
        """Begin to delete: DELETING for the delay of the settings, then gone with its items."""
        table.deleted_from = self._now()
        if self._is_gone(table):
            self._forget(table)
        else:
            self.save(table)

    def name_of(self, name: str) -> str:
        """The bare name of a table named so or by ARN.

        Raises ValidationException for the ARN of another partition or region, AccessDeniedException for
        that of another account.
        """
        if not name.startswith("arn:"):
            return name
        arn = _TABLE_ARN.fullmatch(name)
        if arn is None:
            return name
        partition, region, account, short = arn.groups()
        for what, given, own in (("partition", partition, "aws"), ("region", region, self._settings.region)):
            if given != own:
                raise validation_error(f"1 validation error detected: Invalid AWS {what} in '{name}'")
        if account != self._settings.account_id:
            raise ServiceError("AccessDeniedException", "Access is denied")
        return short

    def forget_dropped_indexes(self, table: Table) -> None:
        """Drop the table's global indexes whose time as DELETING is over, for good."""
        if table.forget_dropped_indexes(self._now()):
            self.save(table)

    def names(self) -> list[str]:
        """The names of all tables, in byte order."""
        return sorted((name for name in list(self._tables) if self.find(name)), key=str.encode)

    def tables(self) -> list[Table]:
        """All tables, in byte order of their names."""
        return [self._tables[name] for name in self.names()]

    def _is_gone(self, table: Table) -> bool:
        return self._now() >= (table.deleted_from or 0.0) + self._settings.table_delay

    def _forget(self, table: Table) -> None:
        del self._tables[table.name]
        table.drop_storage()
        with self._storage.transaction():
            self._rows.delete(table.name.encode())
