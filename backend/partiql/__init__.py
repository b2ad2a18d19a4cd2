"""PartiQL for DynamoDB: statements are parsed, bound to a table's keys, and run by the engine's operations.

`parser.parse(text)` gives a statement of `ast`; the planner turns it into reads and writes on the operation
model's shapes. There is no second evaluator: conditions and updates become expressions of
`backend.expressions`.
"""
