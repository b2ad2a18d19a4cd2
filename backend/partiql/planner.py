"""How a statement reaches its items: by primary key, by partitions of a table or index, or by a scan.

Rules:

* only conditions that hold on their own narrow a read: the conjuncts of WHERE, or every branch of an OR at
  its top. `pk = v` names one partition, `pk IN [...]` several, an OR whose branches all name one, several;
* beside `pk = v` or `pk IN`, one condition on the sort key bounds the range; the rest of WHERE filters;
* a write names its item by equality on every key attribute; whatever else WHERE says is its condition;
* ORDER BY orders partitions by the partition key and their items by the sort key, nothing else.

Sources: "PartiQL select statements for DynamoDB" of the developer guide; the exact messages recorded on the
live service by the public Parity Suite (tier 3, partiql and partiqlGrammar).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cmp_to_key

from backend.errors import validation_error
from backend.expressions.key_conditions import KeyTest, from_tests
from backend.model import values
from backend.model.keys import KeyAttribute, KeySchema
from backend.partiql import ast
from backend.partiql.translate import too_many_candidates
from backend.partiql.values import is_constant, value_of
from backend.protocol import AttributeValue

_MIRRORED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_MAX_PARTITIONS = 50
"""`pk IN [...]` takes so many values at most."""

KeyRange = tuple[bytes, bytes | None]
"""The first storage key of a range, and the one it ends before; None: no end."""


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """What a SELECT reads.

    `partitions` are partition key values, or None for a scan. `sort` bounds the range in each; `filter` is
    what every item must satisfy, bounds included. `keyed` tells a read whose WHERE names its partitions
    outside of an OR.
    """

    partitions: tuple[AttributeValue, ...] | None
    sort: KeyTest | None
    filter: tuple[ast.Expression, ...]
    forward: bool = True
    keyed: bool = False


def read_plan(select: ast.Select, schema: KeySchema, parameters: Sequence[AttributeValue]) -> ReadPlan:
    """The plan of a SELECT on a table or index with that key. Raises `ValidationException`."""
    plan = _unordered(select.where, schema, parameters)
    return _ordered(plan, select, schema) if select.order_by else plan


def _unordered(
    where: ast.Expression | None, schema: KeySchema, parameters: Sequence[AttributeValue]
) -> ReadPlan:
    if where is None:
        return ReadPlan(None, None, ())
    parts = list(conjuncts(where))
    for number, part in enumerate(parts):
        partitions = _partitions_of(part, schema.partition, parameters)
        if partitions is not None:
            rest = parts[:number] + parts[number + 1 :]
            tests = (sort_test(one, schema.sort, parameters) for one in rest)
            return ReadPlan(partitions, next(filter(None, tests), None), tuple(rest), keyed=True)
    if isinstance(where, ast.Or):
        branches = [_branch_partition(branch, schema, parameters) for branch in where.operands]
        named = [partition for partition in branches if partition is not None]
        if len(named) == len(branches):
            _refuse_overlap(where, named, schema, parameters)
            return ReadPlan(_distinct(named), None, (where,))
    return ReadPlan(None, None, (where,))


def primary_key(
    where: ast.Expression | None, schema: KeySchema, parameters: Sequence[AttributeValue]
) -> tuple[dict[str, AttributeValue], tuple[ast.Expression, ...]] | None:
    """The one item that WHERE names and what else it says; None when it does not name every key attribute."""
    key: dict[str, AttributeValue] = {}
    rest: list[ast.Expression] = []
    for part in conjuncts(where) if where is not None else ():
        found = equality(part, parameters)
        if found is not None and found[0] in schema.names and key.get(found[0], found[1]) == found[1]:
            key[found[0]] = found[1]
        else:
            rest.append(part)
    return (key, tuple(rest)) if len(key) == len(schema.names) else None


def target_of_write(
    where: ast.Expression | None, schema: KeySchema, parameters: Sequence[AttributeValue]
) -> tuple[dict[str, AttributeValue], tuple[ast.Expression, ...]]:
    """The key and the condition of an UPDATE or DELETE. Raises `ValidationException`."""
    found = primary_key(where, schema, parameters)
    if found is None:
        raise validation_error("Where clause does not contain a mandatory equality on all key attributes")
    return found


# Conditions


def conjuncts(condition: ast.Expression) -> Iterator[ast.Expression]:
    """The conditions that must all hold."""
    if isinstance(condition, ast.And):
        for operand in condition.operands:
            yield from conjuncts(operand)
    else:
        yield condition


def equality(
    condition: ast.Expression, parameters: Sequence[AttributeValue]
) -> tuple[str, AttributeValue] | None:
    """Attribute and value of `attribute = constant`, written either way round."""
    if isinstance(condition, ast.Comparison) and condition.operator == "=":
        for side, other in ((condition.left, condition.right), (condition.right, condition.left)):
            if isinstance(side, ast.Path) and side.is_attribute and is_constant(other):
                return side.attribute, value_of(other, parameters)
    return None


def attributes(expression: ast.Expression) -> Iterator[str]:
    """The top-level attributes that an expression names, in its order."""
    match expression:
        case ast.Path():
            yield expression.attribute
        case ast.Comparison() | ast.Arithmetic():
            yield from attributes(expression.left)
            yield from attributes(expression.right)
        case ast.Between():
            for operand in (expression.operand, expression.lower, expression.upper):
                yield from attributes(operand)
        case ast.In():
            for operand in (expression.operand, *expression.candidates):
                yield from attributes(operand)
        case ast.IsType() | ast.Not():
            yield from attributes(expression.operand)
        case ast.And() | ast.Or():
            for operand in expression.operands:
                yield from attributes(operand)
        case ast.Call():
            for argument in expression.arguments:
                yield from attributes(argument)
        case _:
            return


def _partitions_of(
    condition: ast.Expression, attribute: KeyAttribute, parameters: Sequence[AttributeValue]
) -> tuple[AttributeValue, ...] | None:
    """The values that a condition restricts the partition key to, if it is an equality or an IN on it."""
    found = equality(condition, parameters)
    if found is not None:
        return (found[1],) if found[0] == attribute.name else None
    if (
        isinstance(condition, ast.In)
        and condition.candidates
        and _is_attribute(condition.operand, attribute)
        and all(map(is_constant, condition.candidates))
    ):
        if len(condition.candidates) > _MAX_PARTITIONS:
            raise too_many_candidates(len(condition.candidates))
        return _distinct([value_of(candidate, parameters) for candidate in condition.candidates])
    return None


def _branch_partition(
    branch: ast.Expression, schema: KeySchema, parameters: Sequence[AttributeValue]
) -> AttributeValue | None:
    for part in conjuncts(branch):
        found = equality(part, parameters)
        if found is not None and found[0] == schema.partition.name:
            return found[1]
    return None


def sort_test(
    condition: ast.Expression, sort: KeyAttribute | None, parameters: Sequence[AttributeValue]
) -> KeyTest | None:
    """The range of the sort key that a condition asks for, where a range can express it."""
    operator: str
    operands: tuple[ast.Expression, ...]
    match condition:
        case ast.Comparison() if condition.operator in _MIRRORED:
            operator, operands = condition.operator, (condition.left, condition.right)
            if is_constant(condition.left):
                operator, operands = _MIRRORED[operator], operands[::-1]
        case ast.Between():
            operator, operands = "BETWEEN", (condition.operand, condition.lower, condition.upper)
        case ast.Call(name="begins_with") if len(condition.arguments) == 2:
            operator, operands = "begins_with", condition.arguments
        case _:
            return None
    if sort is None or not _is_attribute(operands[0], sort) or not all(map(is_constant, operands[1:])):
        return None
    constants = tuple(value_of(operand, parameters) for operand in operands[1:])
    fits = all(constant.get(sort.type) for constant in constants)
    return KeyTest(operator, constants) if fits and (operator, sort.type) != ("begins_with", "N") else None


def key_range(schema: KeySchema, partition: AttributeValue, sort: KeyTest | None) -> KeyRange:
    """The range of one partition. Raises `ValidationException` for a value that is not of the key's type."""
    tests = {schema.partition.name: KeyTest("=", (partition,))}
    if sort is not None and schema.sort is not None:
        tests[schema.sort.name] = sort
    bound = from_tests(tests).bind(schema)
    return bound.start, bound.stop


