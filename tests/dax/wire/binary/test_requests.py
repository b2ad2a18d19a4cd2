"""Captured requests of the official clients, as requests of the operation model."""

from __future__ import annotations

import pytest

from backend.errors import ServiceError
from dax.wire.binary import cbor
from dax.wire.binary.cbor import Malformed

GET, PUT, QUERY, SCAN, TRANSACT_WRITE, BATCH_WRITE = (
    263244906,
    -2106490455,
    -931250863,
    -1875390620,
    -1160037738,
    116217951,
)


def message(method_id, *arguments):
    return cbor.integer(1) + cbor.integer(method_id) + b"".join(map(cbor.encode, arguments))


def test_put_item(captures, decode_call):
    decoded = decode_call(captures[8].client)
    assert decoded.operation == "PutItem"
    assert decoded.request == {
        "TableName": "tS",
        "Item": {"pk": {"S": "rv"}, "a": {"N": "2"}, "b": {"S": "y"}},
        "ReturnValues": "ALL_OLD",
        "ReturnConsumedCapacity": "NONE",
    }


def test_put_item_of_every_type(captures, decode_call):
    assert decode_call(captures[9].client).request["Item"] == {
        "pk": {"S": "k1"},
        "b": {"B": b"\x00\x01\xff"},
        "bf": {"BOOL": False},
        "big": {"N": str(2**64)},
        "bs": {"BS": [b"x", b"\x00y"]},
        "bt": {"BOOL": True},
        "eb": {"B": b""},
        "es": {"S": ""},
        "ext": {"N": str(2**53 + 1)},
        "l": {"L": [{"N": "3"}, {"S": "q"}, {"M": {"z": {"BOOL": False}}}]},
        "m": {"M": {"a": {"N": "1"}, "l": {"L": [{"S": "x"}, {"M": {}}, {"L": []}]}}},
        "n": {"N": "-12.5"},
        "n38": {"N": "12345678901234567890123456789012345678"},
        "ndec": {"N": "0.00000000000000000001234567890123456789"},
        "neg64": {"N": str(-(2**64))},
        "negbig": {"N": str(-(2**64) - 1)},
        "ns": {"NS": ["1", "-2.5", "300"]},
        "nul": {"NULL": True},
        "s": {"S": "héllo"},
        "ss": {"SS": ["a", "b"]},
    }


def test_a_double_is_its_shortest_decimal(captures, decode_call):
    assert decode_call(captures[10].client).request["Item"]["v"] == {"N": "0.1"}


def test_get_item(captures, decode_call):
    assert decode_call(captures[11].client).request == {
        "TableName": "tS",
        "Key": {"pk": {"S": "nope"}},
        "ConsistentRead": True,
        "ReturnConsumedCapacity": "TOTAL",
    }


def test_a_projection_with_list_indexes_asks_for_top_level_attributes(captures, decode_call):
    decoded = decode_call(captures[12].client)
    assert decoded.request["ProjectionExpression"] == "#n0, #n1, #n2, #n3"
    assert decoded.request["ExpressionAttributeNames"] == {"#n0": "pk", "#n1": "a", "#n2": "nope", "#n3": "z"}
    assert decoded.target.projection == [
        ("pk",),
        ("a", "b", 2, "c"),
        ("a", "b", 0),
        ("a", "d.e"),
        ("nope",),
        ("z",),
    ]


def test_overlapping_paths_are_refused_also_when_only_top_level_attributes_are_asked_for(decode_call):
    index = cbor.Tagged(cbor.LIST_INDEX, 1)
    blob = cbor.encode([1, [[18, "a"], [18, "a", index]]])
    with pytest.raises(ServiceError, match="overlap"):
        decode_call(message(GET, b"tS", b"k", {0: blob}))


