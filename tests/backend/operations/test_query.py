"""Query: pages, starting keys, indexes, Select, filters, capacity."""

import pytest


@pytest.fixture
def music(store, index_of):
    store.create(
        "music",
        "pk:S",
        "sk:N",
        attributes=["genre:S", "year:N"],
        LocalSecondaryIndexes=[index_of("by-year", "pk", "year", "KEYS_ONLY")],
        GlobalSecondaryIndexes=[
            index_of("by-genre", "genre", "year", "INCLUDE", ("title",)),
            index_of("by-genre-only", "genre"),
        ],
    )
    for number in range(6):
        store("PutItem", TableName="music", Item=song(number))
    return store


def song(number: int) -> dict:
    return {
        "pk": {"S": "a"},
        "sk": {"N": str(number)},
        "genre": {"S": "rock"},
        "year": {"N": str(2000 - number)},
        "title": {"S": f"t{number}"},
        "note": {"S": "even" if number % 2 == 0 else "odd"},
    }


def query(store, condition="pk = :pk", values=None, **more):
    return store(
        "Query",
        TableName="music",
        KeyConditionExpression=condition,
        ExpressionAttributeValues={":pk": {"S": "a"}, **(values or {})},
        **more,
    )


def by_genre(store, condition="genre = :g", **more):
    values = more.pop("ExpressionAttributeValues", {":g": {"S": "rock"}})
    index = more.pop("IndexName", "by-genre")
    return store(
        "Query",
        TableName="music",
        IndexName=index,
        KeyConditionExpression=condition,
        ExpressionAttributeValues=values,
        **more,
    )


def numbers(answer) -> list[int]:
    return [int(item["sk"]["N"]) for item in answer["Items"]]


def test_items_come_in_sort_order_either_way(music):
    assert numbers(query(music)) == [0, 1, 2, 3, 4, 5]
    assert numbers(query(music, ScanIndexForward=False)) == [5, 4, 3, 2, 1, 0]
    assert "LastEvaluatedKey" not in query(music)


@pytest.mark.parametrize("forward", [True, False])
def test_limit_counts_before_the_filter_and_pages_join(music, forward):
    found, start, pages = [], {}, 0
    while True:
        answer = query(
            music,
            values={":odd": {"S": "odd"}},
            FilterExpression="note = :odd",
            Limit=2,
            ScanIndexForward=forward,
            **start,
        )
        found += numbers(answer)
        pages += 1
        if "LastEvaluatedKey" not in answer:
            break
        assert (answer["Count"], answer["ScannedCount"]) == (1, 2)
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
    assert found == ([1, 3, 5] if forward else [5, 3, 1])
    assert pages == 4


def test_a_limit_that_ends_on_the_last_item_still_has_a_last_key(music):
    answer = query(music, Limit=6)
    assert answer["LastEvaluatedKey"] == {"pk": {"S": "a"}, "sk": {"N": "5"}}
    rest = query(music, ExclusiveStartKey=answer["LastEvaluatedKey"])
    assert rest == {"Count": 0, "ScannedCount": 0, "Items": []}


def test_a_starting_key_need_not_exist(music):
    start = {"pk": {"S": "a"}, "sk": {"N": "2.5"}}
    assert numbers(query(music, ExclusiveStartKey=start)) == [3, 4, 5]
    assert numbers(query(music, ExclusiveStartKey=start, ScanIndexForward=False)) == [2, 1, 0]


