"""The store behind the nodes, as a configuration asks for it.

It is another endpoint, or the embedded engine: in memory, or in a data directory, where every answer waits
until what it says is durable. The directory also keeps which attribute lists DAX clients were given ids for.
"""

from __future__ import annotations

from pathlib import Path

from backend.embedded import EmbeddedBackend
from backend.engine import Engine
from backend.group_commit import GroupCommit
from backend.protocol import Backend
from backend.remote import RemoteBackend
from backend.storage.durable import DurableStorage
from backend.storage.row_file import Progress
from cluster.config import ClusterConfig
from cluster.runtime.base import Runtime
from cluster.runtime.live import stopwatch
from dax.wire.binary.attribute_lists import AttributeLists, Names, Settling

_ID_BYTES = 8


def open_store(config: ClusterConfig, runtime: Runtime, loading: Progress | None = None) -> Backend:
    """The backend of a live cluster. Raises DirectoryRefused.

    `loading(done, total)` is told now and then how many rows of a data directory have been read.
    """
    if config.backend_url is not None:
        return RemoteBackend(
            config.backend_url, sleep=runtime.clock.sleep, entropy=runtime.entropy, region=config.region
        )
    settings = config.engine_settings()
    if config.data_dir is None:
        return EmbeddedBackend(Engine(runtime.clock.now, runtime.entropy, settings))
    storage = DurableStorage(Path(config.data_dir), progress=loading)
    engine = Engine(runtime.clock.now, runtime.entropy, settings, storage)
    return EmbeddedBackend(engine, GroupCommit(storage, config.group_commit, stopwatch))


def attribute_lists_of(store: Backend) -> AttributeLists:
    """The attribute lists of a cluster, with those that a data directory has kept."""
    if not isinstance(store, EmbeddedBackend) or store.commits is None:
        return AttributeLists()
    commits, storage = store.commits, store.engine.storage
    rows = storage.open("attribute-lists")

    def keep(identifier: int, names: Names) -> Settling | None:
        with storage.transaction():
            key = identifier.to_bytes(_ID_BYTES, "big")
            rows.put(key, ({"Names": {"L": [{"S": name} for name in names]}}, 0))
        return commits.ticket()

    lists = AttributeLists(keep)
    lists.restore(
        (int.from_bytes(key, "big"), tuple(name["S"] for name in row["Names"]["L"]))
        for key, (row, _) in rows.range()
    )
    return lists
