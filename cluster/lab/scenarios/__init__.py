"""The documented stories, one a file, in the order in which a newcomer should see them."""

from __future__ import annotations

from cluster.lab.scenarios import (
    bulk_load,
    failed_write,
    missing_high_score,
    negative_entry,
    product_catalogue,
    query_update_query,
    scan_does_not_warm,
    singleton_settings,
    strong_read,
    transactional_write,
    two_nodes_disagree,
    write_around,
    zero_ttl,
)
from cluster.lab.story import Story

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


def story(name: str) -> Story:
    """The story of that name. Raises LookupError whose text names those there are."""
    for candidate in STORIES:
        if candidate.name == name:
            return candidate
    raise LookupError(f"no story {name!r}; there are {', '.join(s.name for s in STORIES)}")