def test_the_last_key_of_an_index_has_both_keys(music):
    answer = by_genre(music, Limit=1)
    assert answer["LastEvaluatedKey"] == {
        "genre": {"S": "rock"},
        "year": {"N": "1995"},
        "pk": {"S": "a"},
        "sk": {"N": "5"},
    }
    rest = by_genre(music, ExclusiveStartKey=answer["LastEvaluatedKey"])
    assert numbers(rest) == [4, 3, 2, 1, 0]


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize(
    ("index", "condition", "partition"), [("by-genre", "genre = :p", "rock"), ("by-year", "pk = :p", "a")]
)
def test_rows_of_one_index_key_are_many_and_come_page_by_page(music, index, condition, partition, forward):
    same_year = {3, 4, 5}
    for number in same_year:
        music("PutItem", TableName="music", Item={**song(number), "year": {"N": "1990"}})
    found: list[int] = []
    start: dict = {}
    while True:
        answer = by_genre(
            music,
            f"{condition} AND #y = :y",
            IndexName=index,
            ExpressionAttributeNames={"#y": "year"},
            ExpressionAttributeValues={":p": {"S": partition}, ":y": {"N": "1990"}},
            Limit=1,
            ScanIndexForward=forward,
            **start,
        )
        found += numbers(answer)
        if "LastEvaluatedKey" not in answer:
            break
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
    assert len(found) == len(same_year)
    assert set(found) == same_year


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ({"pk": {"S": "a"}}, "The provided starting key is invalid"),
        ({"pk": {"S": "a"}, "x": {"N": "1"}}, "The provided starting key is invalid"),
        ({"pk": {"N": "1"}, "sk": {"N": "1"}}, "The provided key element does not match the schema"),
        ({"pk": {"S": "a"}, "sk": {"S": "1"}}, "The provided key element does not match the schema"),
        (
            {"pk": {"S": "b"}, "sk": {"N": "4"}},
            "The query can return at most one row and cannot be restarted",
        ),
        (
            {"pk": {"S": "a"}, "sk": {"N": "1"}},
            "The provided starting key does not match the range key predicate",
        ),
        (
            {"pk": {"S": "a"}, "sk": {}},
            "The provided starting key is invalid: Supplied AttributeValue is empty, "
            "must contain exactly one of the supported datatypes",
        ),
    ],
)
def test_a_starting_key_that_no_page_ended_with_is_refused(music, refusal, start, message):
    refused = refusal(
        music,
        "Query",
        TableName="music",
        KeyConditionExpression="pk = :pk AND sk > :sk",
        ExpressionAttributeValues={":pk": {"S": "a"}, ":sk": {"N": "2"}},
        ExclusiveStartKey=start,
    )
    assert (refused.code, refused.message) == ("ValidationException", message)


def test_count_has_no_items(music):
    assert query(music, Select="COUNT", Limit=3) == {
        "Count": 3,
        "ScannedCount": 3,
        "LastEvaluatedKey": {"pk": {"S": "a"}, "sk": {"N": "2"}},
    }


def test_an_index_serves_what_it_projects(music):
    item = by_genre(music, Limit=1)["Items"][0]
    assert set(item) == {"pk", "sk", "genre", "year", "title"}
    near = query(music, IndexName="by-year", Limit=1)["Items"][0]
    assert set(near) == {"pk", "sk", "year"}


def test_a_local_index_fetches_what_it_lacks_and_pays_for_each_item(music):
    for asked in ({"Select": "ALL_ATTRIBUTES"}, {"ProjectionExpression": "title, note"}):
        answer = query(music, IndexName="by-year", Limit=2, ReturnConsumedCapacity="INDEXES", **asked)
        assert answer["Items"][0]["note"] == {"S": "odd"}
        assert answer["ConsumedCapacity"] == {
            "TableName": "music",
            "CapacityUnits": 1.5,
            "Table": {"CapacityUnits": 1.0},
            "LocalSecondaryIndexes": {"by-year": {"CapacityUnits": 0.5}},
        }


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"Select": "ALL_ATTRIBUTES"},
            "One or more parameter values were invalid: Select type ALL_ATTRIBUTES "
            "is not supported for global secondary index by-genre because its projection type is not ALL",
        ),
        ({"ConsistentRead": True}, "Consistent reads are not supported on global secondary indexes"),
        ({"IndexName": "nothing"}, "The table does not have the specified index: nothing"),
        (
            {"Select": "SPECIFIC_ATTRIBUTES"},
            "Must specify the AttributesToGet or ProjectionExpression "
            "when choosing to get SPECIFIC_ATTRIBUTES",
        ),
        (
            {"Select": "COUNT", "ProjectionExpression": "pk"},
            "Cannot specify the ProjectionExpression when choosing to get only the Count",
        ),
    ],
)
def test_what_an_index_cannot_do_is_refused(music, refusal, asked, message):
    request = {
        "TableName": "music",
        "IndexName": "by-genre",
        "KeyConditionExpression": "genre = :g",
        "ExpressionAttributeValues": {":g": {"S": "rock"}},
        **asked,
    }
    refused = refusal(music, "Query", **request)
    assert (refused.code, refused.message) == ("ValidationException", message)


