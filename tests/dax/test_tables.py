import pytest

from backend.errors import ServiceError
from backend.model.keys import KeyAttribute, KeySchema
from dax.tables import Tables, possible_schemas, table_name

S_PK = KeySchema(KeyAttribute("pk", "S"))


@pytest.fixture
def changes():
    return []


@pytest.fixture
def tables(world, changes):
    world.table("Table")
    return Tables(world.store, world.clock, 60.0, changes.append)


async def test_a_schema_is_asked_for_once_in_its_time(world, tables):
    assert [await tables.schema("Table") for _ in range(2)] == [S_PK, S_PK]
    assert world.store.calls == ["DescribeTable"]
    world.clock.advance(60)
    await tables.schema("Table")
    assert len(world.store.calls) == 2


async def test_a_composite_key_keeps_its_roles(world, tables):
    world.table("Other", "b:N", "a:B")
    expected = KeySchema(KeyAttribute("b", "N"), KeyAttribute("a", "B"))
    assert await tables.schema("Other") == expected


async def test_an_old_answer_is_better_than_a_throttled_one(world, tables):
    world.store.fail("DescribeTable", ServiceError("ThrottlingException", "slow down"))
    with pytest.raises(ServiceError):
        await tables.schema("Table")
    await tables.schema("Table")
    world.clock.advance(60)
    world.store.fail("DescribeTable", ServiceError("ThrottlingException", "slow down"))
    assert await tables.schema("Table") == S_PK


async def test_a_table_that_is_gone_is_forgotten_and_a_new_key_is_told(world, tables, changes):
    await tables.schema("Table")
    world.around("DeleteTable", TableName="Table")
    world.clock.advance(60)
    with pytest.raises(ServiceError):
        await tables.schema("Table")
    world.table("Table", "pk:S")
    await tables.schema("Table")
    assert changes == []
    world.around("DeleteTable", TableName="Table")
    world.table("Table", "id:N")
    tables.forget(None)
    assert (await tables.schema("Table")).partition.name == "id"
    assert changes == ["Table"]


def test_an_arn_names_its_table():
    assert table_name("arn:aws:dynamodb:eu-west-1:123456789012:table/My.Table") == "My.Table"
    assert table_name("My.Table") == "My.Table"


def test_a_key_could_be_of_few_schemas():
    one, two = {"a": {"S": "x"}}, {"a": {"S": "x"}, "b": {"N": "1"}}
    assert possible_schemas(one) == [KeySchema(KeyAttribute("a", "S"))]
    assert [schema.names for schema in possible_schemas(two)] == [("a", "b"), ("b", "a")]
    assert possible_schemas({}) == possible_schemas({"a": {}}) == []


async def test_an_arn_is_taken_when_the_store_has_taken_it(world, tables):
    arn = "arn:aws:dynamodb:us-east-1:123456789012:table/Table"
    elsewhere = arn.replace("us-east-1", "eu-west-1")
    await tables.schema("Table")
    assert tables.known(arn) is None
    assert await tables.schema(arn) == S_PK
    assert tables.known(arn) == S_PK
    with pytest.raises(ServiceError, match="Invalid AWS region"):
        await tables.schema(elsewhere)
    assert tables.known(elsewhere) is None
