"""Numbers: decimals of 38 digits, read in many spellings, written in one, summed exactly, in order."""

from __future__ import annotations

from decimal import Context, Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

INVALID = "ValidationException"
KEY = {"pk": {"S": "a"}}
TOO_PRECISE = "Attempting to store more than 38 significant digits in a Number"
OVERFLOW = "Number overflow. Attempting to store a number with magnitude larger than supported range"
UNDERFLOW = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
NINES = "9" * 38
EXACT = Context(prec=600)

Call = tuple[str, dict[str, Any]]

few_examples = settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])


def calls_with(table: str, number: Any) -> dict[str, Call]:
    """A request for each place where a number may stand."""
    keyed = {"TableName": table, "Key": KEY}

    def put(value: Any) -> Call:
        return "PutItem", {"TableName": table, "Item": {**KEY, "x": value}}

    def transact(action: str, **request: Any) -> Call:
        return "TransactWriteItems", {"TransactItems": [{action: {"TableName": table, **request}}]}

    written = {"PutRequest": {"Item": {**KEY, "x": {"N": number}}}}
    legacy = {"x": {"Action": "ADD", "Value": {"N": number}}}
    compared = {"x": {"ComparisonOperator": "LT", "AttributeValueList": [{"N": number}]}}
    return {
        "an item": put({"N": number}),
        "a set": put({"NS": ["1", number]}),
        "a list": put({"L": [{"N": number}]}),
        "a map": put({"M": {"a": {"N": number}}}),
        "a batch": ("BatchWriteItem", {"RequestItems": {table: [written]}}),
        "a transaction": transact("Put", Item={**KEY, "x": {"N": number}}),
        "a legacy update": ("UpdateItem", {**keyed, "AttributeUpdates": legacy}),
        "an expected value": ("DeleteItem", {**keyed, "Expected": {"x": {"Value": {"N": number}}}}),
        "a filter": ("Scan", {"TableName": table, "ScanFilter": compared}),
        "a key": ("GetItem", {"TableName": table, "Key": {"pk": {"N": number}}}),
        "a key in a batch": ("BatchGetItem", {"RequestItems": {table: {"Keys": [{"pk": {"N": number}}]}}}),
        "a key in a transaction": transact("Delete", Key={"pk": {"N": number}}),
    }


def expressions_with(table: str, number: Any) -> dict[str, Call]:
    """The same, for the values of expressions."""
    value = {"ExpressionAttributeValues": {":x": {"N": number}}}
    update = {"TableName": table, "Key": KEY, **value}
    return {
        "an update": ("UpdateItem", {**update, "UpdateExpression": "SET x = :x"}),
        "an addition": ("UpdateItem", {**update, "UpdateExpression": "ADD x :x"}),
        "a condition": ("DeleteItem", {**update, "ConditionExpression": "x = :x"}),
        "a filter": ("Scan", {"TableName": table, "FilterExpression": "x = :x", **value}),
        "a key": ("Query", {"TableName": table, "KeyConditionExpression": "pk = :x", **value}),
    }


def check_refused(dynamodb: Any, table: str, numbers: dict[str, str]) -> None:
    """Each number is refused with its message, the first of them in every place; nothing is written."""
    for number, message in numbers.items():
        refused = dynamodb.refusal("PutItem", TableName=table, Item={**KEY, "x": {"N": number}})
        assert refused == (INVALID, message), number
    number, message = next(iter(numbers.items()))
    for place, (operation, request) in calls_with(table, number).items():
        assert dynamodb.refusal(operation, **request) == (INVALID, message), place
    for place, (operation, request) in expressions_with(table, number).items():
        told = f"ExpressionAttributeValues contains invalid value: {message} for key :x"
        assert dynamodb.refusal(operation, **request) == (INVALID, told), place
    assert dynamodb.items(table) == []


def kept(dynamodb: Any, table: str, *numbers: str) -> list[str]:
    """The numbers as they come back."""
    names = [f"n{at}" for at in range(len(numbers))]
    dynamodb.put(table, {**KEY, **{name: {"N": number} for name, number in zip(names, numbers, strict=True)}})
    found = dynamodb.get(table, **KEY)
    return [found[name]["N"] for name in names]


# Limits