def _is_attribute(term: ast.Expression, attribute: KeyAttribute) -> bool:
    return isinstance(term, ast.Path) and term.parts == (attribute.name,)


def _distinct(found: Sequence[AttributeValue]) -> tuple[AttributeValue, ...]:
    distinct: list[AttributeValue] = []
    for value in found:
        if value not in distinct:
            distinct.append(value)
    return tuple(distinct)


# OR


def _refuse_overlap(
    where: ast.Or,
    partitions: Sequence[AttributeValue],
    schema: KeySchema,
    parameters: Sequence[AttributeValue],
) -> None:
    """Refuse two branches on one partition whose ranges overlap, if one of them bounds the sort key.

    A branch that says about the sort key what no range can express, such as its negation, is never refused.
    """
    if schema.sort is None:
        return
    ranges: list[tuple[KeyTest | None, KeyRange]] = []
    for partition, branch in zip(partitions, where.operands, strict=True):
        tests = [(one, sort_test(one, schema.sort, parameters)) for one in conjuncts(branch)]
        if not any(test is None and schema.sort.name in attributes(one) for one, test in tests):
            bound = next((test for _, test in tests if test is not None), None)
            ranges.append((bound, key_range(schema, partition, bound)))
    for number, (bound, (start, stop)) in enumerate(ranges):
        for other_bound, (other_start, other_stop) in ranges[number + 1 :]:
            apart = (stop is not None and stop <= other_start) or (
                other_stop is not None and other_stop <= start
            )
            if not apart and (bound is not None or other_bound is not None):
                raise validation_error(
                    "Overlapping conditions with range keys are not supported in where clause"
                )


# ORDER BY


def _ordered(plan: ReadPlan, select: ast.Select, schema: KeySchema) -> ReadPlan:
    if select.where is None:
        raise validation_error("Must have WHERE clause in the statement when using ORDER BY clause.")
    if plan.partitions is None:
        raise validation_error(
            "Must have at least one non-optional hash key condition in WHERE clause "
            "when using ORDER BY clause."
        )
    for ordering in select.order_by:
        name = ordering.path.attribute
        if not ordering.path.is_attribute or name not in schema.names:
            raise validation_error(
                f"Variable reference {name} in ORDER BY clause must be part of the primary key"
            )
    descending = {ordering.path.attribute: ordering.descending for ordering in select.order_by}
    by_partition = schema.partition.name
    if len(plan.partitions) > 1 and select.order_by[0].path.attribute != by_partition:
        raise validation_error(
            "Must have hash key in ORDER BY clause when more than one hash key condition "
            "specified in WHERE clause."
        )
    partitions = sorted(
        plan.partitions, key=cmp_to_key(_compare), reverse=descending.get(by_partition, False)
    )
    forward = schema.sort is None or not descending.get(schema.sort.name, False)
    return ReadPlan(tuple(partitions), plan.sort, plan.filter, forward, plan.keyed)


def _compare(left: AttributeValue, right: AttributeValue) -> int:
    return values.compare(left, right) or 0
