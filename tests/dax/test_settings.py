import pytest

from dax.settings import NodeSettings


def test_the_defaults_are_those_of_dax():
    settings = NodeSettings()
    assert (settings.item_ttl, settings.query_ttl, settings.fill_guard) == (300, 300, True)


@pytest.mark.parametrize(
    ("name", "value"),
    [("item_ttl", -1), ("query_cache_bytes", -1), ("resend_after", 0), ("recent_writes", 0)],
)
def test_a_setting_that_makes_no_sense_is_refused_by_name(name, value):
    with pytest.raises(ValueError, match=name):
        NodeSettings(**{name: value})
