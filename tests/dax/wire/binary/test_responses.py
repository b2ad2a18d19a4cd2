"""Answers, byte for byte as the clients were seen to accept them."""

from __future__ import annotations

import pytest

from dax.wire.binary import responses
from dax.wire.binary.attribute_lists import AttributeLists
from dax.wire.binary.requests import Decoded, Target


def n(number):
    return {"N": str(number)}


@pytest.fixture
def answer(captures, decode_call, lists):
    """The answer to a captured request, and what was captured as its answer."""

    def encode(number, response):
        return responses.encode(decode_call(captures[number].client), response, lists), captures[
            number
        ].server

    return encode


def test_put_item_returns_the_old_values_without_the_key(answer):
    old = {"pk": {"S": "rv"}, "b": {"S": "x"}, "a": n(1)}
    ours, captured = answer(8, {"Attributes": old})
    assert ours == captured


@pytest.mark.parametrize("number", [9, 10, 13])
def test_nothing_to_return(number, answer):
    ours, captured = answer(number, {})
    assert ours == captured


def test_a_missing_item_is_left_out(answer):
    ours, captured = answer(11, {"ConsumedCapacity": {"TableName": "tS", "CapacityUnits": 1.0}})
    assert ours == captured


def test_a_projection_answers_by_position(answer):
    item = {
        "pk": {"S": "p"},
        "a": {
            "M": {
                "b": {"L": [{"S": "x"}, n(2), {"M": {"c": {"S": "deep"}}}]},
                "d.e": {"S": "dot"},
            }
        },
        "z": n(5),
    }
    ours, captured = answer(12, {"Item": item})
    assert ours == captured


def test_updated_attributes_are_a_partial_blob(answer):
    ours, captured = answer(14, {"Attributes": {"a": n(12), "c": {"L": []}}})
    assert ours == captured


def test_a_page_of_an_index(answer):
    ours, captured = answer(
        15,
        {
            "Items": [{"sk": {"S": f"0{i}"}, "o": {"M": {"i": n(i)}}} for i in (5, 4, 3, 2)],
            "Count": 4,
            "ScannedCount": 4,
            "LastEvaluatedKey": {"gpk": {"S": "G"}, "gsk": n(98), "pk": {"S": "Q"}, "sk": {"S": "02"}},
            "ConsumedCapacity": {
                "TableName": "tSS",
                "CapacityUnits": 2.0,
                "Table": {"CapacityUnits": 2.0},
                "GlobalSecondaryIndexes": {"gsi1": {"CapacityUnits": 0.5}},
            },
        },
    )
    assert ours == captured


def test_a_page_of_a_table(answer):
    def item(i, gsk):
        return {
            "pk": {"S": "Q"},
            "sk": {"S": f"0{i}"},
            "gpk": {"S": "G"},
            "gsk": n(gsk),
            "n": n(i % 3),
            "o": {"M": {"i": n(i)}},
        }

    items = [item(9, 91), item(8, 92), item(7, 93)]
    ours, captured = answer(
        16,
        {
            "Items": items,
            "Count": 3,
            "ScannedCount": 3,
            "LastEvaluatedKey": {"pk": {"S": "Q"}, "sk": {"S": "07"}},
        },
    )
    assert len(ours) == len(captured)
    assert ours[:40] == captured[:40]
    assert ours[-11:] == captured[-11:]


def test_batch_get_item(answer):
    found = [{"pk": {"S": f"b{i}"}, "v": n(i)} for i in range(5)]
    ours, captured = answer(
        17,
        {
            "Responses": {"tS": found, "tSS": [{"sk": {"S": "1"}}, {"sk": {"S": "k1"}, "v": n(1)}]},
            "UnprocessedKeys": {},
            "ConsumedCapacity": [
                {"TableName": "tS", "CapacityUnits": 3.0, "Table": {"CapacityUnits": 3.0}},
                {"TableName": "tSS", "CapacityUnits": 1.0, "Table": {"CapacityUnits": 1.0}},
            ],
        },
    )
    assert ours == captured


def test_unprocessed_keys(decode_call, captures, lists):
    decoded = decode_call(captures[17].client)
    response = {"Responses": {}, "UnprocessedKeys": {"tS": {"Keys": [{"pk": {"S": "b0"}}]}}}
    assert responses.encode(decoded, response, lists) == bytes.fromhex("8082a0a16274538142623080")


def test_batch_write_item_gives_back_what_it_did_not_do(answer):
    ours, captured = answer(
        18,
        {
            "UnprocessedItems": {
                "tS": [
                    {"PutRequest": {"Item": {"pk": {"S": "!unproc2"}, "v": n(1)}}},
                    {"DeleteRequest": {"Key": {"pk": {"S": "!unproc3"}}}},
                ]
            }
        },
    )
    assert ours == captured


def test_batch_write_item_has_three_results_even_when_empty(decode_call, captures, lists):
    assert responses.encode(decode_call(captures[18].client), {}, lists).hex() == "80a080a0"


def test_transact_write_items_never_sends_null(decode_call, captures, lists):
    assert responses.encode(decode_call(captures[19].client), {}, lists).hex() == "80838080a0"


def test_transact_get_items(answer):
    def capacity(table, units):
        return {
            "TableName": table,
            "CapacityUnits": units,
            "ReadCapacityUnits": units,
            "WriteCapacityUnits": 0.0,
        }

    ours, captured = answer(
        20,
        {
            "Responses": [{"Item": {"pk": {"S": "t1"}, "v": n(1)}}, {}, {"Item": {"x": n(9)}}],
            "ConsumedCapacity": [capacity("tS", 4.0), capacity("tSS", 2.0)],
        },
    )
    assert ours == captured


def test_metrics_have_float_bounds(decode_call, captures, lists):
    metrics = {"ItemCollectionKey": {"pk": {"S": "rv"}}, "SizeEstimateRangeGB": [0.0, 1.0]}
    encoded = responses.encode(decode_call(captures[8].client), {"ItemCollectionMetrics": metrics}, lists)
    assert encoded.hex() == "80bf0355627276fb0000000000000000fb3ff0000000000000ff"


def test_an_item_of_nothing_but_its_key_is_the_empty_list(schemas, lists):
    item = {"pk": {"S": "k"}, "sk": {"S": "s"}}
    assert responses.values_blob(item, schemas["tSS"], lists) == b"\x41\x01"


def test_a_cached_item(schemas, lists):
    item = {"pk": {"S": "k"}, "v": n(7)}
    assert responses.get_item(item, schemas["tS"], lists).hex() == "80bf00420307ff"
    assert responses.get_item(None, schemas["tS"], lists).hex() == "80f6"


def test_a_path_that_leads_nowhere_is_left_out():
    item = {"a": {"L": [n(1)]}, "b": {"S": "x"}}
    paths = [("a", 0), ("a", 1), ("a", "x"), ("b", 0), ("b", "c"), ("nope",)]
    assert responses.projection_map(item, paths).hex() == "a10001"


def test_count_only(schemas):
    decoded = Decoded("Query", {"Select": "COUNT"}, (Target("tS", schemas["tS"]),))
    encoded = responses.encode(decoded, {"Count": 3, "ScannedCount": 5}, AttributeLists())
    assert encoded.hex() == "80bf08030a05ff"