def test_a_number_has_38_significant_digits(dynamodb: Any, table: str) -> None:
    digits = "12345678901234567890123456789012345678"
    spellings = {
        digits: digits,
        f"-{digits}": f"-{digits}",
        f"0.{digits}": f"0.{digits}",
        f"000{digits}.000": digits,
        f"{digits}e50": digits + "0" * 50,
        f"00{digits}0000": digits + "0000",
        f"0.000{digits}0": f"0.000{digits}",
    }
    assert kept(dynamodb, table, *spellings) == list(spellings.values())
    dynamodb("DeleteItem", TableName=table, Key=KEY)
    longer = [f"{digits}9", f"-1.{digits}", f"{digits}.5", f"0.{digits}1", f"1{'0' * 37}1", f"{digits}1e-100"]
    check_refused(dynamodb, table, dict.fromkeys(longer, TOO_PRECISE))


def test_the_magnitude_of_a_number_is_limited(dynamodb: Any, table: str) -> None:
    bounds = [f"{NINES[0]}.{NINES[1:]}e125", "1e125", "1e-130", "1.5e-130"]
    plain = [NINES + "0" * 88, "1" + "0" * 125, f"0.{'0' * 129}1", f"0.{'0' * 129}15"]
    assert kept(dynamodb, table, *bounds) == plain
    assert kept(dynamodb, table, *(f"-{number}" for number in bounds)) == [f"-{number}" for number in plain]
    dynamodb("DeleteItem", TableName=table, Key=KEY)
    large = ["1e126", "-1e126", "10e125", "1" + "0" * 126, "1e1000", f"1e{2**63 - 1}"]
    check_refused(dynamodb, table, dict.fromkeys(large, OVERFLOW))
    small = ["1e-131", "-1e-131", "9.9e-131", f"0.{'0' * 130}1", "1e-1000", f"1e-{2**63}"]
    check_refused(dynamodb, table, dict.fromkeys(small, UNDERFLOW))


def test_a_zero_is_in_range_by_the_exponent_it_is_written_with(dynamodb: Any, table: str) -> None:
    assert kept(dynamodb, table, "0e125", "0e-130") == ["0", "0"]
    dynamodb("DeleteItem", TableName=table, Key=KEY)
    check_refused(dynamodb, table, {"0e126": OVERFLOW, "-0e126": OVERFLOW})
    check_refused(dynamodb, table, {"0e-131": UNDERFLOW})


def test_an_exponent_is_an_integer_of_64_bits(dynamodb: Any, table: str) -> None:
    texts = [f"1e{2**63}", f"-1e-{2**63 + 1}", f"0e{2**64}"]
    told = "The parameter cannot be converted to a numeric value"
    check_refused(dynamodb, table, {text: f"{told}: {text}" for text in texts})


# Spellings


def test_a_number_is_read_in_many_spellings_and_written_in_one(dynamodb: Any, table: str) -> None:
    spellings = {
        "3": ["3", "+3", "03", "3.0", "3.", "0.3e1", "30E-1", "300e-2", "3e0", "3e+0", "3e-0"],
        "0": ["0", "-0", "+0", "000", "0.000", ".0", "0e100", "0e-100", "-0.0e5"],
        "0.123": [".123", "+.123", "0.1230", "123e-3", "00.123"],
        "-15789000": ["-0015.789e6", "-15789000", "-15789e3"],
        "100000": ["1e5", "1E5", "1e+5", "1e05", "100000.0"],
        "1.23": ["0001.23", "1.2300"],
        "-0.5": ["-.5", "-5e-1"],
        "1" + "0" * 125: ["1e125"],
        f"0.{'0' * 129}1": ["1e-130"],
    }
    for plain, numbers in spellings.items():
        assert kept(dynamodb, table, *numbers) == [plain] * len(numbers)
    dynamodb.put(table, {**KEY, "x": {"NS": ["+1", "2e1", ".50"]}})
    assert set(dynamodb.get(table, **KEY)["x"]["NS"]) == {"1", "20", "0.5"}


def test_what_is_no_number_is_refused_and_quoted(dynamodb: Any, table: str) -> None:
    texts = [
        "NaN", "Infinity", "-Infinity", "inf", " 1", "1 ", "1 2", "\t1", "1\n", "one", "1a", "0x10", "1_000",
        "1,5", "1.2.3", "--1", "+-1", "1-", ".", "+", "-", "e5", ".e5", "1e", "1e+", "1e1.5", "１", "½",
    ]  # fmt: skip
    told = "The parameter cannot be converted to a numeric value"
    check_refused(dynamodb, table, {text: f"{told}: {text}" for text in texts})


