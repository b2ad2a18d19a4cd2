"""The forms in which consumed units are reported."""

import pytest

from backend.settings import EngineSettings
from backend.storage.memory import MemoryStorage
from backend.tables.catalog import TableCatalog
from backend.tables.consumption import Consumption
from backend.tables.definitions import definition_of


@pytest.fixture
def table():
    catalog = TableCatalog(lambda: 0.0, bytes, EngineSettings(), MemoryStorage())
    index = {
        "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    request = {
        "TableName": "music",
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("a", "b")],
        "KeySchema": [
            {"AttributeName": "a", "KeyType": "HASH"},
            {"AttributeName": "b", "KeyType": "RANGE"},
        ],
        "BillingMode": "PAY_PER_REQUEST",
        "LocalSecondaryIndexes": [{**index, "IndexName": "near"}],
        "GlobalSecondaryIndexes": [{**index, "IndexName": "far"}],
    }
    return catalog.create(definition_of(request))


def test_total_is_one_sum(table):
    consumption = Consumption(table, 2.0)
    consumption.add_index("near", 1.0)
    consumption.add_index("far", 0.5)
    assert consumption.report("TOTAL") == {"TableName": "music", "CapacityUnits": 3.5}


def test_indexes_split_table_local_and_global(table):
    consumption = Consumption(table, 2.0)
    consumption.add_index("near", 1.0)
    consumption.add_index("far", 0.5)
    consumption.add_index("far", 0.5)
    assert consumption.report("INDEXES") == {
        "TableName": "music",
        "CapacityUnits": 4.0,
        "Table": {"CapacityUnits": 2.0},
        "LocalSecondaryIndexes": {"near": {"CapacityUnits": 1.0}},
        "GlobalSecondaryIndexes": {"far": {"CapacityUnits": 1.0}},
    }


def test_transactions_name_the_kind_of_unit_too(table):
    report = Consumption(table, 2.0).report("INDEXES", also_as="WriteCapacityUnits")
    assert report == {
        "TableName": "music",
        "CapacityUnits": 2.0,
        "WriteCapacityUnits": 2.0,
        "Table": {"CapacityUnits": 2.0, "WriteCapacityUnits": 2.0},
    }
