"""UpdateItem: the five ReturnValues, items created and not, key and index-key rules."""

import pytest

KEY = {"pk": {"S": "a"}}


@pytest.fixture
def music(store, index_of):
    store.create(
        "music", "pk:S", attributes=["genre:S"], GlobalSecondaryIndexes=[index_of("by-genre", "genre")]
    )
    store(
        "PutItem",
        TableName="music",
        Item={**KEY, "n": {"N": "1"}, "m": {"M": {"x": {"S": "1"}, "y": {"S": "2"}}}},
    )
    return store


def update(store, expression, values=None, **more):
    request = {"TableName": "music", "Key": KEY, "UpdateExpression": expression, **more}
    if values is not None:
        request["ExpressionAttributeValues"] = values
    return store("UpdateItem", **request)


@pytest.mark.parametrize(
    ("wanted", "attributes"),
    [
        ("NONE", None),
        ("ALL_OLD", {**KEY, "n": {"N": "1"}, "m": {"M": {"x": {"S": "1"}, "y": {"S": "2"}}}}),
        ("ALL_NEW", {**KEY, "n": {"N": "3"}, "m": {"M": {"x": {"S": "9"}, "y": {"S": "2"}}}}),
        ("UPDATED_OLD", {"n": {"N": "1"}, "m": {"M": {"x": {"S": "1"}}}}),
        ("UPDATED_NEW", {"n": {"N": "3"}, "m": {"M": {"x": {"S": "9"}}}}),
    ],
)
def test_return_values(music, wanted, attributes):
    answer = update(
        music, "SET n = n + :two, m.x = :nine", {":two": {"N": "2"}, ":nine": {"S": "9"}}, ReturnValues=wanted
    )
    assert answer.get("Attributes") == attributes


@pytest.mark.parametrize("wanted", ["UPDATED_OLD", "UPDATED_NEW", "ALL_OLD"])
def test_nothing_to_return_has_no_member(music, wanted):
    request = {"TableName": "music", "Key": {"pk": {"S": "new"}}, "UpdateExpression": "REMOVE z"}
    assert music("UpdateItem", **request, ReturnValues=wanted) == {}


def test_an_update_without_actions_creates_a_bare_key(music):
    music("UpdateItem", TableName="music", Key={"pk": {"S": "bare"}})
    assert music("GetItem", TableName="music", Key={"pk": {"S": "bare"}}) == {"Item": {"pk": {"S": "bare"}}}


@pytest.mark.parametrize("expression", ["REMOVE n", "REMOVE m.x"])
def test_removing_from_nothing_creates_nothing(music, expression):
    music("UpdateItem", TableName="music", Key={"pk": {"S": "new"}}, UpdateExpression=expression)
    assert music("GetItem", TableName="music", Key={"pk": {"S": "new"}}) == {}


def test_a_key_cannot_be_updated_not_even_to_itself(music, refusal):
    refused = refusal(
        music,
        "UpdateItem",
        TableName="music",
        Key=KEY,
        UpdateExpression="SET pk = :a",
        ExpressionAttributeValues={":a": {"S": "a"}},
    )
    assert refused.message == (
        "One or more parameter values were invalid: Cannot update attribute pk. "
        "This attribute is part of the key"
    )


@pytest.mark.parametrize(
    ("expression", "values"),
    [
        ("SET genre = :v", {":v": {"S": ""}}),
        ("SET genre = :v", {":v": {"N": "1"}}),
        ("SET n = absent_one", None),
        ("SET q.z = :v", {":v": {"S": "1"}}),
        ("SET big = :v", {":v": {"S": "x" * 409_600}}),
        ("ADD n :v", {":v": {"SS": ["a"]}}),
    ],
)
def test_a_refused_update_changes_nothing(music, refusal, expression, values):
    before = music("GetItem", TableName="music", Key=KEY)
    request = {"TableName": "music", "Key": KEY, "UpdateExpression": expression}
    if values is not None:
        request["ExpressionAttributeValues"] = values
    assert refusal(music, "UpdateItem", **request).code == "ValidationException"
    assert music("GetItem", TableName="music", Key=KEY) == before
    assert len(music.engine.catalog.get("music").indexes["by-genre"].rows) == 0


def test_the_condition_is_judged_before_the_update(music, refusal):
    refused = refusal(
        music,
        "UpdateItem",
        TableName="music",
        Key=KEY,
        UpdateExpression="SET n = absent_one",
        ConditionExpression="n = :two",
        ExpressionAttributeValues={":two": {"N": "2"}},
    )
    assert refused.code == "ConditionalCheckFailedException"


def test_legacy_updates_mean_the_same(music):
    answer = music(
        "UpdateItem",
        TableName="music",
        Key=KEY,
        AttributeUpdates={"n": {"Action": "ADD", "Value": {"N": "2"}}, "m": {"Action": "DELETE"}},
        Expected={"n": {"Value": {"N": "1.0"}}},
        ReturnValues="ALL_NEW",
    )
    assert answer["Attributes"] == {**KEY, "n": {"N": "3"}}


def test_an_index_follows_an_update(music):
    update(music, "SET genre = :g", {":g": {"S": "rock"}})
    rows = music.engine.catalog.get("music").indexes["by-genre"].rows
    assert [row[0]["genre"] for _, row in rows.range()] == [{"S": "rock"}]
    update(music, "REMOVE genre")
    assert len(rows) == 0