def test_no_text_is_no_number_and_not_quoted(dynamodb: Any, table: str) -> None:
    check_refused(dynamodb, table, {"": "The parameter cannot be converted to a numeric value"})


@pytest.mark.parametrize("number", [1, 0, -1, 1.5, 1e300, True, None])
def test_a_number_is_a_string_of_json(dynamodb: Any, table: str, number: Any) -> None:
    for place, (operation, request) in (calls_with(table, number) | expressions_with(table, number)).items():
        code, message = dynamodb.refusal(operation, **request)
        if number is None:
            assert code == INVALID, place
        else:
            token = {bool: "TRUE", int: "NUMBER", float: "DECIMAL"}[type(number)]
            told = f"{token}_VALUE cannot be converted to String"
            assert (code, message) == ("SerializationException", told), place
    assert dynamodb.items(table) == []


# Arithmetic


@st.composite
def decimals(draw: st.DrawFn) -> Decimal:
    """Any number there is: up to 38 digits, somewhere between 1E-130 and 9.99E+125."""
    digits = draw(st.integers(1, 10**38 - 1))
    highest = draw(st.integers(-130, 125) | st.integers(-20, 40))
    sign = draw(st.sampled_from([1, -1]))
    return EXACT.scaleb(Decimal(sign * digits), highest - len(str(digits)) + 1)


def text(number: Decimal) -> str:
    """As DynamoDB writes it."""
    plain = f"{number:f}"
    plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
    return "0" if plain in ("-0", "") else plain


def fits(number: Decimal) -> bool:
    digits = number.normalize(EXACT).as_tuple().digits
    return not number or (len(digits) <= 38 and -130 <= number.adjusted() <= 125)


@few_examples
@given(st.lists(decimals(), min_size=1, max_size=20))
def test_every_number_comes_back_exactly(dynamodb: Any, table: str, numbers: list[Decimal]) -> None:
    assert kept(dynamodb, table, *map(str, numbers)) == list(map(text, numbers))


@few_examples
@given(st.lists(st.tuples(decimals(), decimals()), min_size=1, max_size=20))
def test_sums_and_differences_are_exact(
    dynamodb: Any, table: str, pairs: list[tuple[Decimal, Decimal]]
) -> None:
    exact = [(a, b) for a, b in pairs if fits(EXACT.add(a, b)) and fits(EXACT.subtract(a, b))]
    assume(exact)
    attributes, actions = dict(KEY), []
    for n, (a, b) in enumerate(exact):
        attributes |= {f"a{n}": {"N": text(a)}, f"b{n}": {"N": text(b)}, f"c{n}": {"N": text(a)}}
        actions.append(f"plus{n} = a{n} + b{n}, minus{n} = a{n} - b{n}")
    dynamodb.put(table, attributes)
    dynamodb("UpdateItem", TableName=table, Key=KEY, UpdateExpression=f"SET {', '.join(actions)}")
    legacy = {f"c{n}": {"Action": "ADD", "Value": {"N": text(b)}} for n, (_, b) in enumerate(exact)}
    dynamodb("UpdateItem", TableName=table, Key=KEY, AttributeUpdates=legacy)
    found = dynamodb.get(table, **KEY)
    for n, (a, b) in enumerate(exact):
        assert found[f"plus{n}"]["N"] == found[f"c{n}"]["N"] == text(EXACT.add(a, b))
        assert found[f"minus{n}"]["N"] == text(EXACT.subtract(a, b))


@pytest.mark.parametrize(
    ("start", "number", "message"),
    [
        ("1e50", "1", OVERFLOW),
        ("1", "1e-38", OVERFLOW),
        (NINES, "0.1", OVERFLOW),
        (f"{NINES}e88", f"{NINES}e88", OVERFLOW),
        ("1.1e-130", "-1e-130", UNDERFLOW),
    ],
)
def test_a_result_that_is_no_number_is_refused_and_never_rounded(
    dynamodb: Any, table: str, start: str, number: str, message: str
) -> None:
    before = {**KEY, "x": {"N": text(Decimal(start))}}
    dynamodb.put(table, before)
    keyed = {"TableName": table, "Key": KEY}
    negative = number[1:] if number[0] == "-" else f"-{number}"
    for expression, operand in [
        ("SET x = x + :n", number),
        ("SET x = :n + x", number),
        ("SET x = x - :n", negative),
        ("ADD x :n", number),
    ]:
        update = {"UpdateExpression": expression, "ExpressionAttributeValues": {":n": {"N": operand}}}
        assert dynamodb.refusal("UpdateItem", **keyed, **update) == (INVALID, message), expression
        cancelled = dynamodb.answer(
            "TransactWriteItems", TransactItems=[{"Update": {**keyed, **update}}]
        ).json
        assert cancelled["CancellationReasons"] == [{"Code": "ValidationError", "Message": message}]
    legacy = {"x": {"Action": "ADD", "Value": {"N": number}}}
    assert dynamodb.refusal("UpdateItem", **keyed, AttributeUpdates=legacy) == (INVALID, message)
    assert dynamodb.get(table, **KEY) == before