def test_projected_attributes_need_an_index(music, refusal):
    refused = refusal(
        music,
        "Query",
        TableName="music",
        Select="ALL_PROJECTED_ATTRIBUTES",
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": "a"}},
    )
    assert refused.message == "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"


def test_equal_index_keys_all_come_back(music):
    answer = by_genre(music, IndexName="by-genre-only")
    assert sorted(numbers(answer)) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("clause", "message"),
    [
        (
            {"FilterExpression": "sk = :pk"},
            "Filter Expression can only contain non-primary key attributes: Primary key attribute: sk",
        ),
        (
            {"FilterExpression": "genre.x = :pk"},
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
            "IndexKey: genre",
        ),
    ],
)
def test_a_filter_may_not_touch_keys(music, refusal, clause, message):
    refused = refusal(
        music,
        "Query",
        TableName="music",
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": "a"}},
        **clause,
    )
    assert refused.message == message


def test_the_item_that_crosses_the_page_is_part_of_it(new_store):
    store = new_store(settings={"page_bytes": 1000})
    store.create("music", "pk:S", "sk:N")
    for number in range(5):
        item = {"pk": {"S": "a"}, "sk": {"N": str(number)}, "v": {"S": "x" * 390}}
        store("PutItem", TableName="music", Item=item)
    for select in ({}, {"Select": "COUNT"}, {"ProjectionExpression": "pk"}, {"ScanIndexForward": False}):
        assert query(store, **select)["Count"] == 3


def test_capacity_is_rounded_once_on_the_page(new_store):
    store = new_store()
    store.create("music", "pk:S", "sk:N")
    for number in range(5):
        item = {"pk": {"S": "a"}, "sk": {"N": str(number)}, "v": {"S": "x" * 1000}}
        store("PutItem", TableName="music", Item=item)
    weak = query(store, ReturnConsumedCapacity="TOTAL")["ConsumedCapacity"]
    strong = query(store, ReturnConsumedCapacity="TOTAL", ConsistentRead=True)["ConsumedCapacity"]
    assert (weak["CapacityUnits"], strong["CapacityUnits"]) == (1.0, 2.0)


def test_a_lagging_index_shows_a_write_when_it_is_due(new_store, clock, index_of):
    store = new_store(settings={"gsi_lag": 2.0})
    store.create(
        "music", "pk:S", attributes=["genre:S"], GlobalSecondaryIndexes=[index_of("by-genre", "genre")]
    )
    store("PutItem", TableName="music", Item={"pk": {"S": "a"}, "genre": {"S": "rock"}})
    assert by_genre(store)["Count"] == 0
    clock.advance(1.5)
    store("UpdateItem", TableName="music", Key={"pk": {"S": "a"}}, UpdateExpression="REMOVE genre")
    clock.advance(0.5)
    assert by_genre(store)["Count"] == 1
    clock.advance(1.5)
    assert by_genre(store)["Count"] == 0


def test_a_query_is_one_partition_to_the_limiter(new_store, limiter, refusal):
    store = new_store(limiter=limiter)
    store.create("music", "pk:S", "sk:N")
    query(store, ConsistentRead=True)
    assert limiter.asked == [("music", None, 1.0, 0.0)]


def test_legacy_conditions_mean_the_same(music):
    answer = music(
        "Query",
        TableName="music",
        KeyConditions={
            "pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]},
            "sk": {"ComparisonOperator": "GE", "AttributeValueList": [{"N": "2"}]},
        },
        QueryFilter={"note": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "even"}]}},
        AttributesToGet=["sk"],
    )
    assert answer["Items"] == [{"sk": {"N": "2"}}, {"sk": {"N": "4"}}]