def test_the_condition_that_is_sent_last_counts(captures, decode_call):
    assert decode_call(captures[13].client).request == {
        "TableName": "tS",
        "Key": {"pk": {"S": "c"}},
        "ReturnConsumedCapacity": "NONE",
        "ConditionExpression": "#n0 = :v0",
        "UpdateExpression": "SET #n1 = :v1",
        "ExpressionAttributeNames": {"#n0": "n", "#n1": "touched"},
        "ExpressionAttributeValues": {":v0": {"N": "5"}, ":v1": {"BOOL": True}},
    }


def test_update_item(captures, decode_call):
    assert decode_call(captures[14].client).request == {
        "TableName": "tS",
        "Key": {"pk": {"S": "rv"}},
        "ReturnValues": "UPDATED_NEW",
        "UpdateExpression": "SET #n0 = #n0 + :v0, #n1 = if_not_exists(#n1, :v1) REMOVE #n2",
        "ExpressionAttributeNames": {"#n0": "a", "#n1": "c", "#n2": "b"},
        "ExpressionAttributeValues": {":v0": {"N": "10"}, ":v1": {"L": []}},
    }


def test_query_of_an_index_with_a_start_key(captures, decode_call):
    decoded = decode_call(captures[15].client)
    assert decoded.request == {
        "TableName": "tSS",
        "IndexName": "gsi1",
        "Limit": 4,
        "ReturnConsumedCapacity": "INDEXES",
        "KeyConditionExpression": "#n0 = :v0",
        "ProjectionExpression": "#n1, #n2.#n3",
        "ExclusiveStartKey": {
            "gpk": {"S": "G"},
            "gsk": {"N": "94"},
            "pk": {"S": "Q"},
            "sk": {"S": "06"},
        },
        "ExpressionAttributeNames": {"#n0": "gpk", "#n1": "sk", "#n2": "o", "#n3": "i"},
        "ExpressionAttributeValues": {":v0": {"S": "G"}},
    }


def test_query_of_a_table(captures, decode_call):
    request = decode_call(captures[16].client).request
    assert request["ConsistentRead"] is True
    assert request["ScanIndexForward"] is False
    assert request["Limit"] == 3


def test_batch_get_item(captures, decode_call):
    decoded = decode_call(captures[17].client)
    assert decoded.request["RequestItems"]["tS"] == {
        "Keys": [{"pk": {"S": f"b{n}"}} for n in range(6)],
        "ConsistentRead": True,
    }
    assert decoded.request["RequestItems"]["tSS"] == {
        "Keys": [{"pk": {"S": "B"}, "sk": {"S": "1"}}, {"pk": {"S": "L"}, "sk": {"S": "k1"}}],
        "ProjectionExpression": "#n0, #n1",
        "ExpressionAttributeNames": {"#n0": "sk", "#n1": "v"},
    }
    assert decoded.request["ReturnConsumedCapacity"] == "INDEXES"


def test_batch_write_item(captures, decode_call):
    assert decode_call(captures[18].client).request["RequestItems"] == {
        "tS": [
            {"PutRequest": {"Item": {"pk": {"S": "!unproc2"}, "v": {"N": "1"}}}},
            {"DeleteRequest": {"Key": {"pk": {"S": "!unproc3"}}}},
        ]
    }


def test_transact_write_items(captures, decode_call):
    request = decode_call(captures[19].client).request
    assert request["ClientRequestToken"] == "tok-1"
    assert request["ReturnItemCollectionMetrics"] == "SIZE"
    put, update, delete, check = request["TransactItems"]
    assert put["Put"]["Item"] == {"pk": {"S": "t1"}, "v": {"N": "1"}}
    assert put["Put"]["ConditionExpression"] == "attribute_not_exists(#n0)"
    assert update["Update"]["Key"] == {"pk": {"S": "T"}, "sk": {"S": "1"}}
    assert update["Update"]["UpdateExpression"] == "SET #n0 = :v0"
    assert delete == {
        "Delete": {
            "TableName": "tS",
            "Key": {"pk": {"S": "b4"}},
            "ReturnValuesOnConditionCheckFailure": "NONE",
        }
    }
    assert check["ConditionCheck"]["ConditionExpression"] == "#n0 = :v0"