# Order


def test_a_number_is_one_key_in_all_its_spellings(dynamodb: Any) -> None:
    table = dynamodb.create("pk:N", "sk:N")
    for spelling in ("1", "1.0", "1e0", "+1", "0.1e1", "01"):
        key = {"pk": {"N": spelling}, "sk": {"N": spelling}}
        dynamodb.put(table, {**key, "x": {"S": spelling}})
        dynamodb(
            "BatchWriteItem", RequestItems={table: [{"PutRequest": {"Item": {**key, "x": {"S": spelling}}}}]}
        )
        whole = {"pk": {"N": "1"}, "sk": {"N": "1"}, "x": {"S": spelling}}
        assert dynamodb.items(table) == [whole]
        assert dynamodb.get(table, pk={"N": "1.00"}, sk={"N": "10e-1"}) == whole
        condition = {
            "KeyConditionExpression": "pk = :n AND sk = :n",
            "ExpressionAttributeValues": {":n": {"N": spelling}},
            "ConsistentRead": True,
        }
        assert dynamodb("Query", TableName=table, **condition)["Items"] == [whole]
    twice = [{"pk": {"N": one}, "sk": {"N": "1"}} for one in ("1", "1.0")]
    refused = dynamodb.invalid("BatchGetItem", RequestItems={table: {"Keys": twice}})
    assert refused == "Provided list of item keys contains duplicates"
    dynamodb("DeleteItem", TableName=table, Key={"pk": {"N": "1e0"}, "sk": {"N": "1.0"}})
    assert dynamodb.items(table) == []


@few_examples
@given(
    st.lists(decimals() | st.integers(-20, 20).map(Decimal), min_size=2, max_size=15, unique=True),
    st.uuids(),
)
def test_sort_keys_are_ordered_by_value(
    dynamodb: Any, sorted_table: str, numbers: list[Decimal], partition: Any
) -> None:
    key = {"S": str(partition)}
    writes = [{"PutRequest": {"Item": {"pk": key, "sk": {"N": str(number)}}}} for number in numbers]
    dynamodb("BatchWriteItem", RequestItems={sorted_table: writes})

    def query(condition: str = "", *, forward: bool = True, **values: Decimal) -> list[str]:
        found = dynamodb(
            "Query",
            TableName=sorted_table,
            KeyConditionExpression=f"pk = :pk{condition}",
            ExpressionAttributeValues={":pk": key, **{f":{k}": {"N": str(v)} for k, v in values.items()}},
            ScanIndexForward=forward,
            ConsistentRead=True,
        )
        return [item["sk"]["N"] for item in found["Items"]]

    ordered = sorted(numbers)
    low, high = sorted(numbers[:2])
    assert query() == list(map(text, ordered))
    assert query(forward=False) == list(map(text, reversed(ordered)))
    assert query(" AND sk < :a", a=high) == [text(n) for n in ordered if n < high]
    assert query(" AND sk >= :a", a=low) == [text(n) for n in ordered if n >= low]
    between = query(" AND sk BETWEEN :a AND :b", a=low, b=high)
    assert between == [text(n) for n in ordered if low <= n <= high]


@few_examples
@given(decimals(), decimals())
def test_attributes_compare_by_value(dynamodb: Any, table: str, left: Decimal, right: Decimal) -> None:
    dynamodb.put(table, {**KEY, "x": {"N": str(left)}})
    for operator, holds in [("<", left < right), ("=", left == right), (">", left > right)]:
        found = dynamodb(
            "Scan",
            TableName=table,
            FilterExpression=f"x {operator} :x",
            ExpressionAttributeValues={":x": {"N": str(right)}},
            ConsistentRead=True,
        )
        assert found["Count"] == holds, operator
