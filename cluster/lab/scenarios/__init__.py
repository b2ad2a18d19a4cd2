"""The documented stories, one a file, in the order in which a newcomer should see them."""

from __future__ import annotations

from collections.abc import Mapping

from cluster.lab.scenarios import (
    bulk_load,
    failed_write,
    hot_item,
    hot_partition,
    index_write_cost,
    missing_high_score,
    negative_entry,
    product_catalogue,
    query_update_query,
    scan_does_not_warm,
    scan_eats_reads,
    singleton_settings,
    split_for_heat,
    stale_store,
    strong_read,
    transactional_write,
    two_nodes_disagree,
    upload_order,
    write_around,
    write_sharding,
    zero_ttl,
)
from cluster.lab.story import CAPACITY, CONSISTENCY, Story

STORIES: tuple[Story, ...] = (
    product_catalogue.STORY,
    two_nodes_disagree.STORY,
    write_around.STORY,
    query_update_query.STORY,
    missing_high_score.STORY,
    negative_entry.STORY,
    strong_read.STORY,
    scan_does_not_warm.STORY,
    failed_write.STORY,
    transactional_write.STORY,
    zero_ttl.STORY,
    bulk_load.STORY,
    singleton_settings.STORY,
)
"""What a cache may answer: the group `consistency`."""

CAPACITY_STORIES: tuple[Story, ...] = (
    hot_partition.STORY,
    write_sharding.STORY,
    split_for_heat.STORY,
    scan_eats_reads.STORY,
    hot_item.STORY,
    upload_order.STORY,
    index_write_cost.STORY,
    stale_store.STORY,
)
"""What a table can take, and how old the store's own answers are: the group `capacity`."""

GROUPS: Mapping[str, tuple[Story, ...]] = {CONSISTENCY: STORIES, CAPACITY: CAPACITY_STORIES}


def story(name: str) -> Story:
    """The story of that name. Raises LookupError whose text names those there are."""
    every = [candidate for group in GROUPS.values() for candidate in group]
    for candidate in every:
        if candidate.name == name:
            return candidate
    raise LookupError(f"no story {name!r}; there are {', '.join(s.name for s in every)}")