def test_transact_get_items(captures, decode_call):
    decoded = decode_call(captures[20].client)
    assert [next(iter(get.values()))["Key"] for get in decoded.request["TransactItems"]] == [
        {"pk": {"S": "t1"}},
        {"pk": {"S": "b4"}},
        {"pk": {"S": "T"}, "sk": {"S": "1"}},
    ]
    assert [target.projection for target in decoded.targets] == [None, None, [("x",)]]


def test_select_all_attributes_of_a_go_client_is_unset(decode_call):
    scan = message(SCAN, b"tS", {15: 1, 0: cbor.encode([1, [[18, "v"]]])})
    assert "Select" not in decode_call(scan, lenient_select=True).request
    assert decode_call(scan).request["Select"] == "ALL_ATTRIBUTES"


@pytest.mark.parametrize(
    "request_bytes",
    [
        message(GET, 5, b"k", None),
        message(GET, b"tS", "k", None),
        message(GET, b"tS", b"k", []),
        message(GET, b"tS", b"k", {4: b""}),
        message(GET, b"tS", b"k", {99: 1}),
        message(GET, b"tS", b"k", {"2": True}),
        message(GET, b"tS", b"k", {2: 7}),
        message(GET, b"tS", b"k", {3: 5}),
        message(GET, b"tS", b"\xff\xfe", None),
        message(GET, b"tSS", b"", None),
        message(PUT, b"tS", b"k", b"", None),
        message(PUT, b"tS", b"k", b"\x03", None),
        message(PUT, b"tS", b"k", b"\x03\x01\x02", None),
        message(PUT, b"tS", b"k", b"\x03\xf7", None),
        message(PUT, b"tS", b"k", None, None),
        message(QUERY, b"tS", b"\x83\x01\x02", None),
        message(SCAN, b"tS", {9: b"\x01", 11: b"i"}),
        message(BATCH_WRITE, {"tS": [b"k"]}, None),
        message(BATCH_WRITE, [b"k"], None),
        message(TRANSACT_WRITE, [2], [b"tS", b"tS"], [b"k"], [b"\x01"], None, None, None, None, None),
        message(TRANSACT_WRITE, [3], [b"tS"], [b"k"], None, None, None, None, None, None),
        message(TRANSACT_WRITE, [7], [b"tS"], [b"k"], [b"\x01"], None, None, None, None, None),
        message(TRANSACT_WRITE, [9], [b"tS"], [b"k"], None, None, None, None, None, None),
    ],
)
def test_what_is_not_of_the_form_is_malformed(request_bytes, decode_call):
    with pytest.raises(Malformed):
        decode_call(request_bytes)


def test_an_unknown_attribute_list_is_named(decode_call):
    with pytest.raises(ServiceError, match="Attribute list id 99 "):
        decode_call(message(PUT, b"tS", b"k", b"\x18\x63", None))


@pytest.mark.parametrize(
    "content",
    [b"\x9a\x00\x07\x00\x00" + b"\xf6" * 0x70000, b"\x5a\x00\x30\x00\x00" + bytes(0x300000)],
)
def test_an_item_far_beyond_the_limit_is_refused_before_it_is_decoded(content, decode_call):
    with pytest.raises(ServiceError, match="Item size has exceeded"):
        decode_call(message(PUT, b"tS", b"k", b"\x03" + content, None))


def test_a_large_item_is_decoded(decode_call):
    content = b"\x5a\x00\x06\x00\x00" + bytes(0x60000)
    item = decode_call(message(PUT, b"tS", b"k", b"\x03" + content, None)).request["Item"]
    assert item["v"] == {"B": bytes(0x60000)}
