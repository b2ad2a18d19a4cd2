from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cluster.lab.workloads.addresses import Address, cache2k_address, key_address, table_request


def test_a_cache2k_key_is_type_id_and_index() -> None:
    key = (3 << 27) | (4711 << 10) | 5
    assert cache2k_address(key) == Address("trace-type-03", {"pk": {"N": "4711"}, "sk": {"N": "5"}})


@given(st.integers(-(2**31), 2**31 - 1))
def test_every_signed_key_has_an_address_of_its_own(key: int) -> None:
    table, item_key = cache2k_address(key)
    parts = int(table.rsplit("-", 1)[1]), int(item_key["pk"]["N"]), int(item_key["sk"]["N"])
    assert (parts[0] << 27 | parts[1] << 10 | parts[2]) == key & 0xFFFF_FFFF


def test_any_other_key_is_a_string_partition_key() -> None:
    assert key_address(-7) == Address("trace", {"pk": {"S": "-7"}})


def test_a_table_has_the_key_schema_of_its_addresses() -> None:
    assert table_request(cache2k_address(1)) == {
        "TableName": "trace-type-00",
        "AttributeDefinitions": [
            {"AttributeName": "pk", "AttributeType": "N"},
            {"AttributeName": "sk", "AttributeType": "N"},
        ],
        "KeySchema": [
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        "BillingMode": "PAY_PER_REQUEST",
    }
    assert table_request(key_address("a"))["KeySchema"] == [{"AttributeName": "pk", "KeyType": "HASH"}]
